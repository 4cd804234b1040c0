"""Means over rows in clusters, and differences of two means, with bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from contrapose.tasks.statistics.shares import CONFIDENCE, Interval, clustered, wilson

RESAMPLES = 1999
SEED = 0
"""Fixed: the same results always have the same intervals."""
MOST_GROUPS = 2_000
"""More clusters than these are pooled at random before they are drawn: the method of random groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean with its interval."""

    value: float
    """The mean, or the difference of two."""
    interval: Interval | None
    """95 %; None where one cluster, or values without any spread, tell nothing about it."""
    rows: int
    """Rows that it is taken over; of a difference, samples that both sides have."""
    clusters: int
    """Groups that were drawn from."""


def mean(values: Any, cluster: Any) -> Mean | None:
    """The mean over rows; None where there are none.

    Args:
        values: (rows,) of numbers; NaN where a row does not count.
        cluster: (rows,) of labels.

    The interval is Wilson's with the design effect where all values are 0 or 1, else the bootstrap's over clusters.
    """
    values, cluster = np.asarray(values, dtype=float), np.asarray(cluster, dtype=object)
    known = np.isfinite(values)
    values, cluster = values[known], cluster[known]
    if not len(values):
        return None
    if np.isin(values, (0.0, 1.0)).all():
        share = clustered(values == 1, cluster)
        return Mean(value=share.rate, interval=wilson(share), rows=share.rows, clusters=share.clusters)
    codes = _codes(cluster)
    sums, counts = _totals(values, codes)
    return Mean(
        value=float(values.mean()), interval=_drawn(sums, counts), rows=len(values), clusters=int(codes.max()) + 1
    )


def difference(first: Any, second: Any, cluster: Any) -> Mean | None:
    """The mean of `first` minus that of `second` over the same rows; None where no row has both.

    Args:
        first: (rows,) of numbers; NaN where unknown.
        second: (rows,), likewise.
        cluster: (rows,) of labels.

    The interval is the bootstrap's over clusters: B. Efron, R. Tibshirani, An Introduction to the Bootstrap (1993).
    """
    both = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    known = np.isfinite(both)
    both, labels = both[known], np.asarray(cluster, dtype=object)[known]
    if not len(both):
        return None
    codes = _codes(labels)
    return Mean(
        value=float(both.mean()),
        interval=_drawn(*_totals(both, codes)),
        rows=len(both),
        clusters=int(codes.max()) + 1,
    )


def _codes(cluster: np.ndarray) -> np.ndarray:
    import pandas as pd

    return pd.factorize(cluster)[0]


def _totals(values: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum and number of the values of each cluster, or of each random group of clusters."""
    sums, counts = np.bincount(codes, weights=values), np.bincount(codes).astype(float)
    if len(sums) <= MOST_GROUPS:
        return sums, counts
    group = np.random.default_rng(SEED).permutation(len(sums)) % MOST_GROUPS
    return np.bincount(group, weights=sums), np.bincount(group, weights=counts)


def _drawn(sums: np.ndarray, counts: np.ndarray) -> Interval | None:
    """Interval of sum(sums)/sum(counts), clusters drawn with replacement."""
    from scipy.stats import bootstrap

    if len(sums) < 2 or np.ptp(sums / counts) == 0:
        return None
    found = bootstrap(
        (sums, counts),
        lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))
