"""Answers whose true rates are known, in clusters of given sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

RATES = (0.25, 0.5, 0.65, 0.85, 0.95)
CORRELATIONS = (0.0, 0.1, 0.3, 0.6)
GATES = (0.5, 0.65, 0.7, 0.8, 0.9, 0.95)
KINDS = ("beta", "copies")
"""How rows of a cluster are made alike: by a rate of its own, or by rows that copy one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A figure beside what it must reach, or alone, to be compared with another."""

    name: str
    value: float
    low: float = -np.inf
    high: float = np.inf

    @property
    def holds(self) -> bool:
        return self.low <= self.value <= self.high

    @property
    def bars(self) -> list[str]:
        low = [f"at least {self.low:g}"] if self.low > -np.inf else []
        return low + ([f"at most {self.high:g}"] if self.high < np.inf else [])

    def __str__(self) -> str:
        if not self.bars:
            return f"     {self.name}: {self.value:.4f}"
        return f"{'ok  ' if self.holds else 'MISS'} {self.name}: {self.value:.4f} ({', '.join(self.bars)})"


class Both(NamedTuple):
    """Two answers to the same question, (runs, rows) of booleans, and what is true of them."""

    first: np.ndarray
    second: np.ndarray
    mean: float
    difference: float


def labels(sizes: np.ndarray) -> np.ndarray:
    """The cluster of each row."""
    return np.repeat(np.arange(len(sizes)), sizes)


def answers(
    rng: np.random.Generator, sizes: np.ndarray, rate: float, alike: float, *, kind: str, runs: int
) -> np.ndarray:
    """(runs, rows) of booleans with a rate, and a correlation of the rows of a cluster."""
    cluster, shape = labels(sizes), (runs, int(sizes.sum()))
    if not alike:
        return rng.random(shape) < rate
    if kind == "beta":
        spread = (1 - alike) / alike
        own = rng.beta(rate * spread, (1 - rate) * spread, (runs, len(sizes)))
        return rng.random(shape) < own[:, cluster]
    copied = (rng.random((runs, len(sizes))) < alike)[:, cluster]
    one = (rng.random((runs, len(sizes))) < rate)[:, cluster]
    return np.where(copied, one, rng.random(shape) < rate)


def pairs(rng: np.random.Generator, sizes: np.ndarray, rate: float, alike: float, *, runs: int) -> Both:
    """Six of ten second answers repeat the first; the others have a lower rate, and clusters of their own."""
    lower, kept = rate - 0.1, 0.6
    first = answers(rng, sizes, rate, alike, kind="beta", runs=runs)
    other = answers(rng, sizes, lower, alike, kind="beta", runs=runs)
    second = np.where(rng.random(first.shape) < kept, first, other)
    true = kept * rate + (1 - kept) * lower
    return Both(first, second, (rate + true) / 2, rate - true)


def totals(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """(runs, rows) to the sums of clusters, (runs, clusters)."""
    return np.add.reduceat(values.astype(float), np.r_[0, np.cumsum(sizes)[:-1]], axis=1)


def covered(interval: tuple[float, float] | None, true: float) -> bool:
    """Whether an interval holds what is true; none never does."""
    return interval is not None and interval[0] <= true <= interval[1]
