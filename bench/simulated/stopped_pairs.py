"""Two models asked side by side until it is shown that the first is not worse by a margin, or that it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from bench.simulated.draws import Finding
from bench.simulated.running import ALIKE, LARGEST, POWERS, SIZES, Design, planned, spread_of
from bench.simulated.stopping import CASES, PORTIONS, most
from contrapose.tasks.statistics.looks import SPARED, Looks
from contrapose.tasks.statistics.means import bounds_at
from contrapose.tasks.statistics.shares import LEVEL

MARGIN = 0.05
DIFFERING = (0.1, 0.2, 0.3)
"""Share of the cases on which the two differ."""
BETTER = 0.05
"""By how much a candidate is better whose promotion should come early."""
MEDIAN_SAVED = 0.4
WAYS = (*((0.0, portion) for portion in PORTIONS), (ALIKE, PORTIONS[1]))
"""How much alike the pairs of a cluster are, and how many cases lie between looks."""
CHECKED = 150
"""Runs whose bounds are also computed one by one."""


class Shown(NamedTuple):
    """What became of each pair, both of shape (runs,)."""

    verdict: np.ndarray
    """1 not worse, -1 worse by more than the margin, 0 open to the end."""
    asked: np.ndarray
    """Cases."""


def stopped_pairs(_: np.ndarray, runs: int) -> Iterator[Finding]:
    """False promotion and false refusal at the margin, and what is saved and left open away from it."""
    yield from _agreement()
    for cases, differing, (alike, portion) in product(CASES, DIFFERING, WAYS):
        design = planned(cases, portion, alone=not alike)
        end = Design(sizes=design.sizes, after=design.after[-1:])
        name = f"{cases} cases {'alone' if not alike else 'in clusters'}, {differing:.0%} differ, portions of {portion}"
        for off in (-MARGIN, 0.0, BETTER):
            drawn = _differences(design, off, differing, alike, runs=runs)
            late, ended = shown(drawn, end), shown(drawn, design)
            if off == -MARGIN:
                yield Finding(name=f"{name}, one look: false promotion", value=float((late.verdict == 1).mean()))
                for claim, verdict in (("promotion", 1), ("refusal", -1)):
                    share = float((ended.verdict == verdict).mean())
                    yield Finding(name=f"{name}: false {claim}", value=share, high=most(runs))
                continue
            saved = 1 - ended.asked / int(design.sizes.sum())
            yield Finding(name=f"{name}, one look: open at {off:+.0%}", value=float((late.verdict == 0).mean()))
            yield Finding(name=f"{name}: open at {off:+.0%}", value=float((ended.verdict == 0).mean()))
            least = MEDIAN_SAVED if off == BETTER else -np.inf
            yield Finding(name=f"{name}: median saved at {off:+.0%}", value=float(np.median(saved)), low=least)


def shown(differences: np.ndarray, design: Design) -> Shown:
    """Of (runs, clusters) differences, as `bounds_at` shows them after each portion."""
    runs, before = len(differences), 0
    verdict, asked = np.zeros(runs, dtype=int), np.full(runs, int(design.sizes.sum()))
    sums, clusters = np.zeros((runs, LARGEST, len(POWERS))), np.zeros(LARGEST)
    spared = 1.0 if design.sizes.max() == 1 else SPARED
    for look, (after, cases) in enumerate(zip(design.after, design.asked, strict=True), start=1):
        sizes = design.sizes[before:after]
        for size in np.unique(sizes):
            new = differences[:, before:after][:, sizes == size].astype(float)
            sums[:, size - 1] += (new[:, :, None] ** POWERS).sum(axis=1)
        clusters, before = clusters + np.bincount(sizes, minlength=LARGEST + 1)[1:], after
        level = Looks(shares=design.shares[:look]).level(LEVEL) * spared
        for claimed in (1, -1):
            reached = (verdict == 0) & (_p(sums, clusters, claimed) <= level)
            verdict[reached], asked[reached] = claimed, cases
    return Shown(verdict, asked)


def _p(sums: np.ndarray, clusters: np.ndarray, claimed: int) -> np.ndarray:
    """P values of the claim, with one pair more that differs against it."""
    from scipy.special import stdtr

    one = np.eye(LARGEST)[0]
    more, counts = sums + one[:, None] * (-float(claimed)) ** POWERS, clusters + one
    mean = more[:, :, 0].sum(axis=1) / float(counts @ SIZES)
    variance, freedom = spread_of(more, counts, mean)
    return np.asarray(stdtr(freedom, -claimed * (mean + MARGIN) / np.sqrt(variance)))


def _differences(design: Design, mean: float, differing: float, alike: float, *, runs: int) -> np.ndarray:
    """(runs, clusters): how many more cases of each the first model passes."""
    rng = np.random.default_rng([13, int(1000 * (mean + 1)), int(100 * differing), int(10 * alike)])
    shares = np.array([(differing + mean) / 2, (differing - mean) / 2, 1 - differing])
    shape = (runs, len(design.sizes))
    if not alike:
        drawn = rng.random(shape)
        return (drawn < shares[0]).astype(np.int8) - (drawn > 1 - shares[1]).astype(np.int8)
    own = rng.gamma(np.maximum(shares * (1 - alike) / alike, 1e-9), size=(*shape, 3))
    own /= own.sum(axis=2, keepdims=True)
    up = rng.binomial(design.sizes, own[:, :, 0])
    rest = np.clip(own[:, :, 1] / np.maximum(1 - own[:, :, 0], 1e-300), 0, 1)
    return (up - rng.binomial(design.sizes - up, rest)).astype(np.int8)


def _agreement() -> Iterator[Finding]:
    """Runs that `bounds_at` decides otherwise, one by one; and otherwise than today's single look does."""
    for alike in (0.0, ALIKE):
        design = planned(371, 128, alone=not alike)
        drawn = _differences(design, 0.0, DIFFERING[1], alike, runs=CHECKED)
        name = "alone" if not alike else "in clusters"
        many, one = shown(drawn, design), shown(drawn, Design(sizes=design.sizes, after=design.after[-1:]))
        looks = [Looks(shares=design.shares[: count + 1]) for count in range(len(design.after))]
        verdicts = [[_by_bounds(run, design, look) for look in looks] for run in drawn]
        first = np.array([next((verdict for verdict in run if verdict), 0) for run in verdicts])
        yield Finding(
            name=f"pairs {name} that the bounds decide otherwise", value=float((first != many.verdict).sum()), high=0
        )
        today = np.array([_by_bounds(run, design, Looks()) for run in drawn])
        yield Finding(
            name=f"pairs {name} that the bootstrap decides otherwise", value=float((today != one.verdict).mean())
        )


def _by_bounds(run: np.ndarray, design: Design, looks: Looks) -> int:
    """A verdict by the bounds of one run."""
    after = design.after[-1] if looks == Looks() else design.after[len(looks.shares) - 1]
    cluster, values = np.repeat(np.arange(after), design.sizes[:after]), []
    for size, sum_ in zip(design.sizes[:after], run, strict=False):
        values += [float(np.sign(sum_))] * abs(int(sum_)) + [0.0] * int(size - abs(int(sum_)))
    low, high = bounds_at(np.array(values), np.zeros(len(values)), cluster, looks=looks) or (-1.0, 1.0)
    return 1 if low >= -MARGIN else -1 if high < -MARGIN else 0
