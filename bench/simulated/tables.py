"""The project's paired statistics beside those of scipy and statsmodels, on random tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.simulated.draws import Finding
from contrapose.tasks.statistics.families import mcnemar
from contrapose.tasks.statistics.means import FEW, difference


def agreement(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """Largest difference of McNemar's p values, and of the ends of bootstrap intervals in widths of the interval."""
    rng = np.random.default_rng(5)
    apart: list[tuple[float, float]] = []
    ends: list[float] = []
    for number in range(runs):
        first, second = _table(rng)
        apart.append(_tests_apart(first, second))
        if (first != second).sum() >= FEW:
            ends.append(_ends_apart(first, second, number))
    yield Finding(name="McNemar against statsmodels", value=max(each[0] for each in apart), high=1e-9)
    yield Finding(name="McNemar against scipy's binomial test", value=max(each[1] for each in apart), high=1e-9)
    yield Finding(name=f"bootstrap against scipy, median of {len(ends)}", value=float(np.median(ends)), high=0.05)
    yield Finding(name="bootstrap against scipy, 99th percentile", value=float(np.quantile(ends, 0.99)), high=0.15)


def _table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two answers to 40 to 400 questions, with any mixture of the four ways to agree and to differ."""
    kinds = rng.choice(4, size=int(rng.integers(40, 401)), p=rng.dirichlet(np.ones(4)))
    return kinds % 2 == 1, kinds >= 2


def _tests_apart(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    from scipy.stats import binomtest
    from statsmodels.stats.contingency_tables import mcnemar as exact

    own = mcnemar(first, second)
    counts = [[int((~first & ~second).sum()), own.only_second], [own.only_first, int((first & second).sum())]]
    differ = own.only_first + own.only_second
    binomial = binomtest(own.only_first, differ).pvalue if differ else 1.0
    return abs(own.p - min(1.0, float(exact(counts, exact=True).pvalue))), abs(own.p - binomial)


def _ends_apart(first: np.ndarray, second: np.ndarray, seed: int) -> float:
    from scipy.stats import bootstrap

    values = first.astype(float) - second
    own = difference(first, second, np.arange(len(values)), share=True)
    assert own is not None
    assert own.interval is not None
    theirs = bootstrap((values,), np.mean, n_resamples=1999, method="percentile", rng=np.random.default_rng(seed + 1))
    low, high = theirs.confidence_interval
    return max(abs(own.interval.low - low), abs(own.interval.high - high)) / (high - low)
