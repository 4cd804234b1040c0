"""Records of comparison.json: the figures of a comparison of finished runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NotRequired, TypedDict

Verdict = Literal["better", "not worse", "worse", "cannot tell"]

DEFINITIONS: dict[Verdict, str] = {
    "better": "the 95 % interval of the difference lies above zero, and Holm's p value is at most 0.05.",
    "not worse": "not better, and with 95 % confidence (one-sided) the difference is at least minus the margin.",
    "worse": "neither of these; the 95 % interval lies below zero, and Holm's p value is at most 0.05.",
    "cannot tell": "none of these.",
}
"""What a verdict means: the first that applies. Where too few cases were scored for both, or one of the two stopped
early, it is `cannot tell`."""

MIN_COVERAGE = 0.8
"""Share of the cases asked of either model that both must have scored for a verdict."""

MARGIN = 0.05
"""Default for the loss of pass rate that still counts as not worse."""


class Contender(TypedDict):
    """One of the compared models."""

    name: str
    """Its name here: its id, with its place among the runs if another run has the same model."""
    model: str
    revision: str
    run_id: str
    folder: str
    verdict: str


class ComparedRate(TypedDict):
    """The pass rate of a model in one test."""

    value: float
    interval: tuple[float, float] | None
    """95 %; None if one cluster tells nothing about it, or an early stop chose the cases."""


class Difference(TypedDict):
    """The difference between the pass rates of two models, first minus second."""

    value: float
    """Pass rate of the first minus that of the second."""
    interval: tuple[float, float] | None
    """95 %, two-sided; None if one cluster tells nothing about it, or an early stop chose the cases, as for what
    follows."""
    bounds: tuple[float, float] | None
    """The difference is at least the first, with 95 % confidence; separately, it is at most the second. The whole range
    from -1 to 1 where cases belong to fewer than 15 clusters."""
    p: float | None
    """Two-sided: how surprising the difference would be between models that pass equally often."""
    adjusted: float | None
    """The same, corrected for the number of pairs (Holm)."""
    method: str


class Pair(TypedDict):
    """Two models on the same cases; signed figures are `first - second`."""

    first: str
    second: str
    """The baseline, if one of the two is the baseline."""
    cases: int
    """Scored for both."""
    clusters: int
    """Groups of cases that are not independent of each other."""
    only_first: int
    """Cases that were scored for the first alone."""
    only_second: int
    neither: int
    """Cases that were asked, and scored for none of the two."""
    rates: tuple[ComparedRate, ComparedRate] | None
    """None if no case was scored for both."""
    difference: Difference | None
    """How far the rates lie apart; None if no case was scored for both."""
    extremes: tuple[float, float]
    """The difference over all cases, if those without a score had the worst and the best outcome for the first."""
    verdict: Verdict | None
    """On the first; None if the second is not the baseline."""
    reason: str
    """One sentence; empty if there is no verdict."""
    stopped: NotRequired[list[str]]
    """Which of the two stopped early, each by its own result: the cases are those that both were asked, and nothing is
    claimed. Absent if neither did."""


class Standing(TypedDict):
    """The results of a model in one test."""

    name: str
    rank: int
    """1 + the number of models that are significantly better: models that cannot be told apart may share it."""
    asked: int
    scored: int
    rate: ComparedRate | None
    """Over the cases that were scored for every model."""
    gate: float | None
    """Least pass rate that its own run asked for; None if that does not tell."""


class Contest(TypedDict):
    """The results of all models in one test."""

    test_type: str
    cases: int
    """Asked of at least one model."""
    common: int
    """Scored for every model."""
    standings: list[Standing]
    pairs: list[Pair]
    """Those with the baseline first."""


class RankedModel(TypedDict):
    """A model with its rank over all tests."""

    name: str
    rank: int
    """1 + the number of models whose mean rank is lower."""
    mean_rank: float
    ranks: dict[str, int]


class Comparison(TypedDict):
    """The content of comparison.json."""

    schema_version: int
    verdict: Verdict
    """The worst of any candidate in any test; `better` only if all are."""
    reason: str
    baseline: str
    margin: float
    models: list[Contender]
    """The baseline first."""
    leaderboard: list[RankedModel]
    tests: list[Contest]
    warnings: list[str]


SEVERITY: tuple[Verdict, ...] = ("better", "not worse", "cannot tell", "worse")

COLOURS: dict[str, str] = {"better": "pass", "not worse": "pass", "cannot tell": "inconclusive", "worse": "fail"}
"""Verdicts, and the verdicts of a run that have the same colours on a page."""

EXIT_CODES: dict[Verdict, int] = {"better": 0, "not worse": 0, "cannot tell": 3, "worse": 1}
"""What the command returns; 2 is a usage error."""


def list_judged_pairs(tests: Iterable[Contest]) -> list[tuple[str, Pair]]:
    """Return the pairs that have a verdict, each with the name of its test."""
    return [(test["test_type"], pair) for test in tests for pair in test["pairs"] if pair["verdict"] is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A case that passed with one model and failed with the other, in all its repeats."""

    test: str
    model: str
    """The one that is held against the baseline."""
    lost: bool
    """Whether it passed with the baseline; else it passed with the model."""
    rows: tuple[Mapping[str, object], Mapping[str, object]]
    """Its row of the results in the baseline's run and in the model's, raw."""


class FlipCount(NamedTuple):
    """The numbers of cases of a test that flipped."""

    lost: int
    """Passed with the baseline, failed with the model."""
    gained: int
    """The other way round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """The cases that flipped between the baseline and each other model."""

    shown: Sequence[Flip] = ()
    """Those with their texts: of many the first of each test, model and direction."""
    counts: Mapping[tuple[str, str], FlipCount] = field(default_factory=dict)
    """All of them, by test and model."""
