"""A share of rows in clusters: how many rows it is worth, its interval, and the evidence for and against a gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

CONFIDENCE = 0.95
"""Of two-sided intervals, and of each one-sided bound by itself."""

EXACT_BELOW = 100
"""Effective rows under which bounds are exact: up to there Wilson's let a gate at its boundary pass up to 9 %."""


class Interval(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


class Evidence(NamedTuple):
    """How a share lies to a gate."""

    bounds: Interval
    """One-sided 95 % bounds: the rate is at least `low`; separately, it is at most `high`."""
    reached: float
    """p value of a rate this high or higher, if the true one lay at the gate."""
    missed: float
    """p value of a rate this low or lower, if the true one lay at the gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Rows that are true among rows that belong to clusters."""

    true: int
    """Rows that are true."""
    rows: int
    """All rows; at least one."""
    clusters: int
    """Groups of rows that are not independent of each other."""
    effective: float
    """How many independent rows tell as much."""

    @property
    def rate(self) -> float:
        """Share of true rows, 0 to 1."""
        return self.true / self.rows

    @property
    def design_effect(self) -> float:
        """Rows over effective rows, at least 1."""
        return self.rows / self.effective


def independent(true: int, rows: int) -> Share:
    """A share of rows that are independent of each other."""
    return Share(true=true, rows=rows, clusters=rows, effective=float(rows))


def clustered(true: Any, cluster: Any) -> Share:
    """A share of rows with the design effect of their clusters.

    Args:
        true: (rows,) of booleans.
        cluster: (rows,) of labels; rows with the same label are one cluster.

    The effective number of rows is p(1-p)/v, with v the variance of a ratio of cluster sums, times the squared
    ratio of the t quantiles for rows and for clusters: E. L. Korn, B. I. Graubard, Survey Methodology 24 (1998)
    193-201. It is never larger than the number of rows. Where all rows are equal nothing can be estimated, and
    each cluster counts as if its rows were copies: L. Kish, Survey Sampling (1965), n²/Σm².
    """
    import pandas as pd

    codes, labels = pd.factorize(np.asarray(cluster, dtype=object))
    sums, sizes = np.bincount(codes, weights=np.asarray(true, dtype=float)), np.bincount(codes)
    return Share(
        true=round(float(sums.sum())), rows=len(codes), clusters=len(labels), effective=_effective(sums, sizes)
    )


def _effective(sums: np.ndarray, sizes: np.ndarray) -> float:
    from scipy.stats import t

    rows, clusters = float(sizes.sum()), len(sizes)
    if clusters == rows:
        return rows
    rate = float(sums.sum()) / rows
    if clusters == 1 or rate in (0, 1):
        return rows**2 / float((sizes.astype(float) ** 2).sum())
    variance = clusters / (clusters - 1) * float(((sums - rate * sizes) ** 2).sum()) / rows**2
    if not variance:
        return rows
    tail = (1 + CONFIDENCE) / 2
    fewer = float(t.ppf(tail, rows - 1) / t.ppf(tail, clusters - 1)) ** 2
    return min(rows, max(1.0, rate * (1 - rate) / variance * fewer))


def wilson(share: Share) -> Interval:
    """Two-sided 95 % Wilson score interval on the effective rows.

    Source: E. B. Wilson, JASA 22 (1927) 209-212, as in statsmodels' proportion_confint.
    """
    return _interval(share, 1 - CONFIDENCE, "wilson")


def evidence(share: Share, gate: float) -> Evidence:
    """One-sided bounds and p values of a share against a gate between 0 and 1.

    From 100 effective rows on these are Wilson's, below them the exact ones of the binomial distribution
    (C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413). A bound reaches the gate where the p value is 5 %.
    """
    exact = share.effective < EXACT_BELOW
    bounds = _interval(share, 2 * (1 - CONFIDENCE), "beta" if exact else "wilson")
    reached, missed = _exact(share, gate) if exact or gate in (0, 1) else _scored(share, gate)
    return Evidence(bounds=bounds, reached=reached, missed=missed)


def unequal(first: Share, second: Share) -> float:
    """Two-sided p value of the difference of two shares, by Fisher's exact test on their effective rows."""
    from scipy.stats import fisher_exact

    counts = [(share.rate * share.effective, (1 - share.rate) * share.effective) for share in (first, second)]
    return float(fisher_exact(np.rint(counts).astype(int)).pvalue)


def _interval(share: Share, alpha: float, method: str) -> Interval:
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(share.rate * share.effective, share.effective, alpha=alpha, method=method)
    # Rounding alone can put an end beyond the rate itself.
    return Interval(max(0.0, min(float(low), share.rate)), min(1.0, max(float(high), share.rate)))


def _scored(share: Share, gate: float) -> tuple[float, float]:
    from statsmodels.stats.proportion import proportions_ztest

    found = [
        proportions_ztest(
            share.rate * share.effective, share.effective, value=gate, prop_var=gate, alternative=alternative
        )[1]
        for alternative in ("larger", "smaller")
    ]
    return float(found[0]), float(found[1])


def _exact(share: Share, gate: float) -> tuple[float, float]:
    """Tails of the binomial distribution, by the beta distribution since effective rows are no whole number."""
    from scipy.stats import beta

    true, false = share.rate * share.effective, (1 - share.rate) * share.effective
    reached = float(beta.cdf(gate, true, false + 1)) if true > 0 else 1.0
    missed = float(beta.sf(gate, true + 1, false)) if false > 0 else 1.0
    return reached, missed
