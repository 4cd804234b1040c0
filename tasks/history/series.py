"""Runs of the past as series: one test of one model in one suite, over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from contrapose.tasks.history.changes import changes, changes_of
from contrapose.tasks.past import Change, Facet, PastRun, PastTest


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One test of one run."""

    run: PastRun
    test: PastTest
    changed: tuple[Facet, ...]
    """What differs from the run before it that asked this test, and bears on it; empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One test of one model in one suite."""

    suite: str
    model: str
    test: str
    points: tuple[Point, ...]
    """The oldest first; at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """A model's newest run in a suite, and what has changed since an earlier one."""

    run: PastRun
    base: PastRun | None
    """The last one before it that passed, else the last one before it; None where it is the first."""
    changes: tuple[Change, ...]


def series(runs: Iterable[PastRun]) -> list[Series]:
    """The series in some runs, which come the oldest first; in order of suite, model and test."""
    found: dict[tuple[str, str, str], list[Point]] = {}
    for run in runs:
        for test in run["tests"]:
            points = found.setdefault((run["suite"], run["model"], test["test_type"]), [])
            changed = changes_of(test["test_type"], points[-1].run, run) if points else ()
            facets = tuple(dict.fromkeys(each["facet"] for each in changed))
            points.append(Point(run=run, test=test, changed=facets))
    return [
        Series(suite=suite, model=model, test=test, points=tuple(points))
        for (suite, model, test), points in sorted(found.items())
    ]


def since_green(runs: Iterable[PastRun]) -> list[Since]:
    """For each suite and model, what changed since the last run that passed; runs come the oldest first."""
    return [_since(own) for own in _by_model(runs)]


def _since(own: Sequence[PastRun]) -> Since:
    *before, run = own
    green = [each for each in before if each["verdict"] == "pass"]
    base = next(reversed(green or before), None)
    return Since(run=run, base=base, changes=changes(base, run) if base else ())


def _by_model(runs: Iterable[PastRun]) -> Iterator[list[PastRun]]:
    """Runs of each suite and model, in order of their names."""
    found: dict[tuple[str, str], list[PastRun]] = {}
    for run in runs:
        found.setdefault((run["suite"], run["model"]), []).append(run)
    yield from (own for _, own in sorted(found.items()))
