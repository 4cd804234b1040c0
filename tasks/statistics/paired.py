"""Tests of paired answers whose pairs are independent of each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


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
