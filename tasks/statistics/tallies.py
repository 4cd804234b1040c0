"""Compute the evidence of many simulated runs at once, as clusters are added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from contrapose.tasks.statistics.looks import adjust_for_clusters
from contrapose.tasks.statistics.shares import CONFIDENCE

POWERS = np.arange(1, 5)
ROUNDING = 1e-12
"""Of a sum of squares, what computing it may leave where nothing varies."""
LEAST = 1e-300
"""Instead of no true rows at all, for a distribution that has no limit there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Running sums over the clusters of many simulated runs, from which evidence is computed."""

    sizes: np.ndarray
    """(kinds,): sizes that clusters have, without repetition."""
    clusters: np.ndarray
    """(kinds,): how many clusters have each; (runs, kinds) where the runs differ in it."""
    sums: np.ndarray
    """(runs, powers, kinds): of the first four powers of the true rows in a cluster, over the clusters of each size."""
    most_false: np.ndarray
    """(runs, 2): the most false rows of a cluster, and the largest size of those that have so many."""
    most_true: np.ndarray
    """(runs, 2): the same of true rows."""

    def plus(self, true: np.ndarray, sizes: np.ndarray) -> Tally:
        """Return the tally with further clusters: (runs, clusters) of true rows, (clusters,) of sizes."""
        kinds = np.union1d(self.sizes, sizes)
        kind = (sizes[:, None] == kinds).astype(float)
        before = (self.sizes[:, None] == kinds).astype(float)
        added = np.stack([true.astype(float) ** power @ kind for power in POWERS], axis=1)
        return Tally(
            sizes=kinds,
            clusters=self.clusters @ before + kind.sum(axis=0),
            sums=self.sums @ before + added,
            most_false=_largest_cluster(self.most_false, sizes - true, sizes),
            most_true=_largest_cluster(self.most_true, true, sizes),
        )

    def of(self, runs: np.ndarray) -> Tally:
        """Return the tally of some runs, chosen by booleans (runs,) or positions."""
        parts = {name: getattr(self, name)[runs] for name in ("sums", "most_false", "most_true")}
        return replace(self, **parts)

    @property
    def rows(self) -> np.ndarray:
        """Rows in all clusters: a number, or (runs,)."""
        return np.asarray(self.clusters @ self.sizes)

    @property
    def groups(self) -> np.ndarray:
        """Clusters: a number, or (runs,)."""
        return np.asarray(self.clusters.sum(axis=-1))

    @property
    def true(self) -> np.ndarray:
        """(runs,): true rows."""
        return np.asarray(self.sums[:, 0].sum(axis=1))

    @property
    def single(self) -> bool:
        """Return whether every cluster is one row."""
        return bool(np.all(self.groups == self.rows))

    @property
    def copied_rows(self) -> np.ndarray:
        """Effective rows if each cluster held copies of one row: a number, or (runs,)."""
        return np.asarray(self.rows**2 / (self.clusters @ self.sizes**2))


NOTHING = Tally(
    sizes=np.zeros(0),
    clusters=np.zeros(0),
    sums=np.zeros((1, len(POWERS), 0)),
    most_false=np.zeros((1, 2)),
    most_true=np.zeros((1, 2)),
)
"""Before any cluster has come in, for any number of runs."""


class Evidences(NamedTuple):
    """P values of many runs against a gate, each of shape (runs,)."""

    reached: np.ndarray
    """`evidence(clustered(…), gate).reached` of each run."""
    missed: np.ndarray
    """The other one."""
    freedom: np.ndarray
    """Degrees of freedom behind them, `clustered(…).freedom`."""

    def at_looks(self) -> Evidences:
        """Return the p values corrected for few clusters as `Looks` does, for looks before the last."""
        reached, missed = (adjust_for_clusters(p, self.freedom) for p in (self.reached, self.missed))
        return Evidences(reached, missed, self.freedom)


def compute_evidences(tally: Tally, gate: float) -> Evidences:
    """Return the evidence for and against a gate in each run."""
    worth, freedom = _effective_rows(tally)
    up = _p_values(tally, tally.true, worth, tally.most_false, gate) if gate else np.zeros(len(worth))
    return Evidences(up, _p_values(tally, tally.rows - tally.true, worth, tally.most_true, 1 - gate), freedom)


def _largest_cluster(before: np.ndarray, rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the cluster with the most of such rows, the largest of several, among those before and the further."""
    highest = rows.max(axis=1, keepdims=True)
    largest = np.where(rows == highest, sizes, 0).max(axis=1, keepdims=True)
    further = np.concatenate([highest, largest], axis=1)
    more = (further[:, :1] > before[:, :1]) | ((further[:, :1] == before[:, :1]) & (further[:, 1:] > before[:, 1:]))
    return np.where(more, further, before)


def _p_values(tally: Tally, true: np.ndarray, worth: np.ndarray, worst: np.ndarray, gate: float) -> np.ndarray:
    """Return p values; `worst` is the cluster that keeps its false rows if all others have none, as in `clustered`."""
    from scipy.special import betainc

    def tail(true: np.ndarray, worth: np.ndarray) -> np.ndarray:
        # The binomial distribution's tail, by the beta distribution.
        rate = true / tally.rows
        return np.where(true > 0, betainc(np.maximum(worth * rate, LEAST), worth * (1 - rate) + 1, gate), 1.0)

    whole = tail(true, worth)
    if tally.single:
        return whole
    one = tail(tally.rows - worst[:, 0], _effective_of_one(tally, worst))
    none = tail(*(np.broadcast_to(value, true.shape) for value in (tally.rows, tally.copied_rows)))
    return np.asarray(np.maximum(whole, np.maximum(one, none)))


def _effective_rows(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """Return the effective rows of each run as `clustered` does, and their freedom; false rows count as true ones."""
    runs = len(tally.sums)
    if tally.single or np.all(tally.groups == 1):
        return np.broadcast_to(tally.copied_rows, runs), np.full(runs, np.inf)
    rate, weights = (tally.true / tally.rows)[:, None], _weights(tally, tally.sizes)
    first, second, third, fourth = np.moveaxis(tally.sums, 1, 0)
    expected = rate * tally.sizes
    squares = second - 2 * expected * first + expected**2 * tally.clusters
    fourths = fourth - 4 * expected * third + 6 * expected**2 * second - 4 * expected**3 * first
    fourths = fourths + expected**4 * tally.clusters
    return _worth(tally, rate[:, 0], (squares * weights).sum(axis=1), (fourths * weights**2).sum(axis=1))


def _weights(tally: Tally, sizes: np.ndarray) -> np.ndarray:
    """Return the jackknife's weights of clusters of these sizes; 0 of one that is all of its run."""
    others = 1 - sizes / tally.rows[..., None]
    return np.where(others > 0, np.where(others > 0, others, 1.0) ** -2, 0.0)


def _effective_of_one(tally: Tally, worst: np.ndarray) -> np.ndarray:
    """Return effective rows and freedom if only one cluster had false rows: (runs, 2) of their number and its size."""
    if np.all(tally.groups == 1):
        return np.broadcast_to(tally.copied_rows, len(worst))
    false, size = worst[:, 0], worst[:, 1]
    missing = false / tally.rows
    weights, own = _weights(tally, tally.sizes), _weights(tally, size[:, None])[:, 0]
    squares, fourths = (
        missing**power * (tally.sizes**power * weights ** (power / 2) * tally.clusters).sum(axis=-1)
        + own ** (power / 2) * ((missing * size - false) ** power - (missing * size) ** power)
        for power in (2, 4)
    )
    return _worth(tally, 1 - missing, squares, fourths)[0]


def _worth(tally: Tally, rate: np.ndarray, squares: np.ndarray, fourths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return effective rows and freedom, from the sums of the jackknife's squares and of their squares."""
    from scipy.special import stdtrit

    rows, clusters, copied = tally.rows, tally.groups, tally.copied_rows
    total = np.maximum(squares, 0.0)
    varying = fourths - total**2 / clusters
    variance, tail = (clusters - 1) / clusters * total / rows**2, (1 + CONFIDENCE) / 2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        freedom = np.where(varying > ROUNDING * total**2, 2 * total**2 / varying, np.inf)
        freedom = np.clip(freedom, None, copied - 1).clip(min=1.0)
        few = (stdtrit(rows - 1, tail) / stdtrit(freedom, tail)) ** 2
        worth = np.minimum(rows, np.maximum(copied, rate * (1 - rate) / variance * few))
    equal = (rate == 0) | (rate == 1) | (clusters == 1)
    return np.where(equal, copied, np.where(variance == 0, rows, worth)), np.where(equal, np.inf, freedom)
