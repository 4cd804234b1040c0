"""What any rule could save that may be wrong as often, and may leave some more open: found by going back in time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from contrapose.tasks.statistics.shares import LEVEL

GRID = np.linspace(-5.0, 9.0, 1401)
STEPS = 18
"""By which a price is halved in on."""
CHEAP, DEAR = 1e-3, 1e4
"""Prices of a wrong claim, and of an open end, in calls of a whole run."""

SELDOM = 1e-3
"""Where fewer runs are left open than these, one knows no more than that nothing is saved before the first look."""


class Frontier(NamedTuple):
    """What a rule comes to."""

    wrong: float
    """How often it claims something that is just not true."""
    left_open: float
    """How often it claims nothing where the truth lies off."""
    saved: float
    """Of the calls there."""


def most_saved(shares: tuple[float, ...], left_open: float, more: float) -> float:
    """The greatest share of the calls that any rule saves on average which looks then.

    Args:
        shares: of the cases, at each look.
        left_open: the share of the runs that one look at the end leaves open where the truth lies off the gate.
        more: how many more a rule may leave open.

    Sums are taken for a Brownian motion whose drift makes one look leave so many open. The rule that saves most under
    two conditions is the one that pays least for wrong claims, open ends and calls at some prices, which is found from
    the last look backwards: J. D. Eales, C. Jennison, Biometrika 79 (1992) 13-24.
    """
    from scipy.stats import norm

    if left_open < SELDOM:
        return 1 - shares[0]
    drift = float(norm.isf(LEVEL) + norm.isf(left_open))
    low, high = CHEAP, DEAR
    for _ in range(STEPS):
        price = float(np.sqrt(low * high))
        reached = _with_price(shares, drift, price)
        low, high = (price, high) if reached.left_open > left_open + more else (low, price)
    return _with_price(shares, drift, high).saved


def _with_price(shares: tuple[float, ...], drift: float, price: float) -> Frontier:
    """The rule that pays a price for an open end, and as much for a wrong claim as keeps these within the level."""
    low, high = CHEAP, DEAR
    for _ in range(STEPS):
        wrong = float(np.sqrt(low * high))
        reached = _followed(shares, drift, _bounds(shares, drift, price, wrong))
        low, high = (wrong, high) if reached.wrong > LEVEL else (low, wrong)
    return _followed(shares, drift, _bounds(shares, drift, price, high))


def _bounds(shares: tuple[float, ...], drift: float, price: float, wrong: float) -> np.ndarray:
    """The sum from which it claims at each look; costs are expected without a drift, where calls count by odds."""
    bounds = np.full(len(shares), np.inf)
    cost = price * _odds(shares[-1], drift)
    for look in range(len(shares) - 1, -1, -1):
        if look < len(shares) - 1:
            step = shares[look + 1] - shares[look]
            cost = _spread(np.minimum(cost, wrong), step, edge=True) + step * _odds(shares[look], drift)
        claims = np.flatnonzero(cost >= wrong)
        bounds[look] = GRID[claims[0]] if len(claims) else np.inf
    return bounds


def _followed(shares: tuple[float, ...], drift: float, bounds: np.ndarray) -> Frontier:
    """What comes of it, from the first look on."""
    mass, before, wrong, open_, calls = np.zeros_like(GRID), 0.0, 0.0, 1.0, 0.0
    mass[np.abs(GRID).argmin()] = 1.0
    for share, bound in zip(shares, bounds, strict=True):
        mass, calls = _spread(mass, share - before, edge=False), calls + (share - before) * open_
        claimed = np.where(bound <= GRID, mass, 0.0)
        wrong, open_ = wrong + float(claimed.sum()), open_ - float((claimed * _odds(share, drift)).sum())
        mass, before = mass - claimed, share
    return Frontier(wrong, open_, 1 - calls)


def _odds(share: float, drift: float) -> np.ndarray:
    """How much likelier a sum is with the drift."""
    return np.asarray(np.exp(drift * GRID - drift**2 * share / 2))


def _spread(values: np.ndarray, step: float, *, edge: bool) -> np.ndarray:
    """One step on, or back."""
    from scipy.ndimage import gaussian_filter1d

    width = float(np.sqrt(step) / (GRID[1] - GRID[0]))
    return np.asarray(gaussian_filter1d(values, width, mode="nearest" if edge else "constant", truncate=6.0))
