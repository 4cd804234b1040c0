"""Two models asked side by side until it is shown that the first is not worse by a margin."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from bench.simulated.draws import Finding
from bench.simulated.not_worse import draw_clusters, is_not_worse
from bench.simulated.running import ALIKE, Design, planned
from bench.simulated.stopping import CASES, PORTIONS, most
from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.matched import FEWEST_CLUSTERS, Pairs, bound_difference, effective_pairs, tango_score
from contrapose.tasks.statistics.shares import LEVEL

MARGIN = 0.05
DIFFERING = (MARGIN, 0.1, 0.2, 0.3)
"""Share of the cases on which the two differ."""
BETTER = 0.05
"""By how much a candidate is better whose promotion should come early."""
WAYS = (*((0.0, portion) for portion in PORTIONS), (ALIKE, PORTIONS[1]), (1.0, PORTIONS[1]))
"""How much alike the pairs of a cluster are, and how many cases lie between looks."""
CHECKED = 30
"""Runs whose bounds are also computed one by one."""
FAR = 0.75
"""A score below this part of the normal quantile is nowhere near a claim, and is not looked at."""


class Shown(NamedTuple):
    """What became of each pair, both of shape (runs,)."""

    verdict: np.ndarray
    """1 not worse, 0 open to the end."""
    asked: np.ndarray
    """Cases."""


def stopped_pairs(_: np.ndarray, runs: int) -> Iterator[Finding]:
    """False promotion at the margin, and what is saved and left open away from it."""
    yield from _agreement()
    for cases, differing, (alike, portion) in product(CASES, DIFFERING, WAYS):
        design = planned(cases, portion, alone=not alike)
        end = Design(sizes=design.sizes, after=design.after[-1:])
        where = "alone" if not alike else f"in clusters alike {alike}"
        name = f"{cases} cases {where}, {differing:.0%} differ, portions of {portion}"
        for off in (-MARGIN, 0.0, BETTER):
            drawn = _draw(design, off, differing, alike, runs=runs)
            late, ended = shown(drawn, end), shown(drawn, design)
            if off == -MARGIN:
                yield Finding(name=f"{name}, one look: false promotion", value=float(late.verdict.mean()))
                yield Finding(name=f"{name}: false promotion", value=float(ended.verdict.mean()), high=most(runs))
                continue
            saved = 1 - ended.asked / int(design.sizes.sum())
            yield Finding(name=f"{name}, one look: open at {off:+.0%}", value=float((late.verdict == 0).mean()))
            yield Finding(name=f"{name}: open at {off:+.0%}", value=float((ended.verdict == 0).mean()))
            yield Finding(name=f"{name}: median saved at {off:+.0%}", value=float(np.median(saved)))


def shown(drawn: np.ndarray, design: Design) -> Shown:
    """Of (2, runs, clusters) lost and won pairs, as `bound_difference` shows them after each portion."""
    from scipy.special import ndtri

    verdict, asked = np.zeros(drawn.shape[1], dtype=int), np.full(drawn.shape[1], int(design.sizes.sum()))
    sums = drawn.cumsum(axis=2)
    for look, (after, cases) in enumerate(zip(design.after, design.asked, strict=True), start=1):
        looks, sizes = Looks(shares=design.shares[:look]), design.sizes[:after].astype(float)
        level = looks.level(LEVEL) if cases == after else looks.level(LEVEL, freedom=after - 1)
        spent = LEVEL * sum(weight for _, weight in looks.spending)
        # Clusters are worth fewer pairs, and score less.
        score = tango_score(*sums[:, :, after - 1], cases, -MARGIN)
        for run in np.flatnonzero((verdict == 0) & (score >= -FAR * ndtri(level))):
            if _is_promoted(drawn[:, run, :after], sizes, float(level), spent):
                verdict[run], asked[run] = 1, cases
    return Shown(verdict, asked)


def _is_promoted(drawn: np.ndarray, sizes: np.ndarray, level: float, spent: float) -> bool:
    lost, won = drawn
    if sizes.max() == 1:
        return _alone(int(lost.sum()), int(won.sum()), len(sizes), level)
    return len(sizes) >= FEWEST_CLUSTERS and is_not_worse(effective_pairs(lost, won, sizes), MARGIN, level, spent)


@lru_cache(maxsize=100_000)
def _alone(lost: int, won: int, pairs: int, level: float) -> bool:
    return is_not_worse(Pairs(lost=lost, won=won, pairs=pairs), MARGIN, level)


def _draw(design: Design, off: float, differing: float, alike: float, *, runs: int) -> np.ndarray:
    kind = "copies" if alike in (0.0, 1.0) else "beta"
    return draw_clusters(design.sizes, -off, max(differing, abs(off)), alike, kind, runs=runs)


def _agreement() -> Iterator[Finding]:
    """Runs that `bound_difference` decides otherwise, one by one."""
    for alike in (0.0, ALIKE):
        design = planned(371, 128, alone=not alike)
        drawn = _draw(design, 0.0, DIFFERING[2], alike, runs=CHECKED)
        looks = [Looks(shares=design.shares[: count + 1]) for count in range(len(design.after))]
        first = [int(any(_by_bounds(run, design, look) for look in looks)) for run in drawn.swapaxes(0, 1)]
        name = "alone" if not alike else "in clusters"
        otherwise = float((np.array(first) != shown(drawn, design).verdict).sum())
        yield Finding(name=f"pairs {name} that the bounds decide otherwise", value=otherwise, high=0)


def _by_bounds(run: np.ndarray, design: Design, looks: Looks) -> bool:
    """Whether the bounds of one run, (2, clusters), promote it at a look."""
    after = design.after[len(looks.shares) - 1]
    sizes, (lost, won) = design.sizes[:after], run[:, :after].astype(int)
    kept = sizes - lost - won
    values = np.concatenate([np.repeat([-1.0, 1.0, 0.0], own) for own in zip(lost, won, kept, strict=True)])
    bounds = bound_difference(values, np.zeros(len(values)), np.repeat(np.arange(after), sizes), looks=looks)
    return bounds is not None and bounds.low >= -MARGIN
