"""Power analysis: how many cases a decision needs, and which pass rates a number of cases can decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from statistics import NormalDist

import numpy as np

from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.shares import LEVEL, Evidence, Share, compute_penalty, evidence, make_independent

IN_SAMPLE, IN_CLUSTER = 0.5, 0.1
"""Correlations assumed before anything is known: of the cases of one sample, and of the samples of one cluster."""
DISCORDANCE = 0.2
"""Share of cases on which two models are assumed to differ."""
MOST = 10_000_000
"""More cases than these nobody asks."""
POWER = 0.8
"""Chance of a finding that a planned number of cases must give: the usual one."""
LUCK = NormalDist().inv_cdf(POWER)
"""Standard errors by which a rate is luckier than with that chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The true pass rates that a number of independent cases can decide about a gate."""

    fails_up_to: float | None
    """Largest true pass rate that fails with the usual power, or None if no result fails."""
    passes_from: float | None
    """Smallest true pass rate that passes with the usual power, or None if no result passes."""

    @property
    def undecided(self) -> float:
        """Return the width of the range of undecided rates, 0 to 1."""
        return (1.0 if self.passes_from is None else self.passes_from) - (self.fails_up_to or 0.0)


def count_further_rows(share: Share, gate: float, *, level: float = LEVEL, looks: Looks | None = None) -> int | None:
    """Return about how many further rows decide a share against a gate with 80 % power, or None if none do.

    Further rows are true as often, and as dependent. `level` is the p value that a verdict needs; `looks` are those
    at the rows so far, if a later run must count them.
    """
    above = share.rate > gate

    def decides(rows: int) -> bool:
        own = level
        if looks is not None:
            growth = rows / share.rows
            then = looks.after(growth) if rows > share.rows else looks
            own = then.level(level, freedom=share.freedom * growth)
        # All but the fifth of the draws that lie nearest to the gate, or beyond it, must be decided.
        grown = evidence(_grow(share, rows, luck=-LUCK if above else LUCK), gate)
        return (grown.reached if above else grown.missed) <= own

    rows = _find_enough(decides, share.rows)
    return None if rows is None else rows - share.rows


def worth(samples: Sequence[int], clusters: Sequence[int]) -> float:
    """Return the number of independent cases that samples and clusters of these sizes are worth.

    The design effect is 1 + r(m - 1), with r the assumed correlation and m the mean size weighted by itself, here for
    both levels: L. Kish, Survey Sampling (1965), chapter 5; S. Gabler, S. Häder, P. Lahiri, Survey Methodology 25
    (1999) 105-106. Few clusters cost more, as at the gate, where a single one counts as one case.
    """
    rows = sum(samples)
    if len(clusters) == 1:
        return 1.0
    same, near = (float(np.square(sizes, dtype=float).sum()) / rows for sizes in (samples, clusters))
    effect = 1 + IN_SAMPLE * (same - 1) + IN_CLUSTER * (near - same)
    return max(1.0, rows / effect * compute_penalty(rows, len(clusters)))


def find_reach(cases: int, gate: float, *, level: float, agreeing: float | None = None) -> Reach:
    """Return the true pass rates that independent cases, at least one, decide with 80 % power.

    If all cases agree, they are worth `agreeing` ones. A count decides by the evidence that the gate itself uses.
    The rate at which k or more of n cases are true with a given probability is a quantile of the beta distribution:
    C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413.
    """
    from scipy.special import betaincinv

    def evidence_of(true: int) -> Evidence:
        share = make_independent(true, cases)
        none, every = (replace(share, true=count, effective=agreeing or cases) for count in (0, cases))
        return evidence(replace(share, better=(every,), worse=(none,)), gate)

    passing = find_first(lambda true: evidence_of(true).reached <= level, -1, cases + 1)
    open_from = find_first(lambda true: evidence_of(true).missed > level, -1, cases + 1)
    failing = open_from - 1
    passes_from = float(betaincinv(passing, cases - passing + 1, POWER)) if passing else 0.0
    return Reach(
        fails_up_to=float(betaincinv(failing + 1, cases - failing, 1 - POWER)) if failing >= 0 else None,
        passes_from=passes_from if passing <= cases else None,
    )


def find_cases(gate: float, *, level: float, undecided: float) -> int | None:
    """Return the smallest number of cases that can pass a gate with a narrow undecided range, or None."""

    def enough(cases: int) -> bool:
        reached = find_reach(cases, gate, level=level)
        return reached.passes_from is not None and reached.undecided <= undecided

    return _find_enough(enough, 1)


def find_least(gate: float, *, level: float) -> float:
    """Return how many independent passed cases reach a gate below 1: p is the gate to their power."""
    return log(level) / log(gate) if gate else 0.0


def highest(cases: float, *, level: float) -> float:
    """Return the highest gate that independent cases reach if all pass: the inverse of `find_least`."""
    return float(level ** (1 / cases))


def detectable(pairs: int) -> float | None:
    """Return the smallest difference of two pass rates, 0 to 1, that the exact McNemar test finds with 80 % power.

    Both models answer so many independent pairs and differ on a fifth of them; None if not even a one-sided split is
    found. Source: S. W. Duffy, Biometrics 40 (1984) 1005-1015, exact power, two-sided at 5 %. R. J. Connor,
    Biometrics 43 (1987) 207-211, is its approximation for many pairs.
    """
    from scipy.optimize import brentq

    if _mcnemar_power(pairs, DISCORDANCE) < POWER:
        return None
    return float(brentq(lambda difference: _mcnemar_power(pairs, difference) - POWER, 0, DISCORDANCE, xtol=1e-6))


def find_pairs(difference: float) -> int | None:
    """Return about the fewest pairs on which McNemar's test finds a difference with 80 % power, or None.

    The difference, 0 to 1, is between the shares of the two ways to differ; in all, a fifth of the pairs differ.
    """
    if not 0 < difference <= DISCORDANCE:
        return None
    return _find_enough(lambda pairs: _mcnemar_power(pairs, difference) >= POWER, 10)


def _mcnemar_power(pairs: int, difference: float) -> float:
    """Return the power of McNemar's test, averaged over the number of differing pairs; rare numbers are skipped."""
    from scipy.stats import binom

    low, high = binom.interval(1 - 1e-9, pairs, DISCORDANCE)
    differing = np.arange(low, high + 1)
    tail = LEVEL / 2
    least = binom.ppf(tail, differing, 0.5)
    most = least - (binom.cdf(least, differing, 0.5) > tail)
    share = (1 + difference / DISCORDANCE) / 2
    power = binom.cdf(most, differing, share) + binom.sf(differing - most - 1, differing, share)
    return float(power @ binom.pmf(differing, pairs, DISCORDANCE))


def _grow(share: Share, rows: int, *, luck: float = 0.0) -> Share:
    """Return a share grown to `rows`; the new rows' rate is shifted by `luck` standard errors."""
    error = sqrt((rows - share.rows) * share.design_effect * share.rate * (1 - share.rate))
    return replace(
        share,
        rows=rows,
        true=min(rows, max(0, round(share.rate * rows + luck * error))),
        effective=1 / (share.rows / rows * (1 / share.effective - 1 / share.ceiling) + 1 / share.ceiling),
        better=tuple(_grow(part, rows) for part in share.better),
        worse=tuple(_grow(part, rows) for part in share.worse),
    )


def _find_enough(holds: Callable[[int], bool], start: int) -> int | None:
    """Return about the smallest number from `start` for which `holds` is true, or None up to the maximum."""
    if holds(start):
        return start
    low, high = start, 2 * start
    while not holds(high):
        if high > MOST:
            return None
        low, high = high, 2 * high
    return find_first(holds, low, high)


def find_first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest number above `low` for which `holds` is true, or `high` if there is none below it."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
