"""Where things lie on the pass rate scale, in units of a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.report.wording import interval, percent

LEFT, WIDTH = 10.0, 300.0
"""The scale from 0 to 100 % within a drawing 320 units wide."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark on the scale with its label."""

    x: float
    """Position of the mark."""
    label: str
    """Name and value."""
    anchor: Anchor
    """Which part of the label stands at the mark, so that it never leaves the drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """A pass rate with its interval, the gate, and the rate of guessing."""

    rate: float | None
    """Position of the pass rate; None when nothing was scored."""
    low: float
    """Where the 95 % interval begins."""
    width: float
    """How long the interval is."""
    gate: Tick
    """The least pass rate."""
    chance: Tick | None
    """The pass rate of a model that guesses, where that has a meaning."""
    told: str
    """The same in words, for those who do not see it."""


def meter(outcome: Outcome) -> Meter:
    """The drawing of one test."""
    rate, chance = outcome["pass_rate"], outcome["chance"]
    low, high = outcome["interval"] or (0.0, 0.0)
    return Meter(
        rate=None if rate is None else _x(rate),
        low=_x(low),
        width=max(_x(high) - _x(low), 2.0) if rate is not None else 0.0,
        gate=_tick("gate", outcome["min_pass_rate"]),
        chance=None if chance is None else _tick("chance", chance),
        told=_told(outcome),
    )


def _told(outcome: Outcome) -> str:
    known = f"Pass rate {percent(outcome['pass_rate'])}, 95 % interval {interval(outcome)}"
    guess = "" if outcome["chance"] is None else f", chance {percent(outcome['chance'])}"
    return f"{known}, gate {percent(outcome['min_pass_rate'])}{guess}."


def _tick(name: str, share: float) -> Tick:
    anchor: Anchor = "start" if share < 0.15 else "end" if share > 0.85 else "middle"
    return Tick(x=_x(share), label=f"{name} {percent(share)}", anchor=anchor)


def _x(share: float) -> float:
    return round(LEFT + WIDTH * min(max(share, 0.0), 1.0), 1)
