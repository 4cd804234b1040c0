"""Make the findings of a certificate: figures with verdicts against their gates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contrapose.tasks.core.certificate import FindingVerdict, JudgeFinding
from contrapose.tasks.statistics.means import Mean
from contrapose.tasks.statistics.shares import Interval
from contrapose.tasks.text.wording import counted

GATE = 0.1
"""Largest effect of a bias that passes: ten points. Not calibrated: set your own."""


def make_finding(
    name: str,
    figure: str,
    mean: Mean | None,
    *,
    gate: float | None,
    two_sided: bool = False,
    unread: float = 0.0,
    most: float = 1.0,
) -> JudgeFinding:
    """Return a figure with its verdict: below the gate, above it, or too close to call.

    Args:
        name: what the bias is called.
        figure: what is measured, in words.
        mean: the figure over what could be read, or None if nothing could.
        gate: largest value that passes, or None for a figure that is only shown.
        two_sided: the gate holds in both directions.
        unread: share of the cases that could not be read, 0 to 1: the verdict holds whatever they would have said.
        most: largest size that the figure can have in one case.
    """
    verdict, reason = _decide(mean, gate, two_sided=two_sided, unread=unread, most=most)
    return JudgeFinding(
        name=name,
        figure=figure,
        value=mean.value if mean else None,
        interval=mean.interval if mean else None,
        rows=mean.rows if mean else 0,
        clusters=mean.clusters if mean else 0,
        gate=gate,
        verdict=verdict,
        reason=reason,
    )


class PositionMeans(NamedTuple):
    """Means over a judge's verdicts in both orders; None if the data for a figure is missing."""

    again: Mean | None
    """Share of pairs of verdicts on the same prompt that differ, or None if each prompt was asked once."""
    swapped: Mean | None
    """Share of pairs of verdicts on both orders that differ."""
    net: Mean | None
    """What the order adds to the noise."""
    lean: Mean | None
    """Share of verdicts for the first position minus the second."""
    tied: Mean | None
    """Share of ties."""


def position_findings(
    means: PositionMeans, *, gate: float, unread: float, is_steady: bool = False
) -> Iterator[JudgeFinding]:
    """Yield self-disagreement, disagreement of the orders, the position and its direction, and ties.

    `is_steady`: the judge never contradicts itself on the same prompt, so that all disagreement is the position's.
    """
    if means.again is not None:
        name = "changed its own verdict on the same prompt"
        yield make_finding("self-disagreement", name, means.again, gate=None)
    yield make_finding("disagreement of orders", "changed its verdict in the other order", means.swapped, gate=None)
    if means.net is not None:
        figure = "what the order adds to the judge's own noise"
        yield make_finding("position", figure, means.net, gate=gate, unread=unread)
    else:
        figure = "changed its verdict in the other order; no prompt was asked again"
        position = make_finding("position", figure, means.swapped, gate=gate, unread=unread)
        if position["verdict"] == "fail" and not is_steady:
            # Noise may be all of it.
            reason = "The judge's own noise is unknown, and may be all of it. Ask each prompt again: set noise."
            position = JudgeFinding(**{**position, "verdict": "inconclusive", "reason": reason})
        yield position
    figure = "share of verdicts for the first position minus the second"
    yield make_finding("direction of position", figure, means.lean, gate=gate, two_sided=True, unread=unread)
    yield make_finding("ties", "share of ties", means.tied, gate=None)


def _decide(
    mean: Mean | None, gate: float | None, *, two_sided: bool, unread: float, most: float
) -> tuple[FindingVerdict, str]:
    """Return the verdict on a figure, and a sentence that explains it."""
    if mean is None:
        return "inconclusive" if gate is not None else "shown", "No verdict shows it."
    if gate is None:
        return "shown", ""
    if mean.interval is None:
        return "inconclusive", "One group of pairs shows nothing about how much it varies."
    # Unread cases may lie at either end: C. F. Manski, Partial Identification of Probability Distributions, 2003.
    low, high = ((1 - unread) * end + side * unread * most for end, side in zip(mean.interval, (-1, 1), strict=True))
    even_so = ", whatever the unread replies would have said" if unread else ""
    side = _locate(Interval(low, high), gate, two_sided=two_sided)
    if side == "fail":
        end = low if low > gate else -high
        return "fail", f"With 95 % confidence it is at least {_points(end)}{even_so}; the gate is {_points(gate)}."
    if side == "pass":
        end = max(high, -low if two_sided else high)
        return "pass", f"With 95 % confidence it is at most {_points(end)}{even_so}; the gate is {_points(gate)}."
    if _locate(mean.interval, gate, two_sided=two_sided) != "inconclusive":
        return "inconclusive", f"{unread:.0%} of the cases could not be read, and they decide it."
    shown = "There is an effect, but it" if low > 0 or (two_sided and high < 0) else "It"
    return "inconclusive", f"{shown} is too close to the gate ({_points(gate)}) to call{describe_need(mean, gate)}."


def _locate(interval: Interval, gate: float, *, two_sided: bool) -> FindingVerdict:
    """Return pass if an interval is within its gate, fail if beyond it, else inconclusive."""
    low, high = interval
    if low > gate or (two_sided and high < -gate):
        return "fail"
    return "pass" if high <= gate and (not two_sided or low >= -gate) else "inconclusive"


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"


def describe_need(mean: Mean, gate: float, what: str = "more pairs") -> str:
    """Return a clause on about how many more rows would decide at the observed value, or "" if none would."""
    if mean.interval is None or math.isclose(distance := abs(gate - abs(mean.value)), 0, abs_tol=1e-3):
        return ""
    half = (mean.interval[1] - mean.interval[0]) / 2
    more = math.ceil(mean.rows * ((half / distance) ** 2 - 1))
    return f"; about {counted(what, more)} are needed" if more > 0 else ""


def decide_minimum(interval: Interval | None, gate: float) -> FindingVerdict:
    """Return the verdict on a figure with a minimum as its gate."""
    if interval is None or interval.low < gate <= interval.high:
        return "inconclusive"
    return "pass" if interval.low >= gate else "fail"


def decide_all(findings: Iterable[JudgeFinding]) -> FindingVerdict:
    """Return the overall verdict: `fail` if one fails, `pass` if all gates pass, `shown` if there is no gate."""
    verdicts = {finding["verdict"] for finding in findings} - {"shown"}
    if not verdicts:
        return "shown"
    return "fail" if "fail" in verdicts else "pass" if verdicts == {"pass"} else "inconclusive"
