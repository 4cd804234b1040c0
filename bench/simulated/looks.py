"""At which p value each look at a growing sample may decide, so that all looks together are wrong as seldom as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

Spending = Callable[[float, float], float]
"""From the share of the cases that are judged so far, 0 to 1, and a level: how much of it may be spent by now."""

POINTS = 401
"""Of the grid on which the density of runs that are still open is followed."""
REACH = 8.0
"""Standard deviations that the grid spans below zero."""
NEGLIGIBLE = 1e-12
"""A look that may spend less than this decides nothing."""


def obrien_fleming(share: float, level: float) -> float:
    """Little at first, nearly all at the end.

    Source: K. K. G. Lan, D. L. DeMets, Biometrika 70 (1983) 659-663, like P. C. O'Brien, T. R. Fleming, Biometrics 35
    (1979) 549-556.
    """
    from scipy.stats import norm

    return float(2 * norm.sf(norm.isf(level / 2) / np.sqrt(share)))


def power_of(exponent: float) -> Spending:
    """The level times a power of the share: K. Kim, D. L. DeMets, Biometrika 74 (1987) 149-154."""
    return lambda share, level: level * share**exponent


def levels(shares: Sequence[float], level: float, spend: Spending) -> np.ndarray:
    """The p value that decides at each look, one-sided, of shape (looks,).

    Args:
        shares: of all cases that may be judged, after each look, increasing, the last at most 1.
        level: how often a claim at its boundary may be made falsely, over all looks.
        spend: how the level is spread over them.

    Sums grow like a Brownian motion, whose density over the runs that no earlier look decided is followed from look to
    look: P. Armitage, C. K. McPherson, B. C. Rowe, JRSS A 132 (1969) 235-244.
    """
    from scipy.optimize import brentq
    from scipy.stats import norm

    decides, spent, before = np.zeros(len(shares)), 0.0, 0.0
    grid, mass = np.zeros(1), np.ones(1)
    for look, share in enumerate(shares):
        allowed, step = spend(share, level) - spent, np.sqrt(share - before)
        if allowed < NEGLIGIBLE:
            continue
        top = grid[-1] + REACH * step
        crosses = partial(_crossing, grid=grid, mass=mass, step=step, allowed=allowed)
        bound = brentq(crosses, grid[0] - REACH * step, top, xtol=1e-9) if crosses(top) < 0 else top
        points = np.linspace(-REACH * np.sqrt(share), bound, POINTS)
        weights = np.full(POINTS, points[1] - points[0])
        weights[[0, -1]] /= 2
        density = norm.pdf((points[:, None] - grid[None, :]) / step) @ mass / step
        grid, mass, spent, before = points, density * weights, spent + allowed, share
        decides[look] = norm.sf(bound / np.sqrt(share))
    return decides


def _crossing(bound: float, *, grid: np.ndarray, mass: np.ndarray, step: float, allowed: float) -> float:
    """How much more than allowed of the runs that are still open lies beyond the bound after a step."""
    from scipy.special import ndtr

    return float(mass @ ndtr((grid - bound) / step)) - allowed
