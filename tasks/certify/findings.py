"""Findings of a certificate: figures compared with their gates."""

from __future__ import annotations

import math
from collections.abc import Iterable

from contrapose.tasks.core.certificate import FindingVerdict, JudgeFinding
from contrapose.tasks.statistics.means import Mean
from contrapose.tasks.text.wording import counted

GATE = 0.1
"""Largest effect of a bias that passes: ten points. Not calibrated: set your own."""


def judge_finding(
    name: str, figure: str, mean: Mean | None, *, gate: float | None, two_sided: bool = False
) -> JudgeFinding:
    """Return a figure with its verdict: below the gate, above it, or too close to call.

    `two_sided`: the gate holds in both directions.
    """
    verdict, reason = _decide(mean, gate, two_sided=two_sided)
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


def _decide(mean: Mean | None, gate: float | None, *, two_sided: bool) -> tuple[FindingVerdict, str]:
    """Return the verdict on a figure, and its sentence."""
    if mean is None:
        return "inconclusive" if gate is not None else "shown", "No verdict shows it."
    if gate is None:
        return "shown", ""
    if mean.interval is None:
        return "inconclusive", "One group of pairs shows nothing about how much it varies."
    low, high = mean.interval
    if low > gate or (two_sided and high < -gate):
        end = low if low > gate else -high
        return "fail", f"With 95 % confidence it is at least {_points(end)}; the gate is {_points(gate)}."
    if high <= gate and (not two_sided or low >= -gate):
        end = max(high, -low if two_sided else high)
        return "pass", f"With 95 % confidence it is at most {_points(end)}; the gate is {_points(gate)}."
    shown = "There is an effect, but it" if low > 0 or (two_sided and high < 0) else "It"
    return "inconclusive", f"{shown} is too close to the gate ({_points(gate)}) to call{_further(mean, gate)}."


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"


def _further(mean: Mean, gate: float) -> str:
    """Return about how many more pairs would decide it at the observed value; empty where none would."""
    if mean.interval is None or math.isclose(distance := abs(gate - abs(mean.value)), 0, abs_tol=1e-3):
        return ""
    half = (mean.interval[1] - mean.interval[0]) / 2
    more = math.ceil(mean.rows * ((half / distance) ** 2 - 1))
    return f"; about {counted('more pairs', more)} are needed" if more > 0 else ""


def decide_all(findings: Iterable[JudgeFinding]) -> FindingVerdict:
    """Return `fail` where one fails, `pass` where all that have a gate pass, `shown` where none has one."""
    verdicts = {finding["verdict"] for finding in findings} - {"shown"}
    if not verdicts:
        return "shown"
    return "fail" if "fail" in verdicts else "pass" if verdicts == {"pass"} else "inconclusive"
