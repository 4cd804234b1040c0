"""Several tests at once: p values that account for how many there are, and p values in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10

from contrapose.tasks.statistics.shares import CONFIDENCE


def holm(values: Sequence[float]) -> list[float]:
    """P values adjusted so that the chance of any false finding stays below the level.

    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70, as in statsmodels' multipletests.
    """
    return _adjusted(values, "holm")


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """P values adjusted so that the expected share of false findings among all findings stays below the level.

    Source: Y. Benjamini, Y. Hochberg, JRSS B 57 (1995) 289-300, as in statsmodels' multipletests.
    """
    return _adjusted(values, "fdr_bh")


def _adjusted(values: Sequence[float], method: str) -> list[float]:
    if not len(values):
        return []
    from statsmodels.stats.multitest import multipletests

    return [float(value) for value in multipletests(values, method=method)[1]]


def over(p: float) -> str:
    """A p value over 5 %, with at least three decimals and as many as show that it is: 0.0502, where 0.050 is not."""
    return f"{p:.{max(3, ceil(-log10(p - (1 - CONFIDENCE))))}f}"
