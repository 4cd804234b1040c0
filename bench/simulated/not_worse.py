"""How often a model that loses exactly the margin is called not worse, and how often an equal one is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from bench.simulated.draws import Finding
from bench.simulated.stopping import most
from contrapose.tasks.statistics.matched import FEWEST_CLUSTERS, Pairs, effective_pairs, lower_bound, tail, tango_score
from contrapose.tasks.statistics.shares import LEVEL

CASES = (50, 100, 200, 500, 1000, 2000)
MARGINS = (0.02, 0.05, 0.1)
DIFFERING = 0.3
"""Share of the cases on which the models differ, at most; at least it is the margin."""
VALUES = 60
"""Shares between the two at which the error is computed."""
AWAY = 6
"""Standard errors of the lost pairs that are enumerated beyond the largest share."""
PLAUSIBLE = 1.3
"""A score below this is nowhere near a claim: no claim at 5 % has one below 1.5."""
ALIKE = (0.0, 0.1, 0.3, 0.6, 1.0)
"""How much alike the pairs of a cluster are; 1: copies."""
KINDS = ("beta", "copies")
"""Clusters with shares of their own, or clusters of which some are copies of one pair."""


def not_worse(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """Independent pairs by enumeration, pairs in clusters by simulation."""
    yield from _independent()
    designs = {
        "15 clusters of 20": np.full(15, 20),
        "60 clusters of 2": np.full(60, 2),
        "60 clusters of 8": np.full(60, 8),
        f"{len(sizes)} articles": sizes,
        "250 clusters of 1 to 8": np.random.default_rng(3).integers(1, 9, 250),
    }
    for (name, own), margin in product(designs.items(), MARGINS):
        yield from _clustered(name, own, margin, runs)


def wins_needed(cases: int, margin: float) -> np.ndarray:
    """Return the fewest wins with which `not worse` is claimed beside each number of losses, (losses,)."""
    share = (DIFFERING + margin) / 2
    losses = int(min(cases, cases * share + AWAY * (cases * share * (1 - share)) ** 0.5 + AWAY))
    needed = np.full(losses + 1, cases + 1)
    wins = 0
    for lost in range(losses + 1):
        while wins > 0 and _is_claimed(lost, wins - 1, cases, margin):
            wins -= 1
        while lost + wins <= cases and not _is_claimed(lost, wins, cases, margin):
            wins += 1
        needed[lost] = wins
    return needed


def chance_of_claim(needed: np.ndarray, cases: int, lost: float, won: float) -> float:
    """Return the exact probability of the claim, 0 to 1, for true shares of lost and won pairs."""
    from scipy.stats import binom

    losses = np.arange(len(needed))
    beyond = binom.sf(needed - 1, cases - losses, min(1.0, won / (1 - lost)))
    return float(binom.pmf(losses, cases, lost) @ beyond)


def _is_claimed(lost: int, won: int, cases: int, margin: float) -> bool:
    if tango_score(lost, won, cases, -margin) < PLAUSIBLE:
        return False
    return lower_bound(Pairs(lost=lost, won=won, pairs=cases), LEVEL) >= -margin


def _independent() -> Iterator[Finding]:
    for cases, margin in product(CASES, MARGINS):
        needed = wins_needed(cases, margin)
        shares = np.linspace(margin, DIFFERING, VALUES)
        errors = [chance_of_claim(needed, cases, (share + margin) / 2, (share - margin) / 2) for share in shares]
        name = f"{cases} cases alone, margin {margin:.0%}"
        yield Finding(name=f"{name}: most false claims", value=max(errors), high=LEVEL)
        for share in (0.1, 0.2):
            power = chance_of_claim(needed, cases, share / 2, share / 2)
            yield Finding(name=f"{name}: claims where both are equal and {share:.0%} differ", value=power)


def _clustered(name: str, sizes: np.ndarray, margin: float, runs: int) -> Iterator[Finding]:
    for differing, alike, kind in product((margin, margin + 0.02, DIFFERING), ALIKE, KINDS):
        if alike in (0.0, 1.0) and kind == "beta":
            continue
        cell = f"{name}, margin {margin:.0%}, {differing:.0%} differ, alike {alike} {kind}"
        drawn = draw_clusters(sizes, margin, differing, alike, kind, runs=runs)
        yield Finding(name=f"{cell}: false claims", value=claims(drawn, sizes, margin), high=most(runs))
    for alike in (0.0, 0.3):
        drawn = draw_clusters(sizes, 0.0, 0.1, alike, "copies", runs=runs // 5)
        value = claims(drawn, sizes, margin)
        yield Finding(name=f"{name}, margin {margin:.0%}, alike {alike}: claims where both are equal", value=value)


def claims(drawn: np.ndarray, sizes: np.ndarray, margin: float) -> float:
    """Return the share of (2, runs, clusters) lost and won pairs that are called not worse by the margin."""
    if len(sizes) < FEWEST_CLUSTERS:
        return 0.0
    return float(np.mean([is_not_worse(effective_pairs(*run, sizes), margin) for run in drawn.swapaxes(0, 1)]))


def is_not_worse(pairs: Pairs, margin: float, level: float = LEVEL, spent: float = LEVEL) -> bool:
    """Return what `lower_bound` says of the margin, an eighth as costly."""
    plausible = tango_score(pairs.lost, pairs.won, pairs.pairs, -margin) >= PLAUSIBLE
    return bool(plausible) and (1 - margin) ** pairs.copies <= spent and tail(pairs, -margin, level) <= level


def draw_clusters(
    sizes: np.ndarray, loss: float, differing: float, alike: float, kind: str, *, runs: int
) -> np.ndarray:
    """Return lost and won pairs of each cluster, (2, runs, clusters), of a model that loses so many of the cases."""
    rng = np.random.default_rng([17, int(1000 * (1 + loss)), int(1000 * differing), int(10 * alike), len(sizes)])
    shares = np.maximum([(differing + loss) / 2, (differing - loss) / 2, 1 - differing], 0.0)
    shape = (runs, len(sizes))
    own = np.broadcast_to(shares, (*shape, 3))
    if alike and kind == "beta":
        own = rng.gamma(np.maximum(shares * (1 - alike) / alike, 1e-9), size=(*shape, 3))
        own = own / own.sum(axis=2, keepdims=True)
    lost = rng.binomial(sizes, own[:, :, 0])
    won = rng.binomial(sizes - lost, np.clip(own[:, :, 1] / np.maximum(1 - own[:, :, 0], 1e-300), 0, 1))
    if kind == "copies":
        copied, one = rng.random(shape) < alike, rng.random(shape)
        lost = np.where(copied, np.where(one < shares[0], sizes, 0), lost)
        won = np.where(copied, np.where((one >= shares[0]) & (one < differing), sizes, 0), won)
    return np.stack([lost, won]).astype(float)
