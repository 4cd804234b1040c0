"""Intervals for a pass rate, by scipy."""

from __future__ import annotations

from typing import NamedTuple

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """Both ends of a confidence interval, as shares between 0 and 1."""

    low: float
    high: float


def wilson(passed: int, scored: int) -> Interval:
    """Two-sided 95 % Wilson score interval of a pass rate.

    Samples count as independent. Source: E. B. Wilson, JASA 22 (1927) 209-212, as in scipy.stats.binomtest.
    """
    from scipy.stats import binomtest

    found = binomtest(passed, scored).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(found.low), float(found.high))


def one_sided(passed: int, scored: int) -> Interval:
    """One-sided 95 % Wilson bounds: the rate is at least `low`; separately, it is at most `high`."""
    from scipy.stats import binomtest

    low = binomtest(passed, scored, alternative="greater").proportion_ci(CONFIDENCE, method="wilson").low
    high = binomtest(passed, scored, alternative="less").proportion_ci(CONFIDENCE, method="wilson").high
    return Interval(float(low), float(high))
