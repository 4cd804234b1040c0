"""Every pair of models in one test."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from contrapose.tasks.compare.differences import paired
from contrapose.tasks.compare.rows import Rows
from contrapose.tasks.compare.verdicts import decide
from contrapose.tasks.comparison import Pair, Rate
from contrapose.tasks.statistics.families import holm
from contrapose.tasks.statistics.means import mean
from contrapose.tasks.statistics.shares import clustered, wilson


def pairs_of(rows: Rows, names: Sequence[str], *, margin: float) -> list[Pair]:
    """All pairs, those with the baseline first.

    Args:
        rows: of one test, the baseline's first.
        names: of the models, in the same order.
        margin: loss of pass rate that is still called not worse.
    """
    places = list(combinations(range(len(names)), 2))
    found = _corrected([_pair(rows, (names[other], names[one]), (other, one)) for one, other in places])
    return [decide(pair, margin) if one == 0 else pair for (one, _), pair in zip(places, found, strict=True)]


def _corrected(pairs: list[Pair]) -> list[Pair]:
    """The pairs with Holm's correction over all of them."""
    tested = [pair["difference"]["p"] for pair in pairs if pair["difference"]]
    adjusted = iter(holm([p for p in tested if p is not None]))
    return [
        {**pair, "difference": {**pair["difference"], "adjusted": next(adjusted)}}
        if pair["difference"] and pair["difference"]["p"] is not None
        else pair
        for pair in pairs
    ]


def rate(passed: np.ndarray, cluster: np.ndarray) -> Rate | None:
    """Pass rate of cases that were all scored, with its interval; None where there are none."""
    if not len(passed):
        return None
    if np.isin(passed, (0, 1)).all():
        share = clustered(passed == 1, cluster)
        return Rate(value=share.rate, interval=wilson(share))
    found = mean(passed, cluster, bounds=(0.0, 1.0))
    return Rate(value=found.value, interval=found.interval) if found else None


def _pair(rows: Rows, names: tuple[str, str], places: tuple[int, int]) -> Pair:
    first, second = (rows.passed[place] for place in places)
    scored = [np.isfinite(first), np.isfinite(second)]
    both, asked = scored[0] & scored[1], rows.asked[list(places)].any(axis=0)
    rates = [rate(passed[both], rows.cluster[both]) for passed in (first, second)]
    return Pair(
        first=names[0],
        second=names[1],
        cases=int(both.sum()),
        clusters=len(np.unique(rows.cluster[both])),
        only_first=int((scored[0] & ~scored[1]).sum()),
        only_second=int((scored[1] & ~scored[0]).sum()),
        neither=int((asked & ~scored[0] & ~scored[1]).sum()),
        rates=None if rates[0] is None or rates[1] is None else (rates[0], rates[1]),
        difference=paired(first[both], second[both], rows.cluster[both]) if both.any() else None,
        extremes=_extremes(first[asked], second[asked]),
        verdict=None,
        reason="",
    )


def _extremes(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The difference of two models over all cases, if those without a score failed or passed, whichever is meant."""
    low = np.nan_to_num(first, nan=0.0) - np.nan_to_num(second, nan=1.0)
    high = np.nan_to_num(first, nan=1.0) - np.nan_to_num(second, nan=0.0)
    return float(low.mean()), float(high.mean())
