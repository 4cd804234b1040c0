"""Two texts, one better than the other, in both orders: the machine of order_bias and of judge_order."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from contrapose.tasks.core.records import Case, FollowUp, Likelihoods, Score, Trial
from contrapose.tasks.probes.base import Column, Criterion, Embed, Measure, Value, control_of, letters, spaced
from contrapose.tasks.probes.in_words import COLUMNS as IN_WORDS
from contrapose.tasks.probes.known_errors import OF_TWO, Measured
from contrapose.tasks.probes.order_bias.figures import EXPLANATIONS, Positions, calibrates, figures, measures
from contrapose.tasks.probes.order_bias.score import (
    Read,
    control_scored,
    follow_ups,
    likelier,
    outcome_of,
    read_labels,
    read_replies,
    scored,
)
from contrapose.tasks.probes.order_bias.settings import TwoOrdersSettings
from contrapose.tasks.probes.own_prompt import rendered
from contrapose.tasks.probes.panels import Picture
from contrapose.tasks.probes.read_with import by_likelihood
from contrapose.tasks.probes.reading_checks import COLUMNS as CHECKED
from contrapose.tasks.probes.templates import default_prompt
from contrapose.tasks.probes.values import all_or_nothing

CHOICES: Mapping[str, Column] = {
    "result": Column("string", "Choice in the unchanged order; empty where none could be read."),
    "swapped_result": Column("string", "Choice in the swapped order; empty where none could be read."),
    "outcome": Column("string", "Both choices, AB, AA, BB or BA, or why there are not two."),
    "result_step": Column("string", "Which step read the choice in the unchanged order."),
    "swapped_step": Column("string", "Which step read the choice in the swapped order."),
    "content_score": Column("float", "Pull of the content towards the right text, (m1 + m2) / 2.", "nat"),
    "position_score": Column("float", "Pull of the letter A, (m1 - m2) / 2.", "nat"),
    "debiased_choice_right": Column("bool", "Whether the content alone speaks for the right text."),
    "right_is_longer": Column("bool", "Whether the right text has more characters; empty where both have as many."),
    "calibrates": Column("bool", "Whether the pair's log-likelihoods tell the pull of the letters."),
    **IN_WORDS,
    **CHECKED,
}
"""Result columns of every test of two orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTexts:
    """What a sample gives to compare."""

    right: str
    """The text that should be chosen."""
    wrong: str
    """The other one."""
    values: Mapping[str, str]
    """What a prompt says of them, by the names of a template."""
    details: Mapping[str, str] = field(default_factory=dict)
    """What result rows repeat of the sample."""


class TwoOrders:
    """A probe that asks which of two texts is the right one, in both orders; a subclass says what they are."""

    name: ClassVar[str]
    category: ClassVar[str]
    version: ClassVar[str]
    summary: ClassVar[str]
    settings_type: ClassVar[type[TwoOrdersSettings]]
    default_gate: ClassVar[float] = 0.7
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    without_choice: ClassVar[tuple[str, ...]] = ("unparsed",)
    unpaired: ClassVar[tuple[str, ...]] = ("unparsed",)
    """Outcomes of the pairs without a choice in both orders; those in `without_choice` are open."""
    reader_errors: ClassVar[Sequence[Measured]] = OF_TWO
    controlled: ClassVar[bool] = False
    right_first: ClassVar[bool] = True
    """Whether the first of a case's options is the right one."""
    rests_on: ClassVar[tuple[str, ...]] = ()
    by_default: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {
        "empty": "with a blank text",
        "equal_sentences": "with two equal texts",
    }
    question: ClassVar[str]
    """What the prompt asks."""
    other_words: ClassVar[tuple[str, ...]]
    """Questions that mean the same: the controls."""
    meaning: ClassVar[Mapping[str, str]]
    """Of each outcome that is none of an open case, in a sentence."""
    sentences: ClassVar[Mapping[str, str]]
    """What a model does that has this outcome, to follow `always`; in the order of the grid."""

    def comparison(self, sample: Any) -> ComparedTexts:
        """What a sample gives to compare."""
        raise NotImplementedError

    def laid_out(self, text: str) -> str:
        """One of the two texts as it stands in a prompt of ours."""
        return text.strip()

    def outcome(self, trial: Trial, read: Read, settings: Any) -> str:
        """What the replies of a trial come to."""
        return outcome_of(read)

    def further(self, trial: Trial, read: Read, settings: Any) -> Mapping[str, Value]:
        """Columns of this test alone."""
        return {}

    def chance(self, settings: Any) -> float:
        """Probability that a guesser is right in one order."""
        return 1 / 2

    def cases(
        self, sample: Any, settings: TwoOrdersSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Make a prompt with the right text first, and one with it second. Nothing is drawn from `rng`.

        Raises:
            ConfigError: `read_with: likelihood`, and the model gives no log-likelihoods; or a template fails.
        """
        likely = by_likelihood(settings, likelihoods, where=f"tests.{self.category}.{self.name}")
        compared = self.comparison(sample)
        right, wrong = compared.right, compared.wrong
        skipped = _skip_reason(compared)
        case = Case(
            id=f"{self.name}/{sample.id}",
            sample_id=sample.id,
            probe=self.name,
            version=self.version,
            original=f"A: {right}\nB: {wrong}",
            perturbed=None if skipped else f"A: {wrong}\nB: {right}",
            original_prompt=self.prompt(settings, sample, compared, right, wrong),
            perturbed_prompt=None if skipped else self.prompt(settings, sample, compared, wrong, right),
            scorer="likelihood" if likely else "label" if settings.labels_are_own else "reply",
            asks="choose" if likely else "generate",
            labels=letters(2),
            options=(right, wrong),
            skip_reason=skipped,
            confidence=None if skipped else "high",
            chance=self.chance(settings) ** 2,
            slice=sample.slice,
            cluster=sample.cluster,
            details=compared.details,
        )
        return [case]

    def control(self, case: Case, sample: Any, settings: TwoOrdersSettings, *, rng: random.Random) -> Case | None:
        """The same order, asked in other words; none where a prompt of one's own has no other words."""
        question = rng.choice(self.other_words)
        if settings.reworded is not None:
            settings = settings.model_copy(update={"prompt": settings.reworded})
        prompt = self.prompt(settings, sample, self.comparison(sample), *case.options, question=question)
        if prompt == case.original_prompt:
            return None
        # What is shown is what differs: the question, or all of a prompt that has other words of its own.
        before, after = (f"{case.original}\n{asked}" for asked in (self.question, question))
        if settings.reworded is not None:
            before, after = case.original_prompt, prompt
        chance = self.chance(settings)
        return control_of(replace(case, original=before), perturbed=after, prompt=prompt, chance=chance)

    def prompt(
        self,
        settings: TwoOrdersSettings,
        sample: Any,
        compared: ComparedTexts,
        first: str,
        second: str,
        *,
        question: str | None = None,
    ) -> str:
        """The prompt with two texts in some order, by the suite's own template if it has one."""
        laid_out = self.laid_out if settings.prompt is None else str.strip
        values = {name: value.strip() for name, value in compared.values.items()}
        values |= {"first": laid_out(first), "second": laid_out(second), "question": question or self.question}
        if settings.prompt is None:
            return default_prompt(self.name).fill(values)
        where = f"tests.{self.category}.{self.name}.prompt, sample {sample.id}"
        return rendered(settings.prompt, values, where=where)

    def score(self, trials: Sequence[Trial], settings: TwoOrdersSettings, *, embed: Embed) -> list[Score]:
        """Pass a trial only when the answers are A, then B; pass a control when they are the same.

        The documents give two orders no numeric score: the value is 1.0 for a pass and 0.0 otherwise.
        """
        replies = [trial for trial in trials if trial.case.scorer == "reply"]
        read = iter(read_replies(replies, settings, embed=embed))
        return [
            self._scored(trial, next(read) if trial.case.scorer == "reply" else read_labels(trial, settings), settings)
            if trial.case.scorer in ("reply", "label")
            else self._by_likelihood(trial, settings)
            for trial in trials
        ]

    def _scored(self, trial: Trial, read: Read, settings: TwoOrdersSettings, calibrating: bool | None = None) -> Score:
        if trial.case.control:
            return control_scored(trial, read)
        return scored(
            trial,
            read,
            outcome=self.outcome(trial, read, settings),
            meaning=self.meaning,
            further=self.further(trial, read, settings),
            settings=settings,
            calibrates=calibrating,
        )

    def _by_likelihood(self, trial: Trial, settings: TwoOrdersSettings) -> Score:
        first, second = likelier(trial.expected), likelier(trial.actual)
        if first is None or second is None:
            reason = "The log-likelihoods of A and B are not both finite."
            return Score(value=None, passed=None, reason=reason, columns=dict(trial.case.details))
        return self._scored(
            trial, Read(first, second), settings, calibrates(trial.case.sample_id, settings.calibration)
        )

    def follow_ups(self, trials: Sequence[Trial], settings: TwoOrdersSettings, *, embed: Embed) -> Sequence[FollowUp]:
        """Questions about the replies that name neither text, and about those that rules read."""
        return follow_ups([trial for trial in trials if trial.case.scorer == "reply"], settings, embed=embed)

    def failure(self, row: Mapping[str, Any]) -> str:
        """What was chosen in both orders; empty where one of them lacks a choice."""
        sentence = self.sentences.get(str(row.get("outcome")), "")
        return f"It {sentence}" if sentence else ""

    def expected_pass(self, part: pa.Table, settings: TwoOrdersSettings) -> np.ndarray:
        """Whether the score is 1."""
        return all_or_nothing(part)

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Counts of the outcomes."""
        return figures(results, unpaired=self.unpaired)

    def picture(self) -> Picture:
        """What was chosen in both orders."""
        return Positions(self.sentences, self.unpaired)

    def criteria(self, results: pd.DataFrame, settings: Any) -> Sequence[Criterion]:
        """None: a pass is the right choice in both orders."""
        return []

    def measures(self, results: pd.DataFrame) -> Iterable[Measure]:
        """Accuracy in both orders, position bias, and the scores that likelihoods allow."""
        return measures(results)


def _skip_reason(compared: ComparedTexts) -> str | None:
    right, wrong = spaced(compared.right), spaced(compared.wrong)
    if not (right and wrong and all(spaced(value) for value in compared.values.values())):
        return "empty"
    return "equal_sentences" if right == wrong else None
