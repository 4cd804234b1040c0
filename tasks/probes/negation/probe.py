"""The test add_negation: a model that understands the prompt should answer its negation differently."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from contrapose.tasks.core.records import Case, TextSample
from contrapose.tasks.probes.answers.answer_probe import COLUMNS, make_change_gates
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.base import LANGTEST_COLUMNS, Column, Criterion, Proportion
from contrapose.tasks.probes.edits.base import (
    NEEDS_MAIN_VERB,
    Control,
    Edited,
    TextEdit,
    make_reworded_control,
    make_unrelated_not_control,
)
from contrapose.tasks.probes.negation.engine import negate
from contrapose.tasks.probes.negation.result import REASONS_IN_WORDS, ExistingNegation, Style
from contrapose.tasks.probes.negation.second_opinion import add_second_opinion, get_spacy_versions, load_parser


class AddNegationSettings(AnswerSettings):
    """Settings of add_negation: how texts are negated, and which answers must stay next to an unrelated "not"."""

    of_scoring: ClassVar[frozenset[str]] = AnswerSettings.of_scoring | {"min_steady_rate"}

    style: Style = Field(default="rules", description="Negate by rules, or literally as LangTest does.")
    existing_negation: ExistingNegation = Field(
        default="skip", description="What to do with a text that is negated already."
    )
    rewrite_polar: bool = Field(
        default=True, description="Turn a yes/no question into a true-or-false statement, which a 'not' reverses."
    )
    min_steady_rate: Proportion = Field(
        default=0.6,
        description="Share of the answers that must stay beside a 'not' which is about something else.",
    )
    second_opinion: Literal["none", "spacy"] = Field(
        default="none",
        description="spacy: a change is sure only where spaCy's parse has the same main verb as the rules.",
    )
    spacy_model: str = Field(
        default="en_core_web_sm", description="Installed spaCy model that gives the second opinion."
    )

    def versions(self) -> dict[str, str]:
        """Return the versions of spaCy and its model if they give a second opinion."""
        return {} if self.second_opinion == "none" else get_spacy_versions(self.spacy_model)

    @model_validator(mode="after")
    def _check_style(self) -> Self:
        if self.second_opinion != "none" and self.style != "rules":
            raise ValueError("style 'rules' beside a second_opinion, which judges the verb that the rules chose")
        return self


class AddNegation(TextEdit):
    """Negates the prompt once; passes if the answer changes."""

    name: ClassVar[str] = "add_negation"
    version: ClassVar[str] = "11"
    summary: ClassVar[str] = "Adds one negation that reverses the prompt; the answer should change."
    settings_type: ClassVar[type[AddNegationSettings]] = AddNegationSettings
    columns: ClassVar[Mapping[str, Column]] = {**COLUMNS, **LANGTEST_COLUMNS}
    default_gate: ClassVar[float] = 0.7
    by_default: ClassVar[bool] = True
    edits_english: ClassVar[bool] = True
    beside_langtest: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {**NEEDS_MAIN_VERB, **REASONS_IN_WORDS}

    def change(self, sample: TextSample, settings: AddNegationSettings, *, rng: random.Random) -> Edited:
        """Return the negated text of a sample; nothing is random."""
        negation = negate(
            sample.text,
            style=settings.style,
            existing_negation=settings.existing_negation,
            rewrite_polar=settings.rewrite_polar,
            options=sample.options,
        )
        if settings.second_opinion == "spacy":
            negation = add_second_opinion(sample.text, negation, load_parser(settings.spacy_model))
        rewritten = negation.original != sample.text
        return Edited(
            text=negation.text,
            reason=negation.reason,
            confidence=negation.confidence,
            original=negation.original,
            answers=tuple(filter(None, map(_map_to_truth, sample.answers))) if rewritten else (),
        )

    def control_text(self, case: Case, *, rng: random.Random) -> Control:
        """Return the text of the control: an unrelated "not" for half of the samples, other words for the rest."""
        make = make_unrelated_not_control if rng.random() < 1 / 2 else make_reworded_control
        return make(case.original, rng=rng, options=bool(case.options))

    def criteria(self, results: pd.DataFrame, settings: AddNegationSettings) -> Sequence[Criterion]:
        """Return gates that the answer changes with the negation, and stays next to an unrelated "not"."""
        return make_change_gates(results, settings, steady=settings.min_steady_rate)


def _map_to_truth(answer: str) -> str | None:
    """Map "yes" and "no" to "true" and "false", for a question that became a statement; None for other answers."""
    return {"yes": "True", "no": "False"}.get(answer.strip(" .").lower())
