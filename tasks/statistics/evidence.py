"""The evidence for and against a gate in a share of rows."""

from __future__ import annotations

from typing import NamedTuple

from contrapose.tasks.statistics.shares import LEVEL, Interval, Share, exact


class Evidence(NamedTuple):
    """How a share lies to a gate."""

    bounds: Interval
    """One-sided bounds, 95 % unless told otherwise: the rate is at least `low`; separately, it is at most `high`."""
    reached: float
    """p value of a rate this high or higher, if the true one lay at the gate."""
    missed: float
    """p value of a rate this low or lower, if the true one lay at the gate."""


def evidence(share: Share, gate: float, *, level: float = LEVEL) -> Evidence:
    """Return one-sided bounds and p values of a share against a gate from 0 to 1; the bounds leave out `level`.

    Exact by the binomial distribution: C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413. Wilson's bound lets
    a gate at its boundary pass too often: 9 of 10 against 0.65 occur in 8.6 %, and of 100 to 400 rows a gate of 0.95
    is passed in up to 6.2 % and failed in up to 8.4 %. A bound reaches the gate where the p value is the level.

    In clusters the evidence is never stronger than if only the worst cluster had false rows, or none had. Of 20
    clusters of 5 rows, 98 true ones would otherwise tell more about a gate of 0.9 than 100, whose clusters may be
    copies for all that is known, and a gate at its boundary passed in 9.5 % at a correlation of 0.6.
    """
    from scipy.special import betainc, betaincc

    # Tails of the binomial distribution are those of the beta distribution: effective rows are no whole number.
    def p_reached(one: Share) -> float:
        true, false = one.effective * one.rate, one.effective * (1 - one.rate)
        return float(betainc(true, false + 1, gate)) if one.true else 1.0

    def p_missed(one: Share) -> float:
        true, false = one.effective * one.rate, one.effective * (1 - one.rate)
        return float(betaincc(true + 1, false, gate)) if one.true < one.rows else 1.0

    up, down = (share, *share.better), (share, *share.worse)
    return Evidence(
        bounds=Interval(min(exact(one, level).low for one in up), max(exact(one, level).high for one in down)),
        reached=max(map(p_reached, up)) if gate else 0.0,  # no true rate lies under a gate of 0
        missed=max(map(p_missed, down)),
    )
