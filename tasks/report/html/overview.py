"""The first screen's table: what decides each test, in a line."""

from __future__ import annotations

from dataclasses import dataclass

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.report.html.meter import Meter, meter
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.report.source_rows import taken_by
from contrapose.tasks.report.wording import interval, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One test."""

    name: str
    verdict: str
    judged: str
    """How many rows it was judged on."""
    rate: str
    interval: str
    meter: Meter
    reason: str
    """What decided."""


def line(outcome: Outcome, show: Show) -> Line:
    """The line of one test."""
    return Line(
        name=name_of(outcome["test_type"]),
        verdict=outcome["verdict"],
        judged=taken_by(outcome),
        rate=percent(outcome["pass_rate"]),
        interval=interval(outcome),
        meter=meter(outcome),
        reason=show(outcome["reason"]),
    )
