"""How many cases a question needs, and what a number of cases can tell."""

from __future__ import annotations

from dataclasses import replace

from contrapose.tasks.statistics.shares import Share, evidence

MOST = 10_000_000
"""More cases than these nobody asks."""
POWER = 0.8
"""Chance of a finding that a planned number of cases must give: the usual one."""


def further(share: Share, gate: float) -> int | None:
    """Further rows after which a share like this one would be decided against a gate; None where none are enough."""
    if _decides(share, share.rows, gate):
        return 0
    low, high = share.rows, share.rows
    while not _decides(share, high, gate):
        high *= 2
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _decides(share, middle, gate) else (middle, high)
    return high - share.rows


def _decides(share: Share, rows: int, gate: float) -> bool:
    """Whether one of the bounds would clear the gate, with as many rows of the same rate and design effect."""
    grown = replace(share, rows=rows, true=round(share.rate * rows), effective=rows / share.design_effect)
    low, high = evidence(grown, gate).bounds
    return low >= gate or high < gate
