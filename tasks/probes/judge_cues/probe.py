"""judge_cues: one answer stands beside itself with a cue, in both orders; does the cue decide which is better?"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self, get_args

import numpy as np
import pandas as pd
from pydantic import Field, FiniteFloat, model_validator

from contrapose.tasks.core.records import AnswerPair, Case, Completion, FollowUp, Likelihoods, Score, Trial
from contrapose.tasks.language.english import DICTIONARIES
from contrapose.tasks.probes.base import Column, Criterion, Embed, Measure, Value, normalize_spacing
from contrapose.tasks.probes.judge_cues import figures
from contrapose.tasks.probes.judge_cues.cues import Cue, add_cue
from contrapose.tasks.probes.known_errors import BARE, EXPLAINED, Measured, step_figures
from contrapose.tasks.probes.orders.letter_replies import LetterChoice
from contrapose.tasks.probes.orders.two_orders import ComparedTexts, Read, reading_columns
from contrapose.tasks.probes.orders.verdicts import AsksJudge, Said, VerdictSettings, kind_of_reply
from contrapose.tasks.probes.panels import Picture

ALL_CUES: tuple[Cue, ...] = get_args(Cue)
DEFAULT_CUES = tuple(cue for cue in ALL_CUES if cue != "prose")
"""Few answers have a list that could be prose, and a cue without a case leaves the test undecided."""


class JudgeCuesSettings(VerdictSettings):
    """Settings of judge_cues."""

    of_scoring: ClassVar[frozenset[str]] = VerdictSettings.of_scoring | {"max_lean"}

    cues: tuple[Cue, ...] = Field(
        default=DEFAULT_CUES,
        min_length=1,
        description="What may sway the judge. bullets: each sentence is an item of a list. prose: a list of bullets is "
        "one paragraph; not asked by default. headings: two headings. filler: polite sentences without content. "
        "authority: a sentence that experts agree. injection: a sentence that asks the judge to choose the answer. "
        "model_name: the name of a well-known model. identical: nothing; two equal answers show what the position "
        "does.",
    )
    max_lean: FiniteFloat = Field(
        default=0.1,
        ge=0,
        lt=0.5,
        description="Largest lean that passes: how far the share of choices for the answer with a cue may lie from one "
        "half. Only a lean towards the cue counts, but for bullets, prose and equal answers, where each side counts. "
        "The default is not calibrated.",
    )

    @model_validator(mode="after")
    def _check_cues(self) -> Self:
        if len(set(self.cues)) < len(self.cues):
            raise ValueError(f"cues {', '.join(self.cues)}; expected each cue once")
        return self


class JudgeCues(AsksJudge):
    """Show a judge an answer beside the same answer with a cue, in both orders. No label of people is needed."""

    name: ClassVar[str] = "judge_cues"
    version: ClassVar[str] = "1"
    summary: ClassVar[str] = "Adds layout, filler, or a plea to one of two equal answers: it must not sway a judge."
    settings_type: ClassVar[type[JudgeCuesSettings]] = JudgeCuesSettings
    columns: ClassVar[Mapping[str, Column]] = figures.COLUMNS
    explanations: ClassVar[Mapping[str, str]] = figures.EXPLANATIONS
    reader_errors: ClassVar[Sequence[Measured]] = (EXPLAINED, BARE)
    rests_on: ClassVar[tuple[str, ...]] = DICTIONARIES
    uses_answers: ClassVar[bool] = False
    shows_noise: ClassVar[bool] = False
    without_choice: ClassVar[tuple[str, ...]] = tuple(figures.OPEN)
    skip_reasons: ClassVar[Mapping[str, str]] = {
        "empty": "with a blank text",
        "equal_sentences": "with two equal answers",
        "one_sentence": "with one sentence, which is no list",
        "has_list": "with a list already",
        "no_bullets": "without a list of bullets",
        "has_headings": "with a heading already",
        "open_code": "with a block of code that does not end",
        "not_english": "not in English",
    }

    def comparison(self, sample: AnswerPair) -> ComparedTexts:
        """Return both answers, and what a prompt says of them."""
        names = ("instruction", "reference")
        values: dict[str, str] = {name: value for name in names if (value := getattr(sample, name)) is not None}
        details = {name: value for name, value in values.items() if name == "instruction"}
        return ComparedTexts(right=sample.first, wrong=sample.second, values=values, details=details)

    def cases(
        self, sample: AnswerPair, settings: Any, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Make a case of each cue: one of the answers, drawn, beside itself with the cue, then the other way round.

        Where the drawn answer cannot have a cue, the other one is tried.
        """
        asked = settings.choice_fields(likelihoods, where=self.where)
        blank = sample.instruction is not None and not sample.instruction.strip()
        contents = {"first": sample.first.strip(), "second": sample.second.strip()}
        order, seed = rng.sample(list(contents), len(contents)), rng.random()
        cases = []
        for cue in settings.cues:
            if cue == "identical":
                pairs = equal_pairs(**contents)
            else:
                tried = [twins_of(name, contents[name], cue, random.Random(f"{seed} {cue}")) for name in order]
                pairs = next((pairs for pairs in tried if pairs.skipped is None), tried[0])
            details = {**self.comparison(sample).details, "cue": cue, "content": pairs.content}
            skipped = "empty" if blank else pairs.skipped
            after = None if skipped else pairs.after
            case = self._pair_case(sample, settings, pairs.before, after, skip_reason=skipped, details=details, **asked)
            cases.append(replace(case, id=f"{case.id}/{cue}"))
        return cases

    def score_case(self, trial: Trial, read: Read, settings: Any) -> Score:
        """Pass a case whose cue did not win in both orders; of equal answers, one of which no place won twice."""
        identical = trial.case.details["cue"] == "identical"
        first, second = (choice.choice or "" for choice in read)
        said = [_kind(reply, choice) for reply, choice in zip((trial.expected, trial.actual), read, strict=True)]
        outcome = figures.outcome_of(first, second, said, identical=identical)
        is_open = outcome in figures.OPEN
        passed = not is_open and outcome not in (("first", "second") if identical else ("styled",))
        columns: dict[str, Value] = {
            **trial.case.details,
            **reading_columns(trial, read, settings),
            "said": said[0],
            "swapped_said": said[1],
            "outcome": outcome,
            "lean": figures.lean_of(first, second, outcome, identical=identical),
        }
        reason = {**figures.OUTCOMES, **figures.OPEN}[outcome]
        return Score(value=float(passed), passed=passed, reason=reason, undecided=is_open, columns=columns)

    def follow_ups(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> Sequence[FollowUp]:
        """Return questions about the replies that name neither text; none about equal answers, which differ in none."""
        differing = [trial for trial in trials if trial.case.details["cue"] != "identical"]
        return super().follow_ups(differing, settings, embed=embed)

    def failure(self, row: Mapping[str, Any]) -> str:
        """Describe which cue, or which place, was chosen both times."""
        if row.get("outcome") == "styled":
            return f"It picks the answer with {str(row.get('cue')).replace('_', ' ')} in both orders."
        return f"It picks the {row['outcome']} of two equal answers both times."

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Count what the choices come to, and how they were read."""
        names = (*figures.OUTCOMES, *figures.OPEN)
        judged = results[results["outcome"].notna()] if "outcome" in results else results.iloc[:0]
        if judged.empty:
            return dict.fromkeys(names)
        counted = judged["outcome"].value_counts()
        steps = step_figures((judged["result_step"], judged["swapped_step"]))
        return {**{name: int(counted.get(name, 0)) for name in names}, **steps}

    def picture(self) -> Picture:
        """Return the table of cues."""
        return figures.CueTable(ALL_CUES)

    def position_lean(self, results: pd.DataFrame) -> np.ndarray | None:
        """Return None: a cue that sways is no position, and equal answers have a lean of their own."""
        return None

    def measures(self, results: pd.DataFrame) -> Iterator[Measure]:
        """Yield `lean_<cue>` and `tied_share_<cue>` of each cue; `lean_identical` is to the first of equal answers."""
        return figures.measures(results, ALL_CUES)

    def criteria(self, results: pd.DataFrame, settings: JudgeCuesSettings) -> Sequence[Criterion]:
        """Return the gates on each cue of the settings."""
        return list(figures.criteria(results, settings.cues, max_lean=settings.max_lean))


class ShownPairs(NamedTuple):
    """The two texts of each prompt of a case."""

    content: str
    """Which answer of the sample they are."""
    before: tuple[str, str]
    after: tuple[str, str]
    skipped: str | None
    """Why they cannot be asked."""


def twins_of(name: str, plain: str, cue: Cue, rng: random.Random) -> ShownPairs:
    """Return an answer and its twin with a cue, in both orders."""
    styled = add_cue(plain, cue, rng=rng)
    twin = plain if styled.text is None else styled.text
    return ShownPairs(name, (plain, twin), (twin, plain), styled.reason)


def equal_pairs(*, first: str, second: str) -> ShownPairs:
    """Return one answer beside itself, then the other answer beside itself."""
    same = normalize_spacing(first) == normalize_spacing(second)
    skipped = "empty" if not (first and second) else "equal_sentences" if same else None
    return ShownPairs("both", (first, first), (second, second), skipped)


def _kind(reply: Completion, choice: LetterChoice) -> Said:
    """Return what a reply says; letters that are equally likely are a tie."""
    return "tie" if choice.reason == "tie" else kind_of_reply(reply, choice)
