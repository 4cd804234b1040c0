"""Designs of runs that may stop early, cases that pass by chance, and what is evident of many runs at every look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contrapose.tasks.statistics.tallies import NOTHING, Evidences, compute_evidences

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


class Running:
    """The cases of many rows as they come in, and what is evident by then; `goes_on` leads to the next look."""

    def __init__(self, passed: np.ndarray, sizes: np.ndarray) -> None:
        """Of (rows, clusters) passed cases in clusters of these sizes, before the first look."""
        self.passed, self.sizes, self.clusters = passed, sizes, 0
        self.tally = NOTHING.of(np.zeros(len(passed), dtype=int))

    def goes_on(self, clusters: int) -> Evidences:
        """To the look after so many clusters, and what is evident there."""
        new = slice(self.clusters, clusters)
        self.tally, self.clusters = self.tally.plus(self.passed[:, new], self.sizes[new]), clusters
        return compute_evidences(self.tally, WANTED)

    def keep(self, rows: np.ndarray) -> None:
        """Go on with these rows alone."""
        self.passed, self.tally = self.passed[rows], self.tally.of(rows)


def spread_of(sums: np.ndarray, clusters: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The variance of each mean and its degrees of freedom.

    From the sums of powers of the differences in clusters, (rows, sizes, powers), and the number of clusters of each
    size.
    """
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
