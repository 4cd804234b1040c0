"""From the difference of two models to a verdict on the first."""

from __future__ import annotations

from contrapose.tasks.comparison import MIN_COVERAGE, Difference, Pair, Verdict
from contrapose.tasks.statistics.p_values import over
from contrapose.tasks.statistics.shares import CONFIDENCE

LEVEL = 1 - CONFIDENCE
"""P values up to this one count."""


def decide(pair: Pair, margin: float) -> Pair:
    """The pair with its verdict: the first that applies of those in `DEFINITIONS`.

    Args:
        pair: its second model is the baseline.
        margin: loss of pass rate that is still called not worse.

    "Not worse" is a claim of its own for each candidate, and needs no correction for their number. It is a test of
    non-inferiority: G. Piaggio and others, JAMA 308 (2012) 2594-2604.
    """
    found, asked = pair["difference"], _asked(pair)
    if found is None or not _covered(pair):
        told = f"Only {pair['cases']:,} of {asked:,} cases could be scored for both; {MIN_COVERAGE:.0%} are needed."
        return {**pair, "verdict": "cannot tell", "reason": told}
    verdict = _verdict(found, direction(pair), margin)
    return {**pair, "verdict": verdict, "reason": _reason(verdict, found, margin)}


def direction(pair: Pair) -> int:
    """1 where the first model is significantly better, -1 where it is worse, else 0; 0 too where coverage is low."""
    found = pair["difference"]
    if found is None or found["interval"] is None or found["adjusted"] is None or found["adjusted"] > LEVEL:
        return 0
    low, high = found["interval"]
    return int(low > 0) - int(high < 0) if _covered(pair) else 0


def _covered(pair: Pair) -> bool:
    """Whether enough cases could be scored for both."""
    return pair["cases"] >= MIN_COVERAGE * _asked(pair)


def _asked(pair: Pair) -> int:
    """Cases that at least one of the two was asked."""
    return pair["cases"] + pair["only_first"] + pair["only_second"] + pair["neither"]


def _verdict(found: Difference, sign: int, margin: float) -> Verdict:
    if sign > 0:
        return "better"
    if found["bounds"] and found["bounds"][0] >= -margin:
        return "not worse"
    return "worse" if sign < 0 else "cannot tell"


def _reason(verdict: Verdict, found: Difference, margin: float) -> str:
    p, adjusted = found["p"], found["adjusted"]
    if found["interval"] is None or found["bounds"] is None or p is None or adjusted is None:
        return "One cluster of cases tells nothing about others."
    if verdict == "not worse":
        return f"With 95 % confidence the difference is at least {_points(found['bounds'][0])}; {_allowed(margin)}."
    low, high = map(_points, found["interval"])
    sure = f"With 95 % confidence the difference lies between {low} and {high}"
    if verdict != "cannot tell":
        return f"{sure}."
    if found["interval"][0] <= 0 <= found["interval"][1]:
        return f"{sure}, which neither shows a difference nor rules out a loss of more than {100 * margin:g} points."
    return f"{sure}; {_unshown(p, adjusted)}."


def _unshown(p: float, adjusted: float) -> str:
    """Why a difference does not count whose interval leaves out zero."""
    if p > LEVEL:
        return f"its p value does not show a difference (p = {over(p)})"
    return f"alone this is a difference, among all pairs of models it is not (Holm: p = {over(adjusted)})"


def _allowed(margin: float) -> str:
    return f"a loss of {100 * margin:g} points is allowed" if margin else "no loss is allowed"


def _points(share: float) -> str:
    return f"{100 * share:+.1f} points"
