"""The evidence of many runs at once at every look, from sums that grow with each portion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bench.simulated.draws import Finding
from contrapose.tasks.statistics.evidence import evidence
from contrapose.tasks.statistics.looks import SPARED, TAIL, Looks
from contrapose.tasks.statistics.shares import CONFIDENCE, clustered

LARGEST = 8
"""Cases of a cluster at most; sizes are uniform."""
ALIKE = 0.3
"""Correlation of the cases of a cluster."""
WANTED = 0.7
"""The gate."""
SIZES = np.arange(1, LARGEST + 1)
POWERS = np.arange(1, 5)
NO_SPREAD = 1e-9
"""Sums of squares below this are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The clusters in the order in which they are asked, and after how many of them one looks."""

    sizes: np.ndarray
    """(clusters,) cases of each."""
    after: list[int]
    """Clusters judged at each look, the last one all."""

    @property
    def asked(self) -> np.ndarray:
        """Cases judged at each look."""
        return np.asarray(np.cumsum(self.sizes)[np.array(self.after) - 1])

    @property
    def shares(self) -> tuple[float, ...]:
        """Of all cases."""
        return tuple((self.asked / self.sizes.sum()).tolist())


def planned(cases: int, portion: int, *, alone: bool) -> Design:
    """Clusters of one case, or of one to eight, and a look after each portion that is full."""
    sizes = np.ones(cases, dtype=int)
    if not alone:
        drawn = np.random.default_rng(cases).integers(1, LARGEST + 1, cases)
        sizes = drawn[: int(np.searchsorted(np.cumsum(drawn), cases)) + 1]
        sizes[-1] -= sizes.sum() - cases
    after: list[int] = []
    asked, judged = 0, 0
    for number, size in enumerate(sizes, start=1):
        asked += int(size)
        if asked - judged >= portion or number == len(sizes):
            after, judged = [*after, number], asked
    return Design(sizes=sizes, after=after)


def passed_cases(design: Design, rate: float, alike: float, *, rows: int, seed: int = 0) -> np.ndarray:
    """(rows, clusters) of passed cases, their number in each cluster."""
    rng = np.random.default_rng([7, int(1000 * rate), int(10 * alike), seed])
    own: float | np.ndarray = rate
    if alike:
        spread = (1 - alike) / alike
        own = rng.beta(rate * spread, (1 - rate) * spread, (rows, len(design.sizes)))
    return rng.binomial(design.sizes, own, (rows, len(design.sizes))).astype(np.int8)


class Evident(NamedTuple):
    """Both of shape (rows,)."""

    p: np.ndarray
    """P values; 1 where they are certainly above a level."""
    freedom: np.ndarray
    """Degrees of freedom behind them."""

    def counted(self) -> np.ndarray:
        """The p values that are held against the level of a look: as `Looks` thickens the tails."""
        from scipy.special import ndtri, stdtr, stdtrit

        clusters = np.isfinite(self.freedom)
        values, thick = self.p.copy(), np.flatnonzero((self.p < TAIL) & clusters)
        freedom = self.freedom[thick]
        values[thick] = stdtr(freedom, ndtri(values[thick]) * stdtrit(freedom, TAIL) / ndtri(TAIL))
        return np.where(clusters, np.minimum(1.0, values / SPARED), values)


class Running:
    """What is known of each row at a look; `goes_on` leads to the next one."""

    def __init__(self, passed: np.ndarray, sizes: np.ndarray) -> None:
        """Of (rows, clusters) passed cases in clusters of these sizes, before the first look."""
        self.passed, self.sizes, self.clusters = passed, sizes, 0
        self.alone = bool(sizes.max() == 1)
        self.true = np.zeros(len(passed))
        self.sums = np.zeros((len(passed), LARGEST, len(POWERS)))
        self.worst = np.zeros((2, len(passed)), dtype=int)
        """Of the cluster with the most false cases, and with the most true ones: that number times 16, and its size."""

    def goes_on(self, clusters: int) -> None:
        """To the look after so many clusters."""
        new, sizes = self.passed[:, self.clusters : clusters], self.sizes[self.clusters : clusters]
        self.true += new.sum(axis=1)
        self.clusters = clusters
        if self.alone:
            return
        for size in np.unique(sizes):
            values = new[:, sizes == size].astype(float)
            self.sums[:, size - 1] += (values[:, :, None] ** POWERS).sum(axis=1)
        for side, counts in enumerate((sizes - new, new)):
            self.worst[side] = np.maximum(self.worst[side], (counts.astype(int) * 16 + sizes).max(axis=1))

    def keep(self, rows: np.ndarray) -> None:
        """Go on with these rows alone."""
        self.passed, self.true, self.sums = self.passed[rows], self.true[rows], self.sums[rows]
        self.worst = self.worst[:, rows]

    def reached(self, gate: float, level: float) -> Evident:
        """Of rates this high or higher."""
        return self._evident(self.true, gate, level, side=0)

    def missed(self, gate: float, level: float) -> Evident:
        """Of rates this low or lower."""
        return self._evident(self.cases - self.true, 1 - gate, level, side=1)

    @property
    def cases(self) -> int:
        return int(self.sizes[: self.clusters].sum())

    def _evident(self, true: np.ndarray, gate: float, level: float, *, side: int) -> Evident:
        """The normal approximation tells where one need not look: it is never so far off."""
        from scipy.special import ndtri

        values, (worth, freedom) = np.ones(len(true)), self._effective()
        score = (true / self.cases - gate) * np.sqrt(worth / gate / (1 - gate))
        near = np.flatnonzero(score > max(0.0, -0.75 * float(ndtri(level)) - 0.3))
        values[near] = _tail(true[near], self.cases, worth[near], gate)
        if not self.alone and len(near):
            most, size = np.divmod(self.worst[side, near], 16)
            table = _only_one_worse(self.sizes[: self.clusters], gate)
            values[near] = np.maximum(values[near], np.maximum(table[0, 0], table[most, size - 1]))
        return Evident(values, freedom)

    def _effective(self) -> tuple[np.ndarray, np.ndarray]:
        """What `clustered` says: effective rows and degrees of freedom."""
        if self.alone:
            return np.full(len(self.true), float(self.cases)), np.full(len(self.true), np.inf)
        sizes = self.sizes[: self.clusters]
        return _effective(self.sums, np.bincount(sizes, minlength=LARGEST + 1)[1:], self.true / self.cases)


def _effective(sums: np.ndarray, clusters: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From the sums of powers of passed cases, (rows, sizes, powers), and the number of clusters of each size."""
    from scipy.special import stdtrit

    rows, tail = float(clusters @ SIZES), (1 + CONFIDENCE) / 2
    copied = rows**2 / float(clusters @ SIZES**2)
    if clusters.sum() == 1:
        return np.full(len(rate), copied), np.full(len(rate), np.inf)
    variance, freedom = spread_of(sums, clusters, rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        few = (stdtrit(rows - 1, tail) / stdtrit(freedom, tail)) ** 2
        worth = np.minimum(rows, np.maximum(copied, rate * (1 - rate) / variance * few))
    all_equal = (rate == 0) | (rate == 1)
    return np.where(all_equal, copied, np.where(variance == 0, rows, worth)), np.where(all_equal, np.inf, freedom)


def spread_of(sums: np.ndarray, clusters: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The variance of each mean and its degrees of freedom, likewise."""
    many, rows, expected = int(clusters.sum()), float(clusters @ SIZES), mean[:, None] * SIZES
    left, most = 1 - SIZES / rows, max(1.0, rows**2 / float(clusters @ SIZES**2) - 1)
    first, second, third, fourth = (sums[:, :, power] for power in range(4))
    squares = second - 2 * expected * first + expected**2 * clusters
    fours = fourth - 4 * expected * third + 6 * expected**2 * second - 4 * expected**3 * first + expected**4 * clusters
    total = (squares / left**2).sum(axis=1)
    total[total < NO_SPREAD] = 0.0
    varying = (fours / left**4).sum(axis=1) - total**2 / many
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(varying > NO_SPREAD * total**2, 2 * total**2 / varying, np.inf)
    return (many - 1) / many * total / rows**2, np.clip(freedom, 1.0, most)


def _only_one_worse(sizes: np.ndarray, gate: float) -> np.ndarray:
    """P values if one cluster had all the false cases: by their number, 0 to the largest size, and by its size."""
    clusters, rows = np.bincount(sizes, minlength=LARGEST + 1)[1:], int(sizes.sum())
    table = np.zeros((LARGEST + 1, LARGEST))
    for size in SIZES[clusters > 0]:
        false = np.arange(size + 1)
        sums = np.tile((clusters[:, None] * SIZES[:, None] ** POWERS).astype(float), (size + 1, 1, 1))
        sums[:, size - 1] += (size - false)[:, None] ** POWERS - float(size) ** POWERS
        worth, _ = _effective(sums, clusters, 1 - false / rows)
        table[: size + 1, size - 1] = _tail((rows - false).astype(float), rows, worth, gate)
    table[0, 0] = table[0, clusters > 0].max()
    return table


def _tail(true: np.ndarray, rows: float, worth: np.ndarray, gate: float) -> np.ndarray:
    from scipy.special import betainc

    rate = true / rows
    return np.where(true > 0, betainc(np.maximum(worth * rate, 1e-300), worth * (1 - rate) + 1, gate), 1.0)


def agreement() -> Finding:
    """How far the p values of all runs at once lie from the project's own, one by one, at every look."""
    design, off, level = planned(90, 8, alone=False), 0.0, 0.05
    for rate in (WANTED, 0.9, 0.5):
        passed = passed_cases(design, rate, ALIKE, rows=50)
        running = Running(passed, design.sizes)
        for after in design.after:
            running.goes_on(after)
            cluster = np.repeat(np.arange(after), design.sizes[:after])
            sides = (running.reached(WANTED, level), running.missed(WANTED, level))
            for run, counts in enumerate(passed[:, :after]):
                both = zip(design.sizes, counts, strict=False)
                share = clustered(np.concatenate([np.arange(size) < one for size, one in both]), cluster)
                own, look = evidence(share, WANTED), Looks(shares=(0.5,))
                for side, p in zip(sides, (own.reached, own.missed), strict=True):
                    if min(p, side.p[run]) <= level:
                        counted = look.overall(p, freedom=share.freedom) - look.overall(float(side.counted()[run]))
                        off = max(off, abs(p - side.p[run]), abs(counted))
    return Finding(name="p values of all runs at once, off by", value=off, high=1e-9)
