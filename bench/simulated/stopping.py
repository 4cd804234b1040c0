"""Judging while a run goes on: how often that is wrong, and what it saves, where the truth is known.

After each portion the evidence of the finished design is held against the level of that look. Three ways to spread the
level over the looks are compared, and betting, which needs no plan of looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np

from bench.simulated.draws import Finding
from contrapose.tasks.statistics.evidence import evidence
from contrapose.tasks.statistics.looks import levels, spent_by
from contrapose.tasks.statistics.shares import CONFIDENCE, LEVEL, clustered

CASES = (371, 2_000)
PORTIONS = (8, 32, 128)
LARGEST = 8
"""Cases of a cluster at most; sizes are uniform."""
ALIKE = 0.3
"""Correlation of the cases of a cluster."""
WANTED = 0.7
"""The gate."""
BETS = np.arange(1, 17) / 17
"""Shares of the largest stake that cannot lose more than there is; the wealth of all of them is averaged."""
CHOSEN = "share squared"
CLAIMS = {"pass": 1, "fail": -1}
LEAST_SAVED = {0.05: -np.inf, 0.1: 0.5, -0.1: 0.5, -0.3: 0.75}
"""By how far the true rate lies from the gate, the share of the calls that is to be saved."""
MORE_OPEN = 0.05


class Decided(NamedTuple):
    """What became of each run, both of shape (runs,)."""

    verdict: np.ndarray
    """1 pass, -1 fail, 0 open to the end."""
    asked: np.ndarray
    """Cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The clusters in the order in which they are asked, and after how many of them one looks."""

    sizes: np.ndarray
    """(clusters,) cases of each."""
    after: list[int]
    """Clusters judged at each look, the last one all."""

    @property
    def shares(self) -> np.ndarray:
        """Cases judged at each look, of all."""
        return np.cumsum(self.sizes)[np.array(self.after) - 1] / self.sizes.sum()


Way = Callable[[np.ndarray, Design], Decided]
"""From the passed cases of each cluster, (runs, clusters)."""


def stopping(_: np.ndarray, runs: int) -> Iterator[Finding]:
    """False verdicts at the gate, and what is saved and left open away from it, beside one look at the end.

    The bars are for the chosen way: false verdicts at most 5 %, within two standard errors of so many runs; half of the
    calls saved at 10 points and three quarters at 30; at most 5 points more left open than by one look.
    """
    yield _agreement()
    most = LEVEL + 2 * float(np.sqrt(LEVEL * CONFIDENCE / runs))
    for cases, alike, portion in product(CASES, (0.0, ALIKE), PORTIONS):
        design = planned(cases, portion, alone=not alike)
        name = f"{cases} cases {'alone' if not alike else 'in clusters'}, portions of {portion}"
        drawn = {off: _passed(design, WANTED + off, alike, runs) for off in (0.0, *LEAST_SAVED)}
        end = Design(sizes=design.sizes, after=design.after[-1:])
        left_open = {off: _open(AT_THE_END(passed, end)) for off, passed in drawn.items()}
        for verdict, claimed in CLAIMS.items():
            share = float(np.mean(AT_THE_END(drawn[0.0], end).verdict == claimed))
            yield Finding(name=f"{name}, one look: false {verdict}", value=share)
        for off, share in left_open.items():
            yield Finding(name=f"{name}, one look: open at {off:+.0%}", value=share)
        for way, decide in WAYS.items():
            bars = way == CHOSEN
            ended = {off: decide(passed, design) for off, passed in drawn.items()}
            for verdict, claimed in CLAIMS.items():
                share = float(np.mean(ended[0.0].verdict == claimed))
                yield Finding(name=f"{name}, {way}: false {verdict}", value=share, high=most if bars else np.inf)
            for off, least in LEAST_SAVED.items():
                saved = 1 - float(ended[off].asked.mean()) / cases
                yield Finding(name=f"{name}, {way}: saved at {off:+.0%}", value=saved, low=least if bars else -np.inf)
                high = left_open[off] + MORE_OPEN if bars else np.inf
                yield Finding(name=f"{name}, {way}: open at {off:+.0%}", value=_open(ended[off]), high=high)


def _open(ended: Decided) -> float:
    return float(np.mean(ended.verdict == 0))


def planned(cases: int, portion: int, *, alone: bool) -> Design:
    """Clusters of one case, or of one to eight, and a look after each portion that is full."""
    sizes = np.ones(cases, dtype=int)
    if not alone:
        drawn = np.random.default_rng(cases).integers(1, LARGEST + 1, cases)
        sizes = drawn[: int(np.searchsorted(np.cumsum(drawn), cases)) + 1]
        sizes[-1] -= sizes.sum() - cases
    after, asked, judged = [], 0, 0
    for number, size in enumerate(sizes, start=1):
        asked += int(size)
        if asked - judged >= portion or number == len(sizes):
            after, judged = [*after, number], asked
    return Design(sizes=sizes, after=after)


def by_looks(level_of: Callable[[np.ndarray], np.ndarray]) -> Way:
    """Decide where the p value of the evidence reaches the level of a look."""

    planned_levels = cache(lambda shares: level_of(np.array(shares)))

    def decide(passed: np.ndarray, design: Design) -> Decided:
        verdict = np.zeros(len(passed), dtype=int)
        asked = np.full(len(passed), int(design.sizes.sum()))
        live = np.arange(len(passed))
        for after, level in zip(design.after, planned_levels(tuple(design.shares)), strict=True):
            if not level or not len(live):
                continue
            true, sizes = passed[live, :after], design.sizes[:after]
            high, low = reached(true, sizes, WANTED) <= level, reached(sizes - true, sizes, 1 - WANTED) <= level
            verdict[live[high]], verdict[live[low]] = 1, -1
            asked[live[high | low]] = sizes.sum()
            live = live[~(high | low)]
        return Decided(verdict, asked)

    return decide


def by_betting(passed: np.ndarray, design: Design) -> Decided:
    """Decide where bets against the gate have multiplied their stake by one over the level.

    Source: I. Waudby-Smith, A. Ramdas, JRSS B 86 (2024) 1-27, with the average over a grid of constant bets.
    """
    gains, largest = passed - WANTED * design.sizes, design.sizes.max()
    last = np.array(design.after) - 1
    first = np.full((len(passed), 2), len(last))
    for side, (sign, room) in enumerate(((1, WANTED), (-1, 1 - WANTED))):
        wealth = np.zeros((len(passed), len(last)))
        for bet in BETS:
            grown = np.cumsum(np.log1p(sign * bet / (room * largest) * gains), axis=1)[:, last]
            wealth += np.exp(np.minimum(grown, 50.0)) / len(BETS)
        won = wealth >= 1 / LEVEL
        first[:, side] = np.where(won.any(axis=1), won.argmax(axis=1), len(last))
    at = first.min(axis=1)
    ended = np.r_[np.cumsum(design.sizes)[last], design.sizes.sum()]
    return Decided(np.where(at == len(last), 0, np.where(first[:, 0] <= first[:, 1], 1, -1)), ended[at])


def obrien_fleming(share: float, level: float) -> float:
    """Little at first, nearly all at the end.

    Source: K. K. G. Lan, D. L. DeMets, Biometrika 70 (1983) 659-663, like P. C. O'Brien, T. R. Fleming, Biometrics 35
    (1979) 549-556.
    """
    from scipy.stats import norm

    return float(2 * norm.sf(norm.isf(level / 2) / np.sqrt(share)))


def spent_later(share: float, level: float) -> float:
    """The level times the cube of the share: K. Kim, D. L. DeMets, Biometrika 74 (1987) 149-154."""
    return level * share**3


AT_THE_END = by_looks(lambda _: np.array([LEVEL]))

WAYS: dict[str, Way] = {
    "O'Brien-Fleming": by_looks(partial(levels, level=LEVEL, spend=obrien_fleming)),
    CHOSEN: by_looks(partial(levels, level=LEVEL, spend=spent_by)),
    "share cubed": by_looks(partial(levels, level=LEVEL, spend=spent_later)),
    "betting": by_betting,
}


def reached(true: np.ndarray, sizes: np.ndarray, gate: float) -> np.ndarray:
    """The p value `evidence(clustered(…), gate).reached` of every run at once; (runs, clusters) to (runs,)."""
    rows, every = sizes.sum(), sizes.astype(float)
    values = _tail(true.sum(axis=1), rows, effective(true, sizes), gate)
    if len(sizes) == rows:
        return values
    false = sizes - true
    # The largest of the clusters with the most false rows keeps them, and then none does.
    worst = np.where(false == false.max(axis=1, keepdims=True), sizes, -1).argmax(axis=1)
    one, runs = np.tile(every, (len(true), 1)), np.arange(len(true))
    one[runs, worst] = true[runs, worst]
    for better in (one, np.tile(every, (len(true), 1))):
        values = np.maximum(values, _tail(better.sum(axis=1), rows, effective(better, sizes), gate))
    return values


def effective(true: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """What `clustered` says of every run at once."""
    from scipy.special import stdtrit

    rows, clusters = float(sizes.sum()), len(sizes)
    if clusters == rows:
        return np.full(len(true), rows)
    copied = rows**2 / float((sizes.astype(float) ** 2).sum())
    rate = true.sum(axis=1) / rows
    if clusters == 1:
        return np.full(len(true), copied)
    squares = ((true - rate[:, None] * sizes) / (1 - sizes / rows)) ** 2
    total = squares.sum(axis=1)
    varying = (squares**2).sum(axis=1) - total**2 / clusters
    variance, tail = (clusters - 1) / clusters * total / rows**2, (1 + CONFIDENCE) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.clip(np.where(varying > 0, 2 * total**2 / varying, np.inf), None, copied - 1).clip(min=1.0)
        few = (stdtrit(rows - 1, tail) / stdtrit(freedom, tail)) ** 2
        worth = np.minimum(rows, np.maximum(copied, rate * (1 - rate) / variance * few))
    return np.where((rate == 0) | (rate == 1), copied, np.where(variance == 0, rows, worth))


def _tail(true: np.ndarray, rows: float, worth: np.ndarray, gate: float) -> np.ndarray:
    from scipy.special import betainc

    rate = true / rows
    return np.where(true > 0, betainc(np.maximum(worth * rate, 1e-300), worth * (1 - rate) + 1, gate), 1.0)


def _passed(design: Design, rate: float, alike: float, runs: int) -> np.ndarray:
    """(runs, clusters) of passed cases."""
    rng = np.random.default_rng([7, int(1000 * rate), int(10 * alike)])
    own: float | np.ndarray = rate
    if alike:
        spread = (1 - alike) / alike
        own = rng.beta(rate * spread, (1 - rate) * spread, (runs, len(design.sizes)))
    return rng.binomial(design.sizes, own, (runs, len(design.sizes)))


def _agreement() -> Finding:
    """How far the p values of all runs at once lie from the project's own, one by one."""
    design = planned(90, 8, alone=False)
    true = _passed(design, WANTED, ALIKE, 50)
    cluster = np.repeat(np.arange(len(design.sizes)), design.sizes)
    rows = [
        np.concatenate([np.arange(size) < one for size, one in zip(design.sizes, run, strict=True)]) for run in true
    ]
    alone = np.array([evidence(clustered(row, cluster), WANTED).reached for row in rows])
    off = float(np.abs(reached(true, design.sizes, WANTED) - alone).max())
    return Finding(name="p values of all runs at once, off by", value=off, high=1e-9)
