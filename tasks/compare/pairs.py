"""Compare every pair of models in one test: difference, interval, p value, verdict and ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist

import numpy as np

from contrapose.tasks.compare.rows import AlignedCases
from contrapose.tasks.core.comparison import (
    MIN_COVERAGE,
    ComparedRate,
    Contest,
    Difference,
    Pair,
    RankedModel,
    Standing,
    Verdict,
)
from contrapose.tasks.statistics.families import format_p_over_level, holm, mcnemar
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.statistics.matched import bound_difference
from contrapose.tasks.statistics.means import SEED, difference, mean, pool_clusters
from contrapose.tasks.statistics.power import LUCK, MOST
from contrapose.tasks.statistics.shares import CONFIDENCE, LEVEL, Interval, clustered_share, wilson
from contrapose.tasks.text.wording import counted, more_cases_clause

ONE_SIDED, TWO_SIDED = NormalDist().inv_cdf(1 - LEVEL), NormalDist().inv_cdf(1 - LEVEL / 2)
"""Standard errors between a difference and its one-sided bound, and an end of its interval."""
LEAST_ROOM = 1e-4
"""Differences that no number of cases which anybody asks could show."""


def compare_pairs(rows: AlignedCases, names: Sequence[str], *, margin: float) -> list[Pair]:
    """Compare all pairs of models in one test, starting with the baseline, which is the first in rows and names."""
    places = list(combinations(range(len(names)), 2))
    pairs = [_compare_pair(rows, (names[other], names[one]), (other, one)) for one, other in places]
    # Holm's correction is over all pairs: which of them may claim something depends on results where runs stop early.
    tested = [pair["difference"] for pair in pairs if pair["difference"] and pair["difference"]["p"] is not None]
    silent = sum("stopped" in pair for pair in pairs)
    values = [own["p"] for own in tested if own["p"] is not None]
    for own, adjusted in zip(tested, holm([*values, *[1.0] * silent]), strict=False):
        own["adjusted"] = adjusted
    return [decide(pair, margin) if one == 0 else pair for (one, _), pair in zip(places, pairs, strict=True)]


def get_rate(
    passed: np.ndarray, cluster: np.ndarray, *, chosen: bool = False, looks: Looks = ONE_LOOK
) -> ComparedRate | None:
    """Return the pass rate of scored cases with an interval over all looks, or None if there are no cases.

    It has no interval if the cases are chosen, by a run that stopped when its own result let it.
    """
    if not len(passed):
        return None
    if chosen:
        return ComparedRate(value=float(passed.mean()), interval=None)
    if np.isin(passed, (0, 1)).all():
        share = clustered_share(passed == 1, cluster)
        return ComparedRate(value=share.rate, interval=wilson(share, confidence=_get_confidence(looks)))
    if looks != ONE_LOOK:
        interval = _interval(passed, np.zeros_like(passed), cluster, _get_confidence(looks))
        return ComparedRate(
            value=float(passed.mean()), interval=interval and Interval(max(0.0, interval.low), interval.high)
        )
    estimate = mean(passed, cluster, bounds=(0.0, 1.0))
    return ComparedRate(value=estimate.value, interval=estimate.interval) if estimate else None


def _compare_pair(rows: AlignedCases, names: tuple[str, str], places: tuple[int, int]) -> Pair:
    first, second = (rows.passed[place] for place in places)
    scored = [np.isfinite(first), np.isfinite(second)]
    stopped = [name for name, place in zip(names, places, strict=True) if rows.early and rows.early[place]]
    asked = rows.asked[list(places)].all(axis=0) if stopped else rows.asked[list(places)].any(axis=0)
    both = scored[0] & scored[1]
    rates = [
        get_rate(passed[both], rows.cluster[both], chosen=bool(stopped), looks=rows.looks) for passed in (first, second)
    ]
    difference: Difference | None = None
    if both.any() and stopped:
        # A run stops where its own rate lies far from its gate, by chance too: one of the two that are compared chose
        # these cases. P values and intervals for samples of fixed size err too often over them; what several looks may
        # claim needs looks at the difference itself, at both models side by side.
        value = float(np.mean(first[both] - second[both]))
        difference = Difference(value=value, interval=None, bounds=None, p=None, adjusted=None, method=UNTESTED)
    elif both.any():
        difference = compute_difference(first[both], second[both], rows.cluster[both], looks=rows.looks)
    # All cases without a score may have failed, or passed.
    low = np.nan_to_num(first[asked], nan=0.0) - np.nan_to_num(second[asked], nan=1.0)
    high = np.nan_to_num(first[asked], nan=1.0) - np.nan_to_num(second[asked], nan=0.0)
    pair = Pair(
        first=names[0],
        second=names[1],
        cases=int(both.sum()),
        clusters=len(np.unique(rows.cluster[both])),
        only_first=int((asked & scored[0] & ~scored[1]).sum()),
        only_second=int((asked & scored[1] & ~scored[0]).sum()),
        neither=int((asked & ~scored[0] & ~scored[1]).sum()),
        rates=None if rates[0] is None or rates[1] is None else (rates[0], rates[1]),
        difference=difference,
        extremes=(float(low.mean()), float(high.mean())),
        verdict=None,
        reason="",
    )
    return {**pair, "stopped": stopped} if stopped else pair


FLIPS = 9_999
"""Ways to flip the signs that are tried, at random where there are more."""
PORTION = 500
"""Flips that are in memory at a time."""

MCNEMAR = "exact McNemar test"
SIGN_FLIPS = "sign flips of clusters"
UNTESTED = "none: an early stop chose the cases"


def compute_difference(
    first: np.ndarray, second: np.ndarray, cluster: np.ndarray, *, looks: Looks = ONE_LOOK
) -> Difference:
    """Return the difference over cases that both models scored, at least one; all looks are counted.

    Results are (cases,) of 0 and 1, or shares of repeats. Independent cases that are 0 or 1 have the exact McNemar
    test; all others one that flips the signs of the clusters' differences, as exchanging the two models in a cluster
    does. McNemar's test is the same with one case a cluster: P. Good, Permutation, Parametric, and Bootstrap Tests of
    Hypotheses (2005), chapter 3. Where McNemar's test applies, the interval is that of the one-sided bounds.
    """
    plain = bool(np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all())
    independent = plain and len(np.unique(cluster)) == len(cluster)
    several = looks != ONE_LOOK
    p = mcnemar(first == 1, second == 1).p if independent else _flip_signs(first - second, cluster)
    if independent:
        interval = bound_difference(first, second, cluster, looks=looks, level=LEVEL / 2)
    else:
        interval = _interval(first, second, cluster, _get_confidence(looks))
    return Difference(
        value=float(np.mean(first - second)),
        interval=interval,
        bounds=bound_difference(first, second, cluster, looks=looks),
        p=min(1.0, 2 * looks.overall(p / 2)) if several and p is not None else p,
        adjusted=None,
        method=MCNEMAR if independent else SIGN_FLIPS,
    )


def _get_confidence(looks: Looks) -> float:
    """Return the confidence of the intervals at a look, so that all looks together have 95 %."""
    return CONFIDENCE if looks == ONE_LOOK else 1 - 2 * looks.level(LEVEL / 2)


SUREST = 1 - 1e-5
"""Confidence beyond which no resamples tell an interval: a look that decides so seldom says nothing."""


def _interval(first: np.ndarray, second: np.ndarray, cluster: np.ndarray, confidence: float) -> Interval | None:
    if confidence > SUREST:
        return Interval(-1.0, 1.0)
    estimate = difference(first, second, cluster, share=True, confidence=confidence)
    return estimate.interval if estimate else None


def _flip_signs(differences: np.ndarray, cluster: np.ndarray) -> float | None:
    """Return a two-sided p value; many clusters are pooled at random, since groups of them may be flipped as well."""
    from scipy.stats import permutation_test

    sums = pool_clusters(np.bincount(np.unique(cluster, return_inverse=True)[1], weights=differences))
    if len(sums) < 2:
        return None
    moved = sums[sums != 0]
    if len(moved) < 2:
        return 1.0
    tested = permutation_test(
        (moved,),
        lambda values, axis: values.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=FLIPS,
        batch=PORTION,
        rng=np.random.default_rng(SEED),
    )
    return float(tested.pvalue)


def decide(pair: Pair, margin: float) -> Pair:
    """Return the pair with its verdict: the first in `DEFINITIONS` that applies.

    Its second model is the baseline. "Not worse" is a claim of its own for each candidate, and needs no correction for
    their number. It is a test of non-inferiority: G. Piaggio and others, JAMA 308 (2012) 2594-2604.
    """
    estimate, asked = pair["difference"], _count_asked(pair)
    if "stopped" in pair:
        whose = "its own result" if len(pair["stopped"]) == 1 else "their own results"
        reason = (
            f"No verdict: {' and '.join(pair['stopped'])} stopped early, so {whose} chose the "
            f"{counted('cases', asked)} that both were asked. Run again with --stop all; only what is missing is asked."
        )
        return {**pair, "verdict": "cannot tell", "reason": reason}
    if estimate is None or not _is_covered(pair):
        reason = f"Only {pair['cases']:,} of {asked:,} cases could be scored for both; {MIN_COVERAGE:.0%} are needed."
        return {**pair, "verdict": "cannot tell", "reason": reason}
    sign = find_direction(pair)
    verdict: Verdict = "better" if sign > 0 else "worse" if sign < 0 else "cannot tell"
    if sign <= 0 and estimate["bounds"] and estimate["bounds"][0] >= -margin:
        verdict = "not worse"
    more = count_further_pairs(pair["cases"], estimate, margin) if verdict == "cannot tell" else None
    return {**pair, "verdict": verdict, "reason": _explain_verdict(verdict, pair, estimate, margin, more)}


def find_direction(pair: Pair) -> int:
    """Return 1 if the first model is significantly better, -1 if it is worse, else 0; also 0 if coverage is low."""
    estimate = pair["difference"]
    if estimate is None or estimate["interval"] is None or estimate["adjusted"] is None or estimate["adjusted"] > LEVEL:
        return 0
    low, high = estimate["interval"]
    return int(low > 0) - int(high < 0) if _is_covered(pair) else 0


def _is_covered(pair: Pair) -> bool:
    return pair["cases"] >= MIN_COVERAGE * _count_asked(pair)


def _count_asked(pair: Pair) -> int:
    return pair["cases"] + pair["only_first"] + pair["only_second"] + pair["neither"]


def count_further_pairs(cases: int, estimate: Difference, margin: float) -> int | None:
    """Return about how many more cases give a verdict with 80 % power at this difference, or None if none do.

    An interval narrows with the square root of the cases. It must keep clear of the margin, or of 0, by as many
    standard errors as four of five samples have to spare.
    """
    value, ends, bounds = estimate["value"], estimate["interval"], estimate["bounds"]
    p, adjusted = estimate["p"], estimate["adjusted"]
    if ends is None or bounds is None or p is None or adjusted is None:
        return None
    # Each way to a verdict: a standard error, the room it has, and how many of them must fit in. Holm's correction asks
    # a difference for more of them.
    error = (ends[1] - value if value < 0 else value - ends[0]) / TWO_SIDED
    ways = [
        ((value - bounds[0]) / ONE_SIDED, value + margin, ONE_SIDED + LUCK),
        (error, abs(value), NormalDist().inv_cdf(1 - LEVEL / 2 / max(1.0, adjusted / p if p else 1.0)) + LUCK),
    ]
    growth = min(((errors * error / room) ** 2 for error, room, errors in ways if room > LEAST_ROOM), default=math.inf)
    needed = math.ceil(cases * min(growth, MOST)) - cases
    return needed if 0 < needed < MOST else None


def _explain_verdict(verdict: Verdict, pair: Pair, estimate: Difference, margin: float, more: int | None = None) -> str:
    p, adjusted = estimate["p"], estimate["adjusted"]
    if estimate["interval"] is None or estimate["bounds"] is None or p is None or adjusted is None:
        return "One cluster of cases says nothing about other clusters."
    if verdict == "not worse":
        allowed = f"a loss of {100 * margin:g} points is allowed" if margin else "no loss is allowed"
        least = f"{100 * estimate['bounds'][0]:+.1f} points"
        return f"With 95 % confidence the difference is at least {least}; {allowed}."
    low, high = (f"{100 * end:+.1f}" for end in estimate["interval"])
    sure = f"With 95 % confidence the difference is between {low} and {high} points."
    if verdict != "cannot tell":
        return sure
    if estimate["interval"][0] >= -margin:
        return (
            f"The cases belong to {counted('clusters', pair['clusters'])}: too few to rule out a loss of more than "
            f"{100 * margin:g} points, since a cluster may be lost completely."
        )
    needed = more_cases_clause(more).removeprefix("; ")
    needed = f" {needed[0].upper()}{needed[1:]}."
    if estimate["interval"][0] <= 0 <= estimate["interval"][1]:
        return f"{sure} It may be 0, or a loss of more than {100 * margin:g} points.{needed}"
    if p > LEVEL:
        return f"{sure} Its p value does not show a difference (p = {format_p_over_level(p)}).{needed}"
    return (
        f"{sure} On its own this is a difference; corrected for all pairs of models it is not (Holm: p = "
        f"{format_p_over_level(adjusted)}).{needed}"
    )


def rank_models(
    rows: AlignedCases, pairs: Sequence[Pair], names: Sequence[str], *, gates: Sequence[float | None]
) -> list[Standing]:
    """Return the models of one test by rank, then by pass rate; names and gates are in the order of the rows."""
    losers = [pair["second" if sign > 0 else "first"] for pair in pairs if (sign := find_direction(pair))]
    scored = np.isfinite(rows.passed)
    places = [
        Standing(
            name=name,
            rank=1 + losers.count(name),
            asked=int(rows.asked[place].sum()),
            scored=int(scored[place].sum()),
            rate=get_rate(
                rows.passed[place][rows.common],
                rows.cluster[rows.common],
                chosen=bool(rows.early),
                looks=rows.looks,
            ),
            gate=gates[place],
        )
        for place, name in enumerate(names)
    ]
    return sorted(
        places, key=lambda standing: (standing["rank"], -standing["rate"]["value"] if standing["rate"] else 0.0)
    )


def make_leaderboard(tests: Sequence[Contest], names: Sequence[str]) -> list[RankedModel]:
    """Return the models ordered by their mean rank over all tests, each weighted equally."""
    ranks: dict[str, dict[str, int]] = {name: {} for name in names}
    for test in tests:
        for standing in test["standings"]:
            ranks[standing["name"]][test["test_type"]] = standing["rank"]
    means = {name: sum(own.values()) / len(own) for name, own in ranks.items()}
    lines = [
        RankedModel(
            name=name, rank=1 + sum(mean < means[name] for mean in means.values()), mean_rank=means[name], ranks=own
        )
        for name, own in ranks.items()
    ]
    return sorted(lines, key=lambda place: place["rank"])
