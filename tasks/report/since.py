"""What changed since an earlier run of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from contrapose.tasks.core.history_records import Change, History, PastRun
from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.core.stopping import OF_DIFFERENT_SAMPLES, asked_of, early_stop
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import moment, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One test, then and now."""

    name: str
    before: str
    after: str
    change: str
    """In percentage points; empty where one of the two is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """This run beside an earlier one."""

    title: str
    held_against: str
    """Which run that is."""
    steps: tuple[Step, ...]
    samples: tuple[str, ...]
    """Of each test that was stopped early in one of the two, how far both were asked, in a sentence."""
    differences: tuple[Change, ...]
    nothing: str
    """What it means when nothing differs."""


def since(summary: Summary, history: History, show: Show) -> Since | None:
    """What changed since the last green run, or where there is none since the last one; None without either."""
    green, before = history.green, history.green or history.previous
    if before is None or before["run_id"] == summary["run_id"]:
        return None
    return Since(
        title="Since the last run that passed" if green else "Since the last run",
        held_against=show(
            f"Held against {before['run_id']} of {moment(before['started'])}, which ended with: {before['verdict']}."
        ),
        steps=tuple(_step(outcome, before) for outcome in summary["tests"]),
        samples=tuple(text for outcome in summary["tests"] for text in _samples(outcome, before)),
        differences=tuple(
            Change(
                facet=change["facet"],
                name=show(change["name"]),
                before=show(change["before"]) or "–",
                after=show(change["after"]) or "–",
            )
            for change in history.changes
        ),
        nothing="Model, data, prompt, scorer and libraries are the same: what differs is chance.",
    )


def _samples(outcome: Outcome, before: PastRun) -> Iterator[str]:
    """How far a test was asked now and then; nothing where it was not stopped early in either."""
    tests = (past for past in before["tests"] if past["test_type"] == outcome["test_type"])
    for past in tests:
        stops = [early_stop(outcome), early_stop(past)]
        if any(stops):
            now, then = (f"{asked_of(early)}," if early else "all its cases" for early in stops)
            yield f"{name_of(outcome['test_type'])}: {now} now; {then} then: {OF_DIFFERENT_SAMPLES}."


def _step(outcome: Outcome, before: PastRun) -> Step:
    rate = outcome["pass_rate"]
    rates = [past["pass_rate"] for past in before["tests"] if past["test_type"] == outcome["test_type"]]
    then = rates[0] if rates else None
    known = rate is not None and then is not None
    return Step(
        name=name_of(outcome["test_type"]),
        before=percent(then),
        after=percent(rate),
        change=f"{100 * (rate - then):+.1f} points" if known else "",  # type: ignore[operator]
    )
