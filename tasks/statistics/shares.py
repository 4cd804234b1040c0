"""Estimate a share of clustered rows: effective sample size, interval and p values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

CONFIDENCE = 0.95
"""Of two-sided intervals, and of each one-sided bound by itself."""
LEVEL = 1 - CONFIDENCE
"""P values up to this one count."""


class Interval(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A count of true rows among rows in clusters, with their effective number."""

    true: int
    rows: int
    """All rows; at least one."""
    clusters: int
    """Groups of rows that are not independent of each other."""
    effective: float
    """How many independent rows tell as much."""
    freedom: float = np.inf
    """Degrees of freedom of the variance from which that is estimated; without bound where nothing is."""
    ceiling: float = np.inf
    """Effective rows that further rows like these stay below, since they come in the same wordings."""
    better: tuple[Share, ...] = ()
    """What it would be with fewer false rows: no evidence that a gate is reached is stronger than theirs."""
    worse: tuple[Share, ...] = ()
    """What it would be with fewer true rows: no evidence that a gate is missed is stronger than theirs."""

    @property
    def rate(self) -> float:
        """Share of true rows, 0 to 1."""
        return self.true / self.rows

    @property
    def design_effect(self) -> float:
        """Rows over effective rows, at least 1."""
        return self.rows / self.effective


def make_independent(true: int, rows: int) -> Share:
    """Return a share of independent rows."""
    return Share(true=true, rows=rows, clusters=rows, effective=float(rows))


def clustered_share(true: Any, cluster: Any) -> Share:
    """Return the share of true rows with the design effect of their clusters, the rows with the same label.

    The effective number of rows is p(1-p)/v, with v the variance of the rate, times the squared ratio of the t
    quantiles for rows and for v: E. L. Korn, B. I. Graubard, Survey Methodology 24 (1998) 193-201. It is never larger
    than the number of rows, nor smaller than if the rows of each cluster were copies of one.
    """
    import pandas as pd

    codes, labels = pd.factorize(make_labels(cluster))
    sums, sizes = np.bincount(codes, weights=np.asarray(true, dtype=float)), np.bincount(codes)
    whole = _share(sums, sizes)
    if len(labels) == len(codes):
        return whole
    worse = [replace(part, true=part.rows - part.true) for part in _improve(sizes - sums, sizes)]
    return replace(whole, better=_improve(sums, sizes), worse=tuple(worse))


def make_labels(cluster: Any) -> np.ndarray:
    """Return labels as an array; numbers stay numbers, because comparing them is several times faster."""
    import pandas as pd

    return np.asarray(pd.Series(cluster))


def _share(sums: np.ndarray, sizes: np.ndarray) -> Share:
    """Return the share with its effective rows, and their degrees of freedom."""
    rows, clusters, freedom = float(sizes.sum()), len(sizes), np.inf
    rate = float(sums.sum()) / rows
    if clusters == rows:
        effective = rows
    elif clusters == 1 or rate in (0, 1):
        effective = copies(sizes)
    else:
        variance, freedom = compute_spread(sums, sizes)
        effective = rows
        if variance:
            effective = min(rows, max(copies(sizes), rate * (1 - rate) / variance * compute_penalty(rows, freedom + 1)))
    true = round(float(sums.sum()))
    return Share(true=true, rows=int(rows), clusters=clusters, effective=effective, freedom=freedom)


def _improve(sums: np.ndarray, sizes: np.ndarray) -> tuple[Share, Share]:
    """Return two best cases: false rows only in the cluster with the most of them, and no false rows at all.

    If hardly a row is false, the variance may grow when one more row becomes true: evidence must not shrink.
    """
    false = sizes - sums
    most = np.flatnonzero(false == false.max())
    worst = most[np.argmax(sizes[most])]
    one = sizes.astype(float)
    one[worst] = sums[worst]
    return _share(one, sizes), _share(sizes.astype(float), sizes)


def compute_penalty(rows: float, clusters: float) -> float:
    """Return the penalty for few clusters: the squared ratio of t quantiles for rows and clusters, at most 1."""
    from scipy.special import stdtrit

    tail = (1 + CONFIDENCE) / 2
    return float(stdtrit(rows - 1, tail) / stdtrit(clusters - 1, tail)) ** 2


def wilson(share: Share, *, confidence: float = CONFIDENCE) -> Interval:
    """Return the two-sided Wilson score interval on the effective rows, by default 95 %.

    Source: E. B. Wilson, JASA 22 (1927) 209-212.
    """
    from scipy.special import ndtri

    if confidence >= 1:
        # A look that decides so seldom leaves nothing out.
        return Interval(0.0, 1.0)
    low, high = wilson_ends(share.rate, share.effective, -float(ndtri((1 - confidence) / 2)))
    return _around(share, low, high)


def wilson_ends(rate: Any, rows: Any, quantile: float) -> tuple[Any, Any]:
    """Return both ends of Wilson's intervals of rates over effective rows, numbers or arrays."""
    shrunk = 1 + quantile**2 / rows
    centre = (rate + quantile**2 / (2 * rows)) / shrunk
    half = quantile * (rate * (1 - rate) / rows + quantile**2 / (4 * rows**2)) ** 0.5 / shrunk
    return centre - half, centre + half


def exact(share: Share, level: float = LEVEL) -> Interval:
    """Return one-sided bounds on the effective rows: the rate is at least `low`; separately, it is at most `high`.

    Each errs at most as often as the level says: C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413.
    """
    from scipy.special import betainccinv, betaincinv

    true = share.rate * share.effective
    low = float(betaincinv(true, share.effective - true + 1, level))
    return _around(share, low, float(betainccinv(true + 1, share.effective - true, level)))


def _around(share: Share, low: float, high: float) -> Interval:
    """Return an interval that contains the rate despite rounding; an end that is NaN becomes the rate."""
    return Interval(max(0.0, float(np.fmin(low, share.rate))), min(1.0, float(np.fmax(high, share.rate))))


class Evidence(NamedTuple):
    """Bounds and p values of a share against a gate."""

    bounds: Interval
    """One-sided bounds, 95 % unless told otherwise: the rate is at least `low`; separately, it is at most `high`."""
    reached: float
    """p value of a rate this high or higher, if the true one lay at the gate."""
    missed: float
    """p value of a rate this low or lower, if the true one lay at the gate."""


def evidence(share: Share, gate: float, *, level: float = LEVEL) -> Evidence:
    """Return one-sided bounds and p values of a share against a gate from 0 to 1; the bounds leave out `level`.

    Exact by the binomial distribution: C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413. Wilson's bound lets
    a gate at its boundary pass too often: 9 of 10 against 0.65 occur in 8.6 %, and of 100 to 400 rows a gate of 0.95
    is passed in up to 6.2 % and failed in up to 8.4 %. A bound reaches the gate where the p value is the level.

    In clusters the evidence is never stronger than if only the worst cluster had false rows, or none had. Of 20
    clusters of 5 rows, 98 true ones would otherwise tell more about a gate of 0.9 than 100, whose clusters may be
    copies for all that is known, and a gate at its boundary passed in 9.5 % at a correlation of 0.6.
    """
    from scipy.special import betainc, betaincc

    # Tails of the binomial distribution are those of the beta distribution: effective rows are no whole number.
    def p_reached(one: Share) -> float:
        true, false = one.effective * one.rate, one.effective * (1 - one.rate)
        return float(betainc(true, false + 1, gate)) if one.true else 1.0

    def p_missed(one: Share) -> float:
        true, false = one.effective * one.rate, one.effective * (1 - one.rate)
        return float(betaincc(true + 1, false, gate)) if one.true < one.rows else 1.0

    up, down = (share, *share.better), (share, *share.worse)
    return Evidence(
        bounds=Interval(min(exact(one, level).low for one in up), max(exact(one, level).high for one in down)),
        reached=max(map(p_reached, up)) if gate else 0.0,  # no true rate lies under a gate of 0
        missed=max(map(p_missed, down)),
    )


def fisher(first: Share, second: Share) -> float:
    """Return the two-sided p value of the difference of two shares, by Fisher's exact test on effective rows."""
    from scipy.stats import fisher_exact

    counts = [(share.rate * share.effective, (1 - share.rate) * share.effective) for share in (first, second)]
    return float(fisher_exact(np.rint(counts).astype(int)).pvalue)


class Spread(NamedTuple):
    """The variance of a mean with its degrees of freedom."""

    variance: float
    """Of the mean itself, not of the rows."""
    freedom: float
    """Its degrees of freedom, at least 1."""


def copies(sizes: np.ndarray) -> float:
    """Return the effective rows if each cluster holds copies of one row: n²/Σm², L. Kish, Survey Sampling (1965)."""
    return float(sizes.sum()) ** 2 / float((sizes.astype(float) ** 2).sum())


def compute_spread(sums: np.ndarray, sizes: np.ndarray) -> Spread:
    """Return the variance of the mean sum(sums)/sum(sizes) over at least two clusters.

    The variance is the jackknife's, one cluster left out at a time: B. Efron, R. Tibshirani, An Introduction to the
    Bootstrap (1993), chapter 11. Few clusters decide it where a rate lies near 0 or 1, or where sizes differ. Therefore
    its degrees of freedom are Satterthwaite's (Biometrics Bulletin 2 (1946) 110-114) with the spread of the squares
    themselves, as in W. Pan, M. M. Wall, Statistics in Medicine 21 (2002) 1429-1441. With clusters - 1 instead, a gate
    of 0.95 at its boundary passed 8 % of the time under a correlation of 0.6.
    """
    rows, clusters = float(sizes.sum()), len(sizes)
    squares = ((sums - float(sums.sum()) / rows * sizes) / (1 - sizes / rows)) ** 2
    total = float(squares.sum())
    varying = float((squares**2).sum()) - total**2 / clusters
    freedom = 2 * total**2 / varying if varying > 0 else np.inf
    return Spread((clusters - 1) / clusters * total / rows**2, max(1.0, min(freedom, copies(sizes) - 1)))
