"""Intervals and gates of a test that asks in several wordings, where the rate over all wordings is known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from bench.simulated.draws import Finding, covered, labels
from contrapose.tasks.evaluate.rates import Rate, RowOrigin, compute_rate
from contrapose.tasks.statistics.components import estimate_components, widen
from contrapose.tasks.statistics.means import mean
from contrapose.tasks.statistics.shares import Interval, clustered_share, wilson

COUNTS = (6, 10)
"""Wordings of a test."""
SPREADS = (0.0, 0.02, 0.1, 0.25)
"""Shares of the variance of the latent answer that lie between wordings."""
RATES = (0.5, 0.7, 0.9)
EACH = 2
"""Wordings of each sample."""
OF_CLUSTER, OF_SAMPLE, OF_BOTH = 0.1, 0.3, 0.1
"""Shares between clusters, between the samples of a cluster, and of one sample in one wording."""
LEVEL = 0.05
MEANS = 500
"""Runs of means, whose bootstrap takes long."""
BAD = 0.2
"""Share of wordings that are bad ones, where they are of two kinds."""


class Drawn(NamedTuple):
    """Rows of one run."""

    true: np.ndarray
    cluster: np.ndarray
    sample: np.ndarray
    wording: np.ndarray


def wordings(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """Coverage over all wordings, false verdicts at the gate, and what an interval over one wording covers."""
    for count, spread, rate in product(COUNTS, SPREADS, RATES):
        yield from _findings(sizes, runs, count=count, spread=spread, rate=rate, kind="normal")
    for count, rate in product(COUNTS, RATES[1:]):
        yield from _findings(sizes, runs, count=count, spread=0.1, rate=rate, kind="two kinds")
        yield from _findings(sizes, runs, count=count, spread=0.1, rate=rate, kind="one each")
    for count, spread in product(COUNTS, SPREADS):
        yield _of_means(sizes, min(runs, MEANS), count=count, spread=spread)


def _findings(sizes: np.ndarray, runs: int, *, count: int, spread: float, rate: float, kind: str) -> Iterator[Finding]:
    """The figures of one cell. Bars are for wordings that differ as a normal distribution does, not for two kinds."""
    rng = np.random.default_rng([9, count, int(100 * spread), int(100 * rate), len(kind)])
    held, passed, failed, held_one, held_samples = np.zeros((5, runs))
    for run in range(runs):
        rows = _draw(rng, sizes, count, spread, rate, kind)
        own = _rate(rows, rate)
        held[run], passed[run], failed[run] = covered(own.interval, rate), own.reached <= LEVEL, own.missed <= LEVEL
        held_samples[run] = covered(wilson(clustered_share(rows.true, rows.cluster)), rate)
        one = _draw(rng, sizes, 1, spread, rate, kind)
        held_one[run] = covered(wilson(clustered_share(one.true, one.cluster)), rate)
    name = f"{count} wordings {spread:g} of the variance, rate {rate:g}, {kind}"
    bars = kind != "two kinds"
    error = (LEVEL * (1 - LEVEL) / runs) ** 0.5
    low, high = (0.94, LEVEL + error) if bars else (-np.inf, np.inf)
    yield Finding(name=f"{name}: interval", value=float(held.mean()), low=low)
    yield Finding(name=f"{name}: false pass", value=float(passed.mean()), high=high)
    yield Finding(name=f"{name}: false fail", value=float(failed.mean()), high=high)
    yield Finding(name=f"{name}: interval over samples alone", value=float(held_samples.mean()))
    most = 0.8 if bars and spread else np.inf
    yield Finding(name=f"{name}: interval over one wording", value=float(held_one.mean()), high=most)


def _draw(rng: np.random.Generator, sizes: np.ndarray, count: int, spread: float, rate: float, kind: str) -> Drawn:
    """Rows whose latent answers add up of clusters, samples, wordings, and a rest; each passes below a threshold."""
    from scipy.special import ndtri

    samples, each = int(sizes.sum()), 1 if kind == "one each" else min(EACH, count)
    sample = np.repeat(np.arange(samples), each)
    # Each sample gets its first wordings in an order of its own, as where no share is full yet.
    own = rng.permuted(np.tile(np.arange(count), (samples, 1)), axis=1)[:, :each].ravel()
    cluster = labels(sizes)[sample]
    other = 1 - OF_CLUSTER - OF_SAMPLE - OF_BOTH - spread
    latent = rng.normal(0, OF_CLUSTER**0.5, len(sizes))[cluster] + rng.normal(0, OF_SAMPLE**0.5, samples)[sample]
    latent += rng.normal(0, (OF_BOTH + other) ** 0.5, len(sample))
    if kind != "two kinds":
        return Drawn(latent + rng.normal(0, spread**0.5, count)[own] < ndtri(rate), cluster, sample, own)
    worse, better = rate - 0.3 * (1 - BAD), rate + 0.3 * BAD
    own_rate = np.where(rng.random(count) < BAD, worse, min(better, 1.0))
    latent /= (1 - spread) ** 0.5
    return Drawn(latent < ndtri(own_rate)[own], cluster, sample, own)


def _rate(rows: Drawn, gate: float) -> Rate:
    found = compute_rate("x", rows.true, rows.cluster, wanted=gate, asked=RowOrigin(rows.sample, rows.wording))
    if found is None:
        raise AssertionError("rows have a rate")
    return found


def _of_means(sizes: np.ndarray, runs: int, *, count: int, spread: float) -> Finding:
    """How often the interval of a mean over rows, by the bootstrap, covers the rate over all wordings."""
    rng, held, rate = np.random.default_rng([10, count, int(100 * spread)]), np.zeros(runs), 0.7
    for run in range(runs):
        rows = _draw(rng, sizes, count, spread, rate, "normal")
        own = mean(rows.true.astype(float), rows.cluster, bounds=(0.0, 1.0))
        if own is None or own.interval is None:
            raise AssertionError("rows have a mean with an interval")
        parts = estimate_components(rows.true, rows.sample, rows.wording)
        held[run] = covered(widen(own.interval, own.value, parts, bounds=Interval(0.0, 1.0)), rate)
    name = f"{count} wordings {spread:g} of the variance, rate {rate:g}: mean"
    return Finding(name=name, value=float(held.mean()), low=0.94)
