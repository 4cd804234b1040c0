"""What changed since an earlier run of the model."""

from __future__ import annotations

from dataclasses import dataclass

from contrapose.tasks.core.history_records import Change, History, PastRun
from contrapose.tasks.core.outcome import Outcome, Summary
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
