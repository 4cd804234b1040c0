"""How often nominal 95 % intervals hold what is true."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from bench.simulated.draws import CORRELATIONS, KINDS, RATES, Both, Finding, answers, covered, labels, pairs, totals
from contrapose.tasks.statistics import means
from contrapose.tasks.statistics.means import Mean, difference, mean
from contrapose.tasks.statistics.shares import CONFIDENCE, clustered_share, wilson

BAR = {"low": 0.93, "high": 0.97}
CHECKED = 5
"""Runs of each cell for which the vectorised bootstrap must give the project's own interval."""


def coverage(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """Of shares, of means and of differences, in each cell of rate and correlation."""
    for rate, alike, kind in product(RATES, CORRELATIONS, KINDS):
        rng = np.random.default_rng([1, int(100 * rate), int(10 * alike)])
        found = answers(rng, sizes, rate, alike, kind=kind, runs=runs)
        cluster = labels(sizes)
        held = np.mean([covered(wilson(clustered_share(each, cluster)), rate) for each in found])
        yield Finding(name=f"share {rate} alike {alike} {kind}", value=float(held), **BAR)
    weights = _weights(len(sizes))
    for rate, alike in product(RATES, CORRELATIONS):
        rng = np.random.default_rng([2, int(100 * rate), int(10 * alike)])
        both = pairs(rng, sizes, rate, alike, runs=runs)
        held_mean, held_difference = _of_means(both, sizes, weights), _of_differences(both, sizes, weights)
        yield Finding(name=f"mean {rate} alike {alike}", value=held_mean, **BAR)
        yield Finding(name=f"difference {rate} alike {alike}", value=held_difference, **BAR)


def _of_means(both: Both, sizes: np.ndarray, weights: np.ndarray) -> float:
    values, cluster = (both.first + both.second.astype(float)) / 2, labels(sizes)
    found = _drawn(values, sizes, weights)
    for each, interval in zip(values[:CHECKED], found, strict=False):
        _same(mean(each, cluster), interval)
    return float(np.mean((found[:, 0] <= both.mean) & (both.mean <= found[:, 1])))


def _of_differences(both: Both, sizes: np.ndarray, weights: np.ndarray) -> float:
    values, cluster = both.first.astype(float) - both.second, labels(sizes)
    found = _drawn(values, sizes, weights)
    few = np.array([means.is_nearly_constant(each, cluster) for each in values])
    for run in (*np.flatnonzero(few), *range(CHECKED)):
        own = difference(both.first[run], both.second[run], cluster, share=True)
        if few[run] and own is not None and own.interval is not None:
            found[run] = own.interval
        _same(own, found[run])
    return float(np.mean((found[:, 0] <= both.difference) & (both.difference <= found[:, 1])))


def _weights(clusters: int) -> np.ndarray:
    """How often the project's bootstrap draws each cluster in each resample: (resamples, clusters)."""
    drawn = np.random.default_rng(means.SEED).integers(0, clusters, (means.RESAMPLES, clusters))
    return np.array([np.bincount(each, minlength=clusters) for each in drawn], dtype=float)


def _drawn(values: np.ndarray, sizes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(runs, 2) of interval ends: the project's bootstrap for many runs at once, and alone where it draws more."""
    sums, cluster = totals(values, sizes), labels(sizes)
    tails = np.array([means.widen_tail(CONFIDENCE, each, sizes) for each in sums])
    drawn = np.sort((sums @ weights.T) / (weights @ sizes), axis=1)
    found = np.array([np.quantile(each, [tail, 1 - tail]) for each, tail in zip(drawn, tails, strict=True)])
    for run, tail in enumerate(tails):
        if means.count_resamples(tail, len(sizes)) > means.RESAMPLES:
            own = mean(values[run], cluster)
            found[run] = own.interval if own and own.interval else np.nan
    return found


def _same(own: Mean | None, interval: np.ndarray) -> None:
    if own is None or own.interval is None or not np.allclose(own.interval, interval, atol=1e-9):
        raise AssertionError(f"{own} is not {interval}")
