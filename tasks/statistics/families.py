"""Several tests at once: p values that account for how many there are, and p values in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10
from typing import Any, NamedTuple

import numpy as np

from contrapose.tasks.statistics.shares import LEVEL


def holm(values: Sequence[float]) -> list[float]:
    """P values adjusted so that the chance of any false finding stays below the level.

    Not by statsmodels' multipletests, which collects garbage at every call: a second in a process as large as a run's.
    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70.
    """
    plain = np.asarray(values, dtype=float)
    order = np.argsort(plain)
    adjusted = np.empty_like(plain)
    adjusted[order] = np.maximum.accumulate(plain[order] * np.arange(len(plain), 0, -1)).clip(max=1)
    return [float(value) for value in adjusted]


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """P values adjusted so that the expected share of false findings among all findings stays below the level.

    Source: Y. Benjamini, Y. Hochberg, JRSS B 57 (1995) 289-300, as in scipy.
    """
    from scipy.stats import false_discovery_control

    return [float(value) for value in false_discovery_control(values)] if len(values) else []


def over(p: float) -> str:
    """A p value over 5 %, with at least three decimals and as many as show that it is: 0.0502, where 0.050 is not."""
    return f"{p:.{max(3, ceil(-log10(p - LEVEL)))}f}"


class Discordant(NamedTuple):
    """Pairs that differ, and how surprising their split is."""

    only_first: int
    only_second: int
    p: float
    """Two-sided; 1 where no pair differs."""


def mcnemar(first: Any, second: Any) -> Discordant:
    """Exact McNemar test of two boolean answers to the same questions, each of shape (pairs,).

    Source: Q. McNemar, Psychometrika 12 (1947) 153-157; exact by the binomial distribution, as in statsmodels.
    """
    first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    return discordant(int((first & ~second).sum()), int((second & ~first).sum()))


def discordant(only_first: int, only_second: int) -> Discordant:
    """The same test from the counts of pairs that differ."""
    from statsmodels.stats.contingency_tables import mcnemar as exact

    if not only_first + only_second:
        return Discordant(0, 0, 1.0)
    p = float(exact([[0, only_first], [only_second, 0]], exact=True).pvalue)
    return Discordant(only_first, only_second, min(1.0, p))


def wilcoxon(differences: Any) -> float | None:
    """Two-sided p value of the signed-rank test of differences, of shape (pairs,); None where none differs from zero.

    Source: F. Wilcoxon, Biometrics Bulletin 1 (1945) 80-83, as in scipy.
    """
    from scipy.stats import wilcoxon as signed_ranks

    values = np.asarray(differences, dtype=float)
    values = values[np.isfinite(values) & (values != 0)]
    if not len(values):
        return None
    return float(signed_ranks(values).pvalue)
