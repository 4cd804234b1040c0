"""Estimate the variance components of a mean: samples, wordings, and the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from contrapose.tasks.statistics.shares import CONFIDENCE, Interval, Share, compute_penalty, copies, make_labels

LEAST_WORDINGS = 6
"""From so many on wordings count as a sample of all wordings; fewer show too little of how much these differ."""
ASSUMED = 0.05
"""Share of the variance that lies between wordings where all rows agree, so that nothing shows it."""
PRECISE = 1e-9
"""Of sums of squares, what computing them may leave where nothing varies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Variance components of cells; a cell is the mean of the rows about one sample in one wording."""

    cells: np.ndarray
    """(wordings,): samples that each wording asked, in the order in which wordings come first."""
    samples: float | None
    """Variance between samples, at least 0, or None if too few samples were asked in two wordings."""
    wordings: float
    """Variance between wordings, at least 0."""
    rest: float
    """What is left, that of askings among it; where `samples` is None, that of samples too."""
    askings: float
    """The part of the rest that lies between the rows of a cell; 0 where each cell is one row."""

    @property
    def added(self) -> float:
        """Return the variance that wordings add to the mean over all cells, at least 0.

        It is a share greater by one wording in as many as there are: rates of few wordings are skewed, and without that
        the interval covered down to 93 % where nine of ten cases pass.
        """
        return self.wordings / copies(self.cells) * (1 + 1 / len(self.cells))

    @property
    def freedom(self) -> float:
        """Return the degrees of freedom of the variance of a mean that covers wordings: one fewer than there are.

        Few wordings decide how well that variance is known, as the smaller side of two-way clusters does: A. C.
        Cameron, J. B. Gelbach, D. L. Miller, Journal of Business & Economic Statistics 29 (2011) 238-249. Degrees by
        Satterthwaite grow where the wordings happen to be alike, and covered 92 to 95 %.
        """
        return len(self.cells) - 1.0


def estimate_components(values: Any, sample: Any, wording: Any) -> Components | None:
    """Return the variance components of rows, or None if there are fewer than two wordings or too few rows.

    All are (rows,); a row that is NaN does not count. Samples and wordings cross and need not be balanced: what one
    factor explains beside the other is set equal to what it is expected to be (C. R. Henderson, Biometrics 9 (1953)
    226-252, method 3). In balanced data these are the estimates of the two-way analysis of variance.
    """
    values = np.asarray(values, dtype=float)
    known = np.isfinite(values)
    rows, units, own = values[known], _encode_labels(sample, known), _encode_labels(wording, known)
    if not len(rows) or not own.any():
        return None
    many = int(own.max()) + 1
    names, cell, sizes = np.unique(units * many + own, return_inverse=True, return_counts=True)
    y = np.bincount(cell, weights=rows) / sizes
    repeated = len(rows) - len(y)
    askings = float(((rows - y[cell]) ** 2).sum()) / repeated * float((1 / sizes).mean()) if repeated else 0.0
    units, own = names // many, names % many
    parts = _estimate_crossed(y - y.mean(), units, own) or _estimate_nested(y - y.mean(), own)
    return parts and replace(parts, askings=min(askings, parts.rest))


def _encode_labels(labels: Any, known: np.ndarray) -> np.ndarray:
    import pandas as pd

    return np.asarray(pd.factorize(make_labels(labels)[known], use_na_sentinel=False)[0])


def _estimate_crossed(y: np.ndarray, units: np.ndarray, own: np.ndarray) -> Components | None:
    """Return the components if samples were asked in several wordings, which are compared within samples."""
    from scipy.sparse import csr_array

    counts, sizes = np.bincount(own), np.bincount(units)
    cells, many, among = len(y), len(counts), len(sizes)
    met = csr_array((np.ones(cells), (units, own)), shape=(among, many))
    # The normal equations of the wordings, once every sample's own mean is taken out.
    reduced = np.diag(counts.astype(float)) - met.T @ (met / sizes[:, None]) @ np.eye(many)
    centred = y - (np.bincount(units, weights=y) / sizes)[units]
    effects = np.bincount(own, weights=centred, minlength=many)
    solution, _, rank, _ = np.linalg.lstsq(reduced, effects, rcond=PRECISE)
    freedom = cells - among - int(rank)
    if rank < many - 1 or freedom < many - 1:
        return None
    explained = float(effects @ solution)
    left = _square(float(centred @ centred) - explained, y)
    by_wording = y - (np.bincount(own, weights=y) / counts)[own]
    extra = float(by_wording @ by_wording) - left
    # The mean square of the wordings beside the samples, whose mean is `rest + weight * wordings`.
    rest, between, weight = left / freedom, explained / rank, float(np.trace(reduced)) / rank
    return Components(
        cells=counts,
        samples=max(0.0, extra - rest * (among - 1)) / (cells - many),
        wordings=max(0.0, between - rest) / weight,
        rest=rest,
        askings=0.0,
    )


def _estimate_nested(y: np.ndarray, own: np.ndarray) -> Components | None:
    """Return the components if each sample was asked in one wording: between wordings, and the rest."""
    counts = np.bincount(own)
    many, freedom = len(counts), len(y) - len(counts)
    if freedom < 1:
        return None
    means = np.bincount(own, weights=y) / counts
    between = float((counts * means**2).sum()) / (many - 1)
    rest = _square(float(((y - means[own]) ** 2).sum()), y) / freedom
    weight = (len(y) - len(y) / copies(counts)) / (many - 1)
    return Components(
        cells=counts,
        samples=None,
        wordings=max(0.0, between - rest) / weight,
        rest=rest,
        askings=0.0,
    )


def _square(value: float, y: np.ndarray) -> float:
    """Return a sum of squares, or 0 if it is only rounding error."""
    return value if value > PRECISE * float(y @ y) else 0.0


def cover_wordings(share: Share, parts: Components | None, *, wordings: float) -> Share:
    """Return a share whose evidence also covers the choice of the wordings, which are a sample of all wordings.

    The variance of the rate is that over samples, from which the share's effective rows come, plus that of wordings;
    effective rows follow from it with Student's quantile as in `clustered_share`. They are never more than without
    wordings, nor fewer than the wordings. Where rows all agree, or are too few for components, nothing shows how much
    wordings differ: a share of the variance is assumed. Evidence is never stronger than if all rows agreed.

    Args:
        share: of rows, with the design effect of their clusters.
        parts: variance components of the same rows.
        wordings: how many of equal size would tell as much.
    """

    def assume(one: Share) -> Share:
        effective = 1 / (1 / one.effective + ASSUMED / wordings)
        return replace(one, effective=effective, ceiling=wordings / ASSUMED, better=(), worse=())

    rate, rows = share.rate, share.rows
    if parts is None or rate in (0, 1):
        return assume(share)
    few = compute_penalty(rows, share.freedom + 1) if np.isfinite(share.freedom) else 1.0
    variance = rate * (1 - rate) / share.effective * few
    freedom = min(share.freedom, parts.freedom)
    cost = compute_penalty(rows, freedom + 1)
    effective = min(share.effective, rate * (1 - rate) / (variance + parts.added) * cost)
    part = max(effective, min(share.effective, wordings)) / share.effective
    ceiling = rate * (1 - rate) / parts.added * cost if parts.added else np.inf

    def scale(one: Share) -> Share:
        if one.rate in (0, 1):
            return assume(one)
        return replace(one, effective=one.effective * part, freedom=freedom, ceiling=ceiling)

    every, none = (replace(share, true=true, better=(), worse=()) for true in (rows, 0))
    better, worse = (tuple(map(scale, others)) for others in (share.better or (every,), share.worse or (none,)))
    return replace(scale(share), better=better, worse=worse)


def widen(interval: Interval, value: float, parts: Components | None, *, bounds: Interval | None = None) -> Interval:
    """Return the interval of a mean over samples, widened so that it also covers the choice of the wordings.

    It stays as it is where nothing shows how much wordings differ. Each end moves away from the mean as Student's
    interval for both variances is longer than the normal one for that of the samples alone, which is taken from the
    length of the interval.
    """
    from scipy.special import stdtrit

    tail = (1 + CONFIDENCE) / 2
    normal = float(stdtrit(np.inf, tail))
    variance = ((interval.high - interval.low) / 2 / normal) ** 2
    if parts is None or not variance + parts.added:
        return interval
    half = float(stdtrit(parts.freedom, tail)) * (variance + parts.added) ** 0.5
    longer = half / (normal * variance**0.5) if variance else np.inf
    low, high = (
        (value - (value - interval.low) * longer, value + (interval.high - value) * longer)
        if variance
        else (value - half, value + half)
    )
    return Interval(low, high) if bounds is None else Interval(max(bounds.low, low), min(bounds.high, high))
