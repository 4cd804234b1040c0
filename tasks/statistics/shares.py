"""A share of rows in clusters: how many rows it is worth, its interval, and the evidence for and against a gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from contrapose.tasks.statistics.spread import copies, spread

CONFIDENCE = 0.95
"""Of two-sided intervals, and of each one-sided bound by itself."""


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

    The effective number of rows is p(1-p)/v, with v the variance of the rate, times the squared ratio of the t
    quantiles for rows and for v: E. L. Korn, B. I. Graubard, Survey Methodology 24 (1998) 193-201. It is never larger
    than the number of rows. Where all rows are equal nothing can be estimated, and each cluster counts as if its rows
    were copies.
    """
    import pandas as pd

    codes, labels = pd.factorize(labels_of(cluster))
    sums, sizes = np.bincount(codes, weights=np.asarray(true, dtype=float)), np.bincount(codes)
    return Share(
        true=round(float(sums.sum())), rows=len(codes), clusters=len(labels), effective=_effective(sums, sizes)
    )


def labels_of(cluster: Any) -> np.ndarray:
    """Labels as an array: numbers stay numbers, which are told apart several times faster than objects."""
    import pandas as pd

    return np.asarray(pd.Series(cluster))


def _effective(sums: np.ndarray, sizes: np.ndarray) -> float:
    rows, clusters = float(sizes.sum()), len(sizes)
    if clusters == rows:
        return rows
    rate = float(sums.sum()) / rows
    if clusters == 1 or rate in (0, 1):
        return copies(sizes)
    variance, freedom = spread(sums, sizes)
    if not variance:
        return rows
    return min(rows, max(1.0, rate * (1 - rate) / variance * fewer(rows, freedom + 1)))


def fewer(rows: float, clusters: float) -> float:
    """What few clusters cost: the squared ratio of the t quantiles for rows and for clusters, at most 1."""
    from scipy.stats import t

    tail = (1 + CONFIDENCE) / 2
    return float(t.ppf(tail, rows - 1) / t.ppf(tail, clusters - 1)) ** 2


def wilson(share: Share, *, confidence: float = CONFIDENCE) -> Interval:
    """Two-sided Wilson score interval on the effective rows, 95 % unless told otherwise.

    Source: E. B. Wilson, JASA 22 (1927) 209-212, as in statsmodels' proportion_confint.
    """
    return _interval(share, 1 - confidence, "wilson")


def evidence(share: Share, gate: float) -> Evidence:
    """One-sided bounds and p values of a share against a gate between 0 and 1.

    Exact by the binomial distribution: C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413. Wilson's bound lets
    a gate at its boundary pass too often: 9 of 10 against 0.65 occur in 8.6 %, and of 100 to 400 rows a gate of 0.95
    is passed in up to 6.2 % and failed in up to 8.4 %. A bound reaches the gate where the p value is 5 %.
    """
    bounds = _interval(share, 2 * (1 - CONFIDENCE), "beta")
    reached, missed = _tails(share, gate)
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


def _tails(share: Share, gate: float) -> tuple[float, float]:
    """Tails of the binomial distribution, by the beta distribution since effective rows are no whole number."""
    from scipy.stats import beta

    true, false = share.rate * share.effective, (1 - share.rate) * share.effective
    reached = float(beta.cdf(gate, true, false + 1)) if true > 0 else 1.0
    missed = float(beta.sf(gate, true + 1, false)) if false > 0 else 1.0
    return reached, missed
