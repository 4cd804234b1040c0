"""Query the history: select runs, build series, and list changes between runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.core.history_records import Change, Facet, History, PastRun, PastTest
from contrapose.tasks.core.stopping import OF_DIFFERENT_SAMPLES, early_stop
from contrapose.tasks.history.dataset import from_row

MOST = 100
"""Runs that a report is given: more are no chart that anybody reads."""


def select_runs(
    rows: pa.Table,
    *,
    suite: str | None = None,
    model: str | None = None,
    tests: Sequence[str] = (),
    verdict: str | None = None,
    last: int | None = None,
) -> list[PastRun]:
    """Return runs of a history, oldest first; a filter that is None selects all.

    With `tests` only runs with one of these, and only these of their tests; with `last` at most so many of each suite
    and model, the newest.
    """
    for name, value in (("suite", suite), ("model", model), ("verdict", verdict)):
        rows = rows if value is None else rows.filter(pc.equal(rows[name], value))
    if tests:
        asked = [any(test["test_type"] in tests for test in own) for own in rows["tests"].to_pylist()]
        rows = rows.filter(pa.array(asked, pa.bool_()))
    rows = rows.sort_by([("started", "ascending"), ("run_id", "ascending")])
    if last is not None:
        newest = rows.select(["suite", "model"]).to_pandas().groupby(["suite", "model"]).tail(last)
        rows = rows.take(pa.array(newest.index, pa.int64()))
    chosen = [from_row(row) for row in rows.to_pylist()]
    if not tests:
        return chosen
    return [{**run, "tests": [test for test in run["tests"] if test["test_type"] in tests]} for run in chosen]


def select_history(rows: pa.Table, run: PastRun) -> History:
    """Return the earlier runs of a run's suite, from rows of a history without this run."""
    suite, model = run["suite"], run["model"]
    own = select_runs(rows, suite=suite, model=model, last=1)
    green = select_runs(rows, suite=suite, model=model, verdict="pass", last=1)
    others = select_runs(rows, suite=suite, last=MOST)
    before = next(iter(green or own), None)
    return History(
        runs=(*others[-(MOST - 1) :], run),
        green=next(iter(green), None),
        previous=next(iter(own), None),
        changes=list_changes(before, run) if before else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The result of one test in one run."""

    run: PastRun
    test: PastTest
    changed: tuple[Facet, ...]
    """What differs from the run before it that asked this test, and bears on it; empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The results of one test of one model in one suite over time."""

    suite: str
    model: str
    test: str
    points: tuple[Point, ...]
    """The oldest first; at least one."""

    @property
    def caution(self) -> str:
        """Return the warning that some of several runs stopped early, or "" if none did."""
        early = sum(early_stop(point.test) is not None for point in self.points)
        if not early or len(self.points) == 1:
            return ""
        return f"{early:,} of {len(self.points):,} runs stopped early: {OF_DIFFERENT_SAMPLES}."


@dataclass(frozen=True, slots=True, kw_only=True)
class SincePrevious:
    """A model's newest run in a suite, and the changes since an earlier run."""

    run: PastRun
    base: PastRun | None
    """The last one before it that passed, else the last one before it, or None if it is the first."""
    changes: tuple[Change, ...]


def make_series(runs: Iterable[PastRun]) -> list[Series]:
    """Group runs, oldest first, into series in the order of suite, model and test."""
    by_line: dict[tuple[str, str, str], list[Point]] = {}
    for run in runs:
        for test in run["tests"]:
            points = by_line.setdefault((run["suite"], run["model"], test["test_type"]), [])
            changed = select_changes(test["test_type"], points[-1].run, run) if points else ()
            facets = tuple(dict.fromkeys(change["facet"] for change in changed))
            points.append(Point(run=run, test=test, changed=facets))
    return [
        Series(suite=suite, model=model, test=test, points=tuple(points))
        for (suite, model, test), points in sorted(by_line.items())
    ]


def compare_to_green(runs: Iterable[PastRun]) -> list[SincePrevious]:
    """Return for each suite and model the changes since the last passed run; `runs` are oldest first."""
    line = itemgetter("suite", "model")
    latest = []
    for _, own in groupby(sorted(runs, key=line), key=line):
        *before, run = own
        green = [point for point in before if point["verdict"] == "pass"]
        base = next(reversed(green or before), None)
        latest.append(SincePrevious(run=run, base=base, changes=list_changes(base, run) if base else ()))
    return latest


FACETS: tuple[Facet, ...] = ("model", "data", "prompt", "scorer", "library")
ASKED = "asked"
"""What a test is in the run that has it."""


def list_changes(before: PastRun, after: PastRun) -> tuple[Change, ...]:
    """Return the differences between the fingerprints of two runs, by facet.

    A test that only one of them asked is one change, whatever its settings are.
    """
    old, new = ({fact["test_type"] for fact in run["tests"]} for run in (before, after))
    alone = sorted(old ^ new)
    differing = [
        Change(facet="prompt", name=test, before=ASKED if test in old else "", after=ASKED if test in new else "")
        for test in alone
    ]
    for facet in FACETS:
        one, two = (run["made_of"].get(facet, {}) for run in (before, after))
        differing += [
            Change(facet=facet, name=name, before=one.get(name, ""), after=two.get(name, ""))
            for name in sorted({*one, *two})
            if one.get(name, "") != two.get(name, "") and name.partition(".")[0] not in alone
        ]
    return tuple(differing)


def select_changes(test: str, before: PastRun, after: PastRun) -> tuple[Change, ...]:
    """Return the changes that can affect one test."""
    others = {fact["test_type"] for run in (before, after) for fact in run["tests"]} - {test}
    return tuple(fact for fact in list_changes(before, after) if fact["name"].partition(".")[0] not in others)
