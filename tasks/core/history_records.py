"""Records of past runs, as the history stores them and reports show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from contrapose.tasks.core.criteria import DecidingRate
from contrapose.tasks.core.outcome import Verdict
from contrapose.tasks.core.stopping import Stopping

Facet = Literal["model", "data", "prompt", "scorer", "library"]
"""What a run is made of, as far as it can change a result."""


class PastTest(TypedDict):
    """One test of a past run."""

    test_type: str
    verdict: Verdict
    pass_rate: float | None
    interval: tuple[float, float] | None
    """95 %, as in the summary."""
    min_pass_rate: float | None
    """The gate of the pass rate; None if others decided."""
    scored: int
    criteria: NotRequired[list[DecidingRate]]
    """The rates that decided, the one that decided first; absent if the pass rate alone did."""
    stopping: NotRequired[Stopping]
    """How far it was asked; absent if all cases were to be asked before anything is judged."""


class PastRun(TypedDict):
    """A past run as the history stores it."""

    run_id: str
    suite: str
    model: str
    started: str
    """ISO 8601, in UTC."""
    verdict: Verdict
    tests: list[PastTest]
    made_of: dict[Facet, dict[str, str]]
    """By facet: names and values, such as `{"library": {"transformers": "5.20.0"}}`."""


class Change(TypedDict):
    """A difference from an earlier run."""

    facet: Facet
    name: str
    before: str
    """Empty if the earlier run had no such thing."""
    after: str
    """Empty if this run has none."""


def list_past_criteria(test: PastTest) -> list[DecidingRate]:
    """Return the rates that decided a past test, the deciding one first; only the pass rate if there is no other."""
    low, high = test["interval"] or (None, None)
    rate, gate = test["pass_rate"], test["min_pass_rate"]
    return test.get("criteria") or [DecidingRate(name="pass_rate", rate=rate, low=low, high=high, gate=gate)]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Earlier runs of the same suite, for the report of this run."""

    runs: tuple[PastRun, ...] = ()
    """Of any model, the oldest first, this run the last."""
    green: PastRun | None = None
    """The last run of the same model that passed; None if there is none."""
    previous: PastRun | None = None
    """The last run of the same model."""
    changes: tuple[Change, ...] = ()
    """What differs from `green`, or where there is none from `previous`."""
