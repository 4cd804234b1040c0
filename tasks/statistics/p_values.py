"""P values in words."""

from __future__ import annotations

from math import ceil, log10

from contrapose.tasks.statistics.shares import CONFIDENCE


def over(p: float) -> str:
    """A p value over 5 %, with at least three decimals and as many as show that it is: 0.0502, where 0.050 is not."""
    return f"{p:.{max(3, ceil(-log10(p - (1 - CONFIDENCE))))}f}"
