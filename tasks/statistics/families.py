"""Tests and p values: corrections for several tests, tests for paired data, and p values in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10
from typing import Any, NamedTuple

import numpy as np

from contrapose.tasks.statistics.shares import LEVEL


def holm(values: Sequence[float]) -> list[float]:
    """Return p values with Holm's correction, which limits the chance of any false finding to the level.

    Not by statsmodels' multipletests, which collects garbage at every call: a second in a process as large as a run's.
    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70.
    """
    plain = np.asarray(values, dtype=float)
    order = np.argsort(plain)
    adjusted = np.empty_like(plain)
    adjusted[order] = np.maximum.accumulate(plain[order] * np.arange(len(plain), 0, -1)).clip(max=1)
    return [float(value) for value in adjusted]


def find_holm_divisor(others: Sequence[float]) -> int:
    """Return the number by which Holm's correction divides the level for one more test besides these p values.

    The others that are rejected at their own steps no longer count: of three tests, two of which are certain, the last
    one is tested at the whole level.
    """
    tests = len(others) + 1
    for place, p in enumerate(sorted(others)):
        if p > LEVEL / (tests - place):
            return tests - place
    return 1


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Return p values corrected so that the expected share of false findings stays below the level.

    Source: Y. Benjamini, Y. Hochberg, JRSS B 57 (1995) 289-300.
    """
    plain = np.asarray(values, dtype=float)
    falling = np.argsort(-plain)
    adjusted = np.empty_like(plain)
    ranks = np.arange(len(plain), 0, -1)
    adjusted[falling] = np.minimum.accumulate(plain[falling] * len(plain) / ranks)
    return [float(value) for value in adjusted]


def format_p_over_level(p: float) -> str:
    """Return a p value over 5 % as text, with enough decimals to show it: 0.0502 instead of 0.050."""
    return f"{p:.{max(3, ceil(-log10(p - LEVEL)))}f}"


class Discordant(NamedTuple):
    """Counts of pairs that differ in either direction, with McNemar's p value."""

    only_first: int
    only_second: int
    p: float
    """Two-sided; 1 where no pair differs."""


def mcnemar(first: Any, second: Any) -> Discordant:
    """Return the exact McNemar test of two boolean answers to the same questions, each of shape (pairs,).

    Source: Q. McNemar, Psychometrika 12 (1947) 153-157; exact by the binomial distribution.
    """
    first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    return compare_discordant(int((first & ~second).sum()), int((second & ~first).sum()))


def compare_discordant(only_first: int, only_second: int) -> Discordant:
    """Return the exact McNemar test from the counts of pairs that differ."""
    fewer, differing = min(only_first, only_second), only_first + only_second
    return Discordant(only_first, only_second, min(1.0, 2 * binomial_cdf(fewer, differing, 0.5)))


def binomial_cdf(count: int, trials: int, rate: float) -> float:
    """Return the probability of at most `count` successes in `trials` trials with this success rate.

    By the incomplete beta function; `scipy.stats` has it too, and takes half a second to import.
    """
    from scipy.special import betainc

    return 1.0 if count >= trials else float(betainc(trials - count, count + 1, 1 - rate))


def wilcoxon(differences: Any) -> float | None:
    """Return the signed-rank test's two-sided p value of differences, of shape (pairs,); None if none differs from 0.

    Source: F. Wilcoxon, Biometrics Bulletin 1 (1945) 80-83, as in scipy.
    """
    from scipy.stats import wilcoxon as signed_ranks

    values = np.asarray(differences, dtype=float)
    values = values[np.isfinite(values) & (values != 0)]
    if not len(values):
        return None
    return float(signed_ranks(values).pvalue)
