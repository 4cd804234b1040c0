"""Exact confidence bounds of the difference of two models' pass rates on the same cases, also in clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.statistics.shares import LEVEL, Interval, compute_penalty, compute_spread, copies, make_labels

FEWEST_CLUSTERS = 15
"""Fewer clusters than these bound no difference: a variance from so few clusters is unknown."""
SET_ASIDE = 1 / 500
"""Part of the level that is paid for the interval of the nuisance parameter."""
STEP = 0.5
"""Standard errors between two values of the nuisance parameter at most: of the share lost, and of the share won."""
REFINED = 13
"""Values around the greatest tail."""
REACH = 7
"""Standard deviations around an expected count beyond which no count is summed."""
PRECISE = 1e-5
"""Of a bound: a thousandth of a point."""
TIED = 1e-9
"""Scores that differ by less than this are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Pairs of answers, converted into an equivalent number of independent pairs."""

    lost: float
    """Only the second model passed."""
    won: float
    """Only the first model passed."""
    pairs: int
    """All pairs, at least one."""
    copies: float = np.inf
    """What clusters would be worth if all pairs of a cluster were copies; infinite where no pair has a cluster."""
    freedom: float = np.inf
    """Degrees of freedom of the design effect."""


def bound_difference(
    first: Any, second: Any, cluster: Any, *, looks: Looks = ONE_LOOK, level: float = LEVEL
) -> Interval | None:
    """Return one-sided bounds of the first share minus the second at a look, or None if nothing is known.

    Args:
        first: (rows,) of 0 and 1, or of shares of repeats; NaN is unknown.
        second: likewise.
        cluster: (rows,) of labels. Rows with the same label are not independent.
        looks: all looks together may err at the level, at each side separately.
        level: share of errors, 0 to 1.
    """
    import pandas as pd

    both = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    known = np.isfinite(both)
    if not known.any():
        return None
    codes = pd.factorize(make_labels(cluster)[known])[0]
    sizes = np.bincount(codes).astype(float)
    if len(sizes) == 1 < len(codes):
        return None
    lost, won = (np.bincount(codes, weights=np.maximum(sign * both[known], 0)) for sign in (-1, 1))
    low, high = (_bound(one, other, sizes, looks, level) for one, other in ((lost, won), (won, lost)))
    return Interval(low, -high)


def _bound(lost: np.ndarray, won: np.ndarray, sizes: np.ndarray, looks: Looks, level: float) -> float:
    if len(sizes) < min(FEWEST_CLUSTERS, sizes.sum()):
        return -1.0
    pairs, spent = effective_pairs(lost, won, sizes), level * sum(weight for _, weight in looks.spending)
    return lower_bound(pairs, looks.level(level, freedom=pairs.freedom), spent=min(level, spent))


def effective_pairs(lost: np.ndarray, won: np.ndarray, sizes: np.ndarray) -> Pairs:
    """Return clustered pairs as an equivalent number of independent pairs, at most the real number.

    Args:
        lost: (clusters,) pairs that only the second model passed.
        won: (clusters,) pairs that only the first model passed.
        sizes: (clusters,) all pairs.

    The design effect is the jackknife's variance of the difference over the variance of independent pairs, at least 1.
    Few clusters cost the squared ratio of Student's quantiles, with one degree of freedom less than clusters of equal
    size that tell as much: E. L. Korn, B. I. Graubard, Survey Methodology 24 (1998) 193-201. The design effect counts
    one more cluster, lost completely: data without such a cluster cannot show how much a lost one would cost.
    """
    rows = float(sizes.sum())
    totals = {"lost": float(lost.sum()), "won": float(won.sum())}
    if len(sizes) == rows:
        return Pairs(**totals, pairs=int(rows))
    least = copies(sizes)
    more, more_sizes = np.r_[won - lost, -rows / least], np.r_[sizes, rows / least]
    differing, net = (totals["lost"] + totals["won"] + more_sizes[-1]) / more_sizes.sum(), more.sum() / more_sizes.sum()
    worth = (differing - net**2) / compute_spread(more, more_sizes).variance * compute_penalty(rows, least)
    pairs = int(min(rows, max(1.0, worth)))
    kept = pairs / rows
    return Pairs(lost=kept * totals["lost"], won=kept * totals["won"], pairs=pairs, copies=least, freedom=least - 1.0)


def lower_bound(pairs: Pairs, level: float, *, spent: float | None = None) -> float:
    """Return the smallest difference that is not rejected at the level, 0 to 1.

    In clusters it is never above what clusters of copies show without any loss: a cluster that is lost completely may
    just not be among them. Over several looks that error happens at the first of them or at none, so it may be as
    frequent as what all looks so far have `spent`; without it, as the level.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    estimate = (pairs.won - pairs.lost) / pairs.pairs
    if level <= 0 or estimate <= -1 + PRECISE:
        return -1.0
    away = 3 * ndtri(1 - level) * np.sqrt(pairs.lost + pairs.won + 1) / pairs.pairs + 3 / pairs.pairs
    # Rejected at the left end, not at the right one.
    left = next((gap for gap in (estimate - away, -1 + PRECISE) if gap > -1 and tail(pairs, gap, level) <= level), None)
    if left is None:
        return -1.0
    bound = float(brentq(lambda gap: tail(pairs, gap, level) - level, left, estimate, xtol=PRECISE / 4)) - PRECISE
    without_loss = (spent or level) ** (1 / pairs.copies) - 1 if np.isfinite(pairs.copies) else 1.0
    return max(-1.0, min(bound, without_loss))


def tail(pairs: Pairs, gap: float, level: float) -> float:
    """Return the p value, 0 to 1, of a difference this large, if the true difference is at most `gap`, -1 to 1.

    Tables are ordered by the score of T. Tango, Statistics in Medicine 17 (1998) 891-908. The p value is the greatest
    over the share of lost pairs (exact and unconditional: K. Sidik, Statistics in Medicine 22 (2003) 265-278; C. J.
    Lloyd, M. V. Moldovan, Statistics in Medicine 27 (2008) 3540-3549), within an interval that leaves out a 500th of
    the level, which is added: R. L. Berger, D. D. Boos, JASA 89 (1994) 1012-1016. The score rises with the pairs won
    and falls with those lost, so a true difference below `gap` has no larger tail than one at `gap` with as many lost.
    """
    whole, aside = pairs.pairs, level * SET_ASIDE
    shares = _lost_shares(pairs, gap, aside)
    lost = _likely_counts(whole, shares)
    region = _Region(lost, _fewest_won(lost, pairs, gap), whole, gap)
    grid = _spaced_shares(shares, gap, whole)
    rough = region.chances(grid)
    peak = int(np.argmax(rough))
    close = np.linspace(grid[max(0, peak - 1)], grid[min(len(grid) - 1, peak + 1)], REFINED)
    return min(1.0, aside + max(float(rough.max()), float(region.chances(close).max())))


def tango_score(lost: Any, won: Any, pairs: float, gap: float) -> np.ndarray:
    """Return Tango's score of counts against a true difference, 0 if they match it exactly.

    The share lost has its greatest likelihood under that difference: the larger root of a quadratic equation.
    """
    lost, won, loss = np.asarray(lost, dtype=float), np.asarray(won, dtype=float), -gap
    linear = lost + won + loss * (2 * pairs + lost - won)
    root = np.sqrt(np.maximum(linear**2 - 8 * pairs * lost * loss * (1 + loss), 0.0))
    variance = pairs * ((linear + root) / (2 * pairs) - loss - loss**2)
    above = won - lost + pairs * loss
    known = np.maximum(variance, TIED)
    return np.where(np.abs(above) < TIED, 0.0, above / np.sqrt(known))


@dataclass(frozen=True, slots=True)
class _Region:
    """Tables of counts that are as extreme as the observed one."""

    lost: np.ndarray
    """(counts,)."""
    won: np.ndarray
    """(counts,): the fewest pairs won that are as extreme beside them."""
    pairs: int
    gap: float

    def chances(self, shares: np.ndarray) -> np.ndarray:
        """Return the probability of the region for each of these shares of lost pairs, (shares,)."""
        from scipy.special import betainc, gammaln, xlog1py, xlogy

        lost, rest, shares = self.lost, self.pairs - self.lost, shares[:, None]
        ways = gammaln(self.pairs + 1) - gammaln(lost + 1) - gammaln(rest + 1)
        chance = np.exp(ways + xlogy(lost, shares) + xlog1py(rest, -shares))
        wins = np.clip((shares + self.gap) / np.maximum(1 - shares, TIED), 0.0, 1.0)
        # The upper tail of the binomial distribution of the pairs won among those not lost.
        beyond = betainc(np.maximum(self.won, 1), np.maximum(rest - self.won + 1, 1), wins)
        beyond = np.where(self.won <= 0, 1.0, np.where(self.won > rest, 0.0, beyond))
        return np.asarray((chance * beyond).sum(axis=1))


def _lost_shares(pairs: Pairs, gap: float, aside: float) -> np.ndarray:
    """Return both ends of an exact interval of the share lost, limited to values that the difference allows."""
    from scipy.special import betaincinv

    kept = pairs.pairs - pairs.lost
    low = float(betaincinv(pairs.lost, kept + 1, aside / 2)) if pairs.lost > 0 else 0.0
    high = float(betaincinv(pairs.lost + 1, kept, 1 - aside / 2)) if kept > 0 else 1.0
    return np.clip([low, high], max(0.0, -gap), (1 - gap) / 2)


def _spaced_shares(ends: np.ndarray, gap: float, pairs: int) -> np.ndarray:
    """Return a grid of shares lost between the ends, fine enough that neither count changes much."""
    step = STEP / (2 * np.sqrt(pairs))
    spaced = []
    for more in (0.0, gap):
        low, high = np.arcsin(np.sqrt(np.clip(ends + more, 0.0, 1.0))).tolist()
        spaced.append(np.sin(np.linspace(low, high, int(np.ceil((high - low) / step)) + 2)) ** 2 - more)
    return np.unique(np.clip(np.concatenate(spaced), *ends))


def _likely_counts(pairs: int, shares: np.ndarray) -> np.ndarray:
    """Return the counts of lost pairs that these shares make likely."""
    away = REACH * np.sqrt(pairs * shares * (1 - shares)) + REACH
    low, high = np.clip(pairs * shares + (-away[0], away[1]), 0, pairs)
    return np.arange(int(low), int(high) + 1)


def _fewest_won(lost: np.ndarray, pairs: Pairs, gap: float) -> np.ndarray:
    """Return the fewest pairs won that are as extreme as the observed table beside each count lost, by bisection."""
    whole, observed = pairs.pairs, float(tango_score(pairs.lost, pairs.won, pairs.pairs, gap)) - TIED
    low, high = np.full(len(lost), -1), whole - lost + 1
    for _ in range(int(whole + 2).bit_length() + 1):
        middle = (low + high) // 2
        going, extreme = high - low > 1, tango_score(lost, middle, whole, gap) >= observed
        high, low = np.where(going & extreme, middle, high), np.where(going & ~extreme, middle, low)
    return high
