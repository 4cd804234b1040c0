"""Compare a run with an earlier run of the same model."""

from __future__ import annotations

from dataclasses import dataclass

from contrapose.tasks.core.history_records import Change, History
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.stopping import OF_DIFFERENT_SAMPLES, describe_asked_cases, early_stop
from contrapose.tasks.report.rows import cut_name
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import format_moment, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesSinceRun:
    """Differences between a run and an earlier one, ready to show."""

    title: str
    compared_with: str
    """Names the earlier run."""
    steps: tuple[tuple[str, str, str, str], ...]
    """Tests with their pass rates then and now, and the change in points; empty if one of the two is unknown."""
    samples: tuple[str, ...]
    """A sentence on each test that was stopped early in one of the two: how far both were asked."""
    differences: tuple[Change, ...]
    nothing: str
    """What it means when nothing differs."""


def compare_with_earlier_run(summary: Summary, history: History, show: Show) -> ChangesSinceRun | None:
    """Compare with the last passed run, else with the last run; return None if there is neither."""
    green, before = history.green, history.green or history.previous
    if before is None or before["run_id"] == summary["run_id"]:
        return None
    steps, samples = [], []
    for outcome in summary["tests"]:
        name, rate = cut_name(outcome["test_type"]), outcome["pass_rate"]
        pasts = [past for past in before["tests"] if past["test_type"] == outcome["test_type"]]
        then = pasts[0]["pass_rate"] if pasts else None
        change = "" if rate is None or then is None else f"{100 * (rate - then):+.1f} points"
        steps.append((name, percent(then), percent(rate), change))
        for past in pasts:
            stops = [early_stop(outcome), early_stop(past)]
            if any(stops):
                now, earlier = (f"{describe_asked_cases(early)}," if early else "all its cases" for early in stops)
                samples.append(f"{name}: {now} now; {earlier} then: {OF_DIFFERENT_SAMPLES}.")
    return ChangesSinceRun(
        title="Since the last run that passed" if green else "Since the last run",
        compared_with=show(
            f"Compared with {before['run_id']} of {format_moment(before['started'])} (verdict: {before['verdict']})."
        ),
        steps=tuple(steps),
        samples=tuple(samples),
        differences=tuple(
            Change(
                facet=change["facet"],
                name=show(change["name"]),
                before=show(change["before"]) or "–",
                after=show(change["after"]) or "–",
            )
            for change in history.changes
        ),
        nothing="Model, data, prompt, scorer and libraries are the same: any difference is chance.",
    )
