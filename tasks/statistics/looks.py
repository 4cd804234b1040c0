"""Sequential bounds: the p value at which each look at a growing sample may decide, at a limited total error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from contrapose.tasks.statistics.shares import LEVEL

ADDED, FADING = 0.2, 0.5
"""Of the level, what all later runs together may add to it; of that, what the next of them takes."""
TAIL = LEVEL / 2
"""Of the usual interval, on one side."""
SPARED = 0.95
"""Of the level of a look in clusters, what it uses."""
REACH = 5.5
"""Standard deviations that the grid spans below zero."""
FINE = 1.25
"""Points of a grid by as many widths of a step as it has; pi/2 where they are furthest apart is one a step."""
COARSE, MOST_POINTS = 16, 768
"""Points of a grid come in multiples of the one, and are at most the other."""
PRECISE = 1e-12
KEPT, DEEP = 256, 100
"""States from which a further look goes on, and looks that may be followed in one call."""
KNOTS = np.array(
    [LEVEL / among for among in (1e6, 1e5, 1e4, 1e3, 100, 30, 10, 6, 5, 4, 3, 2, 1)] + [0.08, 0.15, 0.3, 0.5, 0.8]
)
"""Levels for which the bounds are followed; between them one interpolates."""


@dataclass(frozen=True, slots=True)
class Looks:
    """The looks at a test's results, as shares of all cases that this and earlier runs may ask."""

    shares: tuple[float, ...] = (1.0,)
    """Of this run, up to now, increasing; the last one is the present look."""
    earlier: tuple[float, ...] = ()
    """Of earlier runs, each of which spent all that it had and decided nothing; increasing, below those of this run."""

    def __post_init__(self) -> None:
        if not self.shares or np.min(np.diff([0.0, *self.earlier, *self.shares])) <= 0 or self.shares[-1] > 1:
            raise ValueError(f"{self} must be shares above 0, each greater than the one before, and at most 1.")

    def overall(self, p: float, *, freedom: float = np.inf) -> float:
        """Return the p value over all looks: the smallest level at which the present look decides.

        It is the repeated p value of C. Jennison, B. W. Turnbull, Group Sequential Methods (2000), chapter 9; the least
        of those of all looks is the sequential one of Q. Liu, K. M. Anderson, JASA 103 (2008) 1621-1630. Holm's steps
        over them are the closed procedure of W. Maurer, F. Bretz, Statistics in Biopharmaceutical Research 5 (2013)
        311-320. `freedom` are the degrees of freedom that clusters have.
        """
        if self == ONE_LOOK or p in (0, 1):
            return p
        plain = float(adjust_for_clusters(p, freedom))
        p_values, of_level = _follow_knots(self)
        return max(plain, _interpolate(plain, p_values, of_level))

    def level(self, level: float, *, freedom: float = np.inf) -> float:
        """Return the p value that decides at the present look, if all looks of the first run share `level`.

        Later runs add at most a fifth to it, the first of them a half of that, and each a half of what the one before
        it added; how much an unplanned look adds is from B. J. Sagarin, J. K. Ambler, E. M. Lee, Perspectives on
        Psychological Science 9 (2014) 293-304. No look decides at more than the level itself.
        """
        from scipy.special import ndtr, ndtri, stdtrit

        if self == ONE_LOOK or level in (0, 1):
            return level
        p_values, of_level = _follow_knots(self)
        p = min(level, _interpolate(level, of_level, p_values))
        if not np.isfinite(freedom):
            return p
        # The inverse of `adjust_for_clusters`.
        p *= SPARED
        return p if p >= TAIL else float(ndtr(stdtrit(freedom, p) * ndtri(TAIL) / stdtrit(freedom, TAIL)))

    def after(self, growth: float) -> Looks:
        """Return the single look of a later run with `growth` times the cases of the present look."""
        return Looks(earlier=tuple(share / self.shares[-1] / growth for share in (*self.earlier, self.shares[-1])))

    @property
    def spending(self) -> tuple[tuple[float, float], ...]:
        """Return the share of cases of each look, and the part of the level that it may spend."""
        runs = [ADDED * FADING**run if run else 1.0 for run in range(len(self.earlier) + 1)]
        start = self.earlier[-1] if self.earlier else 0.0
        by_now = [runs[-1] * (share**2 - start**2) / (1 - start**2) for share in self.shares]
        own = zip(self.shares, np.diff([0.0, *by_now]).tolist(), strict=True)
        return (*zip(self.earlier, runs, strict=False), *own)


ONE_LOOK = Looks()


def adjust_for_clusters(p: float | np.ndarray, freedom: float | np.ndarray) -> np.ndarray:
    """Return p values of a look corrected for few clusters, given their degrees of freedom.

    Student's quantile counts the cost of few clusters for the usual interval: `shares.compute_penalty`. The far tails
    at which early looks decide are thicker than that, and a little thicker than Student's too, since clusters that pass
    by chance also vary less: as it is counted elsewhere, a gate at its boundary was passed in 5.3 to 5.7 %.
    """
    from scipy.special import ndtri, stdtr, stdtrit

    known = np.where(np.isfinite(freedom), freedom, 1.0)
    far = stdtr(known, ndtri(np.minimum(p, TAIL)) * stdtrit(known, TAIL) / ndtri(TAIL))
    return np.where(np.isfinite(freedom), np.minimum(1.0, np.where(np.less(p, TAIL), far, p) / SPARED), p)


class _State(NamedTuple):
    """Distribution of the runs that no look has decided yet, for several levels at once."""

    share: float
    """Of the cases, at the last look."""
    step: float
    """Standard deviation of what was added since the look before it."""
    bound: np.ndarray
    """(levels, 1): a sum beyond it decided at the last look."""
    grid: np.ndarray
    """(levels, points): sums at the look before it."""
    mass: np.ndarray
    """(levels, points): how likely they are, together with no decision by then."""

    @property
    def decides(self) -> np.ndarray:
        """Return the bounds as p values, (levels,)."""
        from scipy.special import ndtr

        return np.asarray(ndtr(-self.bound[:, 0] / np.sqrt(self.share)))


START = _State(0.0, 0.0, np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)))


def _look_again(state: _State, share: float, allowed: np.ndarray) -> _State:
    """Return the state after one more look, which may spend what is allowed at each level, (levels,).

    Sums grow like a Brownian motion, whose density over the runs that no earlier look decided is followed from look to
    look: P. Armitage, C. K. McPherson, B. C. Rowe, JRSS A 132 (1969) 235-244.
    """
    from scipy.special import ndtr, ndtri

    step, allowed = float(np.sqrt(share - state.share)), allowed[:, None]
    grid, mass, bound = state.grid, state.mass, -np.sqrt(share) * ndtri(allowed)
    if state.share:
        # Sums at the last look, as finely as the next step needs them, and how likely they are.
        low = -REACH * np.sqrt(state.share)
        width = state.bound - low
        needed = FINE * float(width.max()) / step
        nodes, weights = _gauss_nodes(int(min(MOST_POINTS, COARSE * np.ceil(max(needed, 2 * COARSE) / COARSE))))
        grid = low + width * (nodes + 1) / 2
        away = (grid[:, :, None] - state.grid[:, None, :]) / state.step
        mass = (_normal_density(away) @ state.mass[:, :, None])[:, :, 0] / state.step * weights * width / 2
        bound = np.minimum(bound, state.bound - step * ndtri(allowed))
    # Beyond the bound lies as much as is allowed: Newton's steps on the logarithm, which is concave. They start where
    # certainly less lies: if nobody had looked before, or all sums still lay at the last bound.
    moved = np.inf
    while moved > PRECISE:
        away = (grid - bound) / step
        beyond = (mass * ndtr(away)).sum(axis=1, keepdims=True)
        density = (mass * _normal_density(away)).sum(axis=1, keepdims=True) / step
        change = np.log(beyond / allowed) * beyond / density
        bound, moved = bound + change, float(np.abs(change).max())
    return _State(share, step, np.asarray(bound), grid, mass)


def _normal_density(away: np.ndarray) -> np.ndarray:
    """Return the normal density, cut off where numbers become so small that computing takes several times as long."""
    return np.asarray(np.exp(np.maximum(away * away * -0.5, -100.0)) / np.sqrt(2 * np.pi))


@lru_cache
def _gauss_nodes(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss's nodes and weights; the nodes lie closest at the ends, where the density is cut off."""
    from scipy.special import roots_legendre

    nodes, weights = roots_legendre(points)
    return np.asarray(nodes), np.asarray(weights)


@lru_cache(maxsize=KEPT)
def _state_after(spent: tuple[tuple[float, float], ...]) -> _State:
    """Return the state after all these looks for every knot."""
    from scipy.special import ndtri

    before = _state_after(spent[:-1]) if len(spent) > 1 else START
    share, weight = spent[-1]
    state = _look_again(before, share, weight * KNOTS)
    return state._replace(bound=np.maximum(state.bound, -np.sqrt(share) * ndtri(KNOTS)[:, None]))


def _follow_knots(looks: Looks) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms of the p values that decide at the present look, and of the levels that they use.

    Without a kept state, those at every hundredth look are made first: too many calls would stand in each other.
    """
    spent = looks.spending
    for count in range(DEEP, len(spent), DEEP):
        _state_after(spent[:count])
    return np.log(np.r_[_state_after(spent).decides, 1.0]), np.log(np.r_[KNOTS, 1.0])


def _interpolate(value: float, known: np.ndarray, wanted: np.ndarray) -> float:
    from scipy.interpolate import PchipInterpolator

    at = float(np.log(value))
    if at <= known[0]:
        return float(value * np.exp(wanted[0] - known[0]))
    return float(np.exp(PchipInterpolator(known, wanted)(at)))
