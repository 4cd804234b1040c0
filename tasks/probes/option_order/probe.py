"""option_order: does the model still choose the same option when the options change places?"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import Field, FiniteFloat

from contrapose.tasks.core.records import Case, FollowUp, Likelihoods, Score, TextSample, Trial
from contrapose.tasks.probes.base import (
    Column,
    Criterion,
    Embed,
    Measure,
    control_of,
    right_rate,
    spaced,
)
from contrapose.tasks.probes.in_words import COLUMNS as IN_WORDS
from contrapose.tasks.probes.known_errors import OF_OPTIONS, Measured
from contrapose.tasks.probes.option_order.figures import EXPLANATIONS, Rotations, figures, followed, measures
from contrapose.tasks.probes.option_order.score import follow_ups, rotated, score_trial
from contrapose.tasks.probes.panels import Picture
from contrapose.tasks.probes.prompt_settings import RewordedSettings, TextPrompts, prompts_for
from contrapose.tasks.probes.read_with import by_likelihood
from contrapose.tasks.probes.reading_checks import COLUMNS as CHECKED
from contrapose.tasks.probes.values import all_or_nothing, numbers

OTHER_WORDS = ("The answer:", "Your answer:", "The answer is:")
"""What may stand for "Answer:" and means the same: the controls."""


class OptionOrderSettings(RewordedSettings):
    """Settings of `option_order`: its prompt, how a choice is read, and those that every probe has."""

    of_scoring: ClassVar[frozenset[str]] = RewordedSettings.of_scoring | {"min_right_rate"}

    needed: ClassVar[tuple[str, ...]] = ("text", "options")

    min_right_rate: FiniteFloat | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of the pairs of orders that must keep to the right option, where it is known; empty: a "
        "tenth of the way from what guessing reaches, 1 of the options, to 1.",
    )


class OptionOrder:
    """Ask a multiple-choice question in every cyclic order of its options.

    Over all these orders each option stands once behind each letter, so that a model that follows the
    content chooses every letter equally often.
    """

    name: ClassVar[str] = "option_order"
    category: ClassVar[str] = "factuality"
    version: ClassVar[str] = "6"
    summary: ClassVar[str] = "Moves the options of a question: the choice must follow the option, not the letter."
    sample_type: ClassVar[type[TextSample]] = TextSample
    settings_type: ClassVar[type[OptionOrderSettings]] = OptionOrderSettings
    bundled_data: ClassVar[str] = "negation"
    columns: ClassVar[Mapping[str, Column]] = {
        "rotation": Column("int", "Places by which the options were moved to the left.", "1"),
        "option_count": Column("int", "Options to choose from.", "1"),
        "choice": Column("string", "Option that was chosen in the given order.", holds_text=True),
        "rotated_choice": Column("string", "Option that was chosen in the rotated order.", holds_text=True),
        "choice_step": Column("string", "Which step read the choice in the given order."),
        "rotated_choice_step": Column("string", "Which step read the choice in the rotated order."),
        "letter": Column("string", "Letter that was chosen in the given order."),
        "rotated_letter": Column("string", "Letter that was chosen in the rotated order."),
        "outcome": Column("string", "What the two choices followed: text, letter, other, tied, or unparsed."),
        "correct": Column("bool", "Whether the choice in the given order was right."),
        "rotated_correct": Column("bool", "Whether the choice in the rotated order was right."),
        **IN_WORDS,
        **CHECKED,
    }
    default_gate: ClassVar[float] = 0.7
    gate_basis: ClassVar[str] = ""
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    without_choice: ClassVar[tuple[str, ...]] = ("outcome_unparsed", "outcome_tied")
    reader_errors: ClassVar[Sequence[Measured]] = OF_OPTIONS
    controlled: ClassVar[bool] = False
    rests_on: ClassVar[tuple[str, ...]] = ()
    by_default: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {
        "no_options": "without two answer options",
        "empty": "with a blank text or option",
        "equal_options": "with two equal options",
    }

    def cases(
        self, sample: TextSample, settings: OptionOrderSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """The given order against each of its rotations, 1 to N - 1 places to the left. Nothing is random.

        Raises:
            ConfigError: `read_with: likelihood`, and the model gives none; or a prompt of one's own does not fit.
        """
        skipped = _skip_reason(sample)
        likely = by_likelihood(settings, likelihoods, where=f"tests.{self.category}.{self.name}")
        prompts = prompts_for(sample, settings, where=f"tests.{self.category}.{self.name}")
        base = Case(
            id=f"{self.name}/{sample.id}",
            sample_id=sample.id,
            probe=self.name,
            version=self.version,
            original=_shown(sample.text, prompts),
            perturbed=None,
            original_prompt=prompts.pair(sample.text, None)[0],
            perturbed_prompt=None,
            scorer="likelihood" if likely else "label" if settings.labels_are_own else "reply",
            asks="choose" if likely else "generate",
            labels=prompts.labels,
            options=sample.options,
            context=sample.context,
            answers=sample.answers,
            skip_reason=skipped,
            chance=1 / len(sample.options) if sample.options else None,
            slice=sample.slice,
            cluster=sample.cluster,
        )
        return [base] if skipped else [_rotation(base, sample.text, prompts, by) for by in range(1, len(base.options))]

    def control(
        self, case: Case, sample: TextSample, settings: OptionOrderSettings, *, rng: random.Random
    ) -> Case | None:
        """The same order, asked in other words; none where a prompt of one's own has no other words."""
        ask = rng.choice(OTHER_WORDS)
        prompts = prompts_for(sample, settings, where=f"tests.{self.category}.{self.name}")
        if settings.reworded is not None:
            prompts = prompts._replace(template=settings.reworded)
        prompt = prompts.of(sample.text, ask=ask)
        if prompt == case.original_prompt:
            return None
        details = {**case.details, "rotation": "0"}
        return control_of(
            replace(case, original=case.original_prompt), perturbed=prompt, prompt=prompt, details=details
        )

    def score(self, trials: Sequence[Trial], settings: OptionOrderSettings, *, embed: Embed) -> list[Score]:
        """1.0 and a pass when the same option was chosen in both orders, else 0.0."""
        own = settings.own_labels
        return [score_trial(trial, own) for trial in trials]

    def follow_ups(self, trials: Sequence[Trial], settings: OptionOrderSettings, *, embed: Embed) -> Sequence[FollowUp]:
        """Questions about the replies that name no one option, and about those that rules read."""
        return [] if settings.labels_are_own else follow_ups(trials)

    def failure(self, row: Mapping[str, Any]) -> str:
        """What the two choices followed; empty where one of them is missing."""
        before, after = row.get("letter"), row.get("rotated_letter")
        return {
            "letter": f"It picked {before} both times, though another option stood there: position, not content.",
            "other": f"It picked {before}, then {after}, another option: the order changed its mind.",
        }.get(str(row.get("outcome")), "")

    def expected_pass(self, part: pa.Table, settings: OptionOrderSettings) -> np.ndarray:
        """Whether the score is 1."""
        return all_or_nothing(part)

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Who follows the option; accuracy over all orders; how even the letters are."""
        return figures(results)

    def picture(self) -> Picture:
        """What the choices followed."""
        return Rotations()

    def criteria(self, results: pd.DataFrame, settings: OptionOrderSettings) -> Sequence[Criterion]:
        """The right option in both orders, where it is known: whoever keeps to a wrong one is steady, too."""
        return right_rate(results, followed(results), numbers(results["correct"]), wanted=settings.min_right_rate)

    def measures(self, results: pd.DataFrame) -> Sequence[Measure]:
        """How often the letter decided, and how often another option was chosen."""
        return measures(results)


def _rotation(base: Case, text: str, prompts: TextPrompts, by: int) -> Case:
    moved = prompts.with_options(rotated(base.options, by))
    return replace(
        base,
        id=f"{base.id}/{by}",
        perturbed=_shown(text, moved),
        perturbed_prompt=moved.of(text),
        confidence="high",
        details={**base.details, "rotation": str(by)},
    )


def _shown(text: str, prompts: TextPrompts) -> str:
    return f"{text}\n{prompts.options}" if prompts.options else text


def _skip_reason(sample: TextSample) -> str | None:
    if len(sample.options) < 2:
        return "no_options"
    texts = [spaced(option) for option in sample.options]
    if not sample.text.strip() or not all(texts):
        return "empty"
    return "equal_options" if len(set(texts)) < len(texts) else None
