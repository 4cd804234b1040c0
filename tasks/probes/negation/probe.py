"""The add_negation probe: a model that understands the prompt answers its opposite differently."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import Field, model_validator

from contrapose.tasks.core.records import Case, FollowUp, Likelihoods, Score, TextSample, Trial
from contrapose.tasks.language.replies.known_errors import OF_OPTIONS, Measured
from contrapose.tasks.probes.answers.case import expected_pass, scorer_for, stays_by_chance, text_case
from contrapose.tasks.probes.answers.figures import COLUMNS, Changes, contrast, figures, measures
from contrapose.tasks.probes.answers.reading import follow_ups
from contrapose.tasks.probes.answers.scores import score_trials
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.base import LANGTEST_COLUMNS, Column, Criterion, Embed, Measure, control_of, with_options
from contrapose.tasks.probes.negation.control import control_text
from contrapose.tasks.probes.negation.engine import negate
from contrapose.tasks.probes.negation.result import ExistingNegation, Style
from contrapose.tasks.probes.negation.second_opinion import parser, seconded, versions
from contrapose.tasks.probes.panels import Picture
from contrapose.tasks.probes.read_with import by_likelihood


class AddNegationSettings(AnswerSettings):
    """How texts are negated, and when a change of the answer counts."""

    style: Style = Field(default="rules", description="Negate by rules, or literally as LangTest does.")
    existing_negation: ExistingNegation = Field(
        default="skip", description="What to do with a text that is negated already."
    )
    rewrite_polar: bool = Field(
        default=True,
        description="Turn a yes/no question into a true-or-false statement, which a 'not' reverses.",
    )
    second_opinion: Literal["none", "spacy"] = Field(
        default="none",
        description="spacy: a change is sure only where spaCy's parse has the same main verb as the rules.",
    )
    spacy_model: str = Field(
        default="en_core_web_sm", description="Installed spaCy model that gives the second opinion."
    )

    def versions(self) -> dict[str, str]:
        """Versions of spaCy and its model, where they are asked."""
        return {} if self.second_opinion == "none" else versions(self.spacy_model)

    @model_validator(mode="after")
    def _rules_to_second(self) -> Self:
        if self.second_opinion != "none" and self.style != "rules":
            raise ValueError("style 'rules' beside a second_opinion, which judges the verb that the rules chose")
        return self


class AddNegation:
    """Reverses the prompt with one negation; passes when the answer changes."""

    name: ClassVar[str] = "add_negation"
    category: ClassVar[str] = "sensitivity"
    version: ClassVar[str] = "7"
    summary: ClassVar[str] = "Adds one negation that reverses the prompt; the answer should change."
    sample_type: ClassVar[type[TextSample]] = TextSample
    settings_type: ClassVar[type[AddNegationSettings]] = AddNegationSettings
    bundled_data: ClassVar[str] = "negation"
    columns: ClassVar[Mapping[str, Column]] = {**COLUMNS, **LANGTEST_COLUMNS}
    default_gate: ClassVar[float] = 0.7
    gate_basis: ClassVar[str] = ""
    without_choice: ClassVar[tuple[str, ...]] = ()
    reader_errors: ClassVar[Sequence[Measured]] = OF_OPTIONS
    controlled: ClassVar[bool] = True
    by_default: ClassVar[bool] = True

    def cases(
        self, sample: TextSample, settings: AddNegationSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """The sample's text and its negation as prompts; nothing in it is random.

        Raises:
            ConfigError: the scorer needs log-likelihoods, and the provider gives none; or there is no second opinion.
        """
        where = f"tests.{self.category}.{self.name}.scorer"
        scorer = scorer_for(sample, settings.scorer, likelihoods=likelihoods, where=where)
        negation = negate(
            sample.text,
            style=settings.style,
            existing_negation=settings.existing_negation,
            rewrite_polar=settings.rewrite_polar,
            options=sample.options,
        )
        if settings.second_opinion == "spacy":
            negation = seconded(sample.text, negation, parser(settings.spacy_model))
        return [
            text_case(
                sample,
                probe=self.name,
                version=self.version,
                original=negation.original,
                perturbed=negation.text,
                skip_reason=negation.reason,
                confidence=negation.confidence,
                scorer=scorer,
                likelihoods=likelihoods,
                by_likelihood=by_likelihood(settings, likelihoods, where=f"tests.{self.category}.{self.name}"),
                settings=settings,
            )
        ]

    def control(
        self, case: Case, sample: TextSample, settings: AddNegationSettings, *, rng: random.Random
    ) -> Case | None:
        """An adverb that changes nothing in place of the negation, such as "is indeed" for "is not"."""
        if case.perturbed is None:
            return None
        text, confidence = control_text(case.original, case.perturbed, rng=rng)
        return control_of(
            case,
            perturbed=text,
            prompt=with_options(text, sample.options),
            confidence=confidence,
            chance=stays_by_chance(case, stays=False),
        )

    def score(self, trials: Sequence[Trial], settings: AddNegationSettings, *, embed: Embed) -> list[Score]:
        """Score each trial by its case's scorer, and tell what LangTest would have said."""
        return score_trials(trials, settings, embed=embed, langtest=True)

    def follow_ups(self, trials: Sequence[Trial], settings: AddNegationSettings, *, embed: Embed) -> Sequence[FollowUp]:
        """Questions about the replies that name no one option, and about those that rules read."""
        return follow_ups(trials)

    def expected_pass(self, part: pa.Table, settings: AddNegationSettings) -> np.ndarray:
        """Whether the answer changed, by the score and the band."""
        return expected_pass(part, settings)

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """How many pairs of choices could be read, and thresholds from the controls."""
        return figures(results)

    def picture(self) -> Picture:
        """Answers that changed by kind of text, and what became of right ones."""
        return Changes()

    def criteria(self, results: pd.DataFrame, settings: AddNegationSettings) -> Sequence[Criterion]:
        """The contrast rate."""
        return contrast(results, settings.min_contrast_rate)

    def measures(self, results: pd.DataFrame) -> Sequence[Measure]:
        """Mean eval_score per scorer, how often the answer changed, and what became of choices and right answers."""
        return measures(results)
