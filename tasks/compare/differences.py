"""How much more often one model passes than another, on the same cases, and how sure that is."""

from __future__ import annotations

import numpy as np

from contrapose.tasks.comparison import Difference
from contrapose.tasks.statistics.means import MOST_GROUPS, SEED, difference
from contrapose.tasks.statistics.paired import mcnemar
from contrapose.tasks.statistics.shares import CONFIDENCE, Interval

ONE_SIDED = 2 * CONFIDENCE - 1
"""Confidence of the two-sided interval whose ends are one-sided 95 % bounds."""

FLIPS = 9_999
"""Ways to flip the signs that are tried, at random where there are more."""
PORTION = 500
"""Flips that are in memory at a time."""

MCNEMAR = "exact McNemar test"
SIGN_FLIPS = "sign flips of clusters"


def paired(first: np.ndarray, second: np.ndarray, cluster: np.ndarray) -> Difference:
    """The difference over cases that both models scored; at least one.

    Args:
        first: (cases,) of 0 and 1, or of shares where a case was repeated.
        second: (cases,), likewise.
        cluster: (cases,) of codes.

    Independent cases that are 0 or 1 have the exact McNemar test; all others one that flips the signs of the clusters'
    differences, as exchanging the two models in a cluster does. McNemar's test is the same with one case a cluster:
    P. Good, Permutation, Parametric, and Bootstrap Tests of Hypotheses (2005), chapter 3.
    """
    plain = bool(np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all())
    independent = plain and len(np.unique(cluster)) == len(cluster)
    return Difference(
        value=float(np.mean(first - second)),
        interval=_interval(first, second, cluster, CONFIDENCE),
        bounds=_interval(first, second, cluster, ONE_SIDED),
        p=mcnemar(first == 1, second == 1).p if independent else _sign_flips(first - second, cluster),
        adjusted=None,
        method=MCNEMAR if independent else SIGN_FLIPS,
    )


def _interval(first: np.ndarray, second: np.ndarray, cluster: np.ndarray, confidence: float) -> Interval | None:
    found = difference(first, second, cluster, share=True, confidence=confidence)
    return found.interval if found else None


def _sign_flips(differences: np.ndarray, cluster: np.ndarray) -> float | None:
    """Two-sided p value; clusters beyond a number are pooled at random, since groups of them may be flipped as well."""
    from scipy.stats import permutation_test

    sums = np.bincount(np.unique(cluster, return_inverse=True)[1], weights=differences)
    if len(sums) > MOST_GROUPS:
        group = np.random.default_rng(SEED).permutation(len(sums)) % MOST_GROUPS
        sums = np.bincount(group, weights=sums)
    if len(sums) < 2:
        return None
    moved = sums[sums != 0]
    if len(moved) < 2:
        return 1.0
    found = permutation_test(
        (moved,),
        lambda values, axis: values.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=FLIPS,
        batch=PORTION,
        rng=np.random.default_rng(SEED),
    )
    return float(found.pvalue)
