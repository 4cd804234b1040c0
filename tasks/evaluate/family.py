"""The verdicts of a run together: with several gates, one of them is more easily met or missed by chance."""

from __future__ import annotations

from collections.abc import Sequence

from contrapose.tasks.apart import apart
from contrapose.tasks.evaluate.gate import LEVEL, would_decide
from contrapose.tasks.outcome import GateSummary, Outcome
from contrapose.tasks.statistics.families import holm
from contrapose.tasks.statistics.p_values import over


def corrected(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes with Holm's correction over all tests that are judged by interval.

    A verdict that its corrected evidence no longer supports becomes inconclusive; none becomes stronger. A test that
    is incomplete claims nothing, and weakens no other. The further cases that are told are those among all tests of
    the run, for a run that is completed has them all.
    """
    claims = [(o["reached"], o["missed"]) if o["verdict"] != "incomplete" else (None, None) for o in outcomes]
    up = iter(holm([reached for reached, _ in claims if reached is not None]))
    down = iter(holm([missed for _, missed in claims if missed is not None]))
    tests = sum(reached is not None for reached, _ in claims)
    return [
        outcome if reached is None else _again(outcome, next(up), next(down), tests=tests)
        for outcome, (reached, _) in zip(outcomes, claims, strict=True)
    ]


def _again(outcome: Outcome, reached: float, missed: float, *, tests: int) -> Outcome:
    told: Outcome = {**outcome, "reached": reached, "missed": missed}
    if outcome["verdict"] not in ("pass", "fail"):
        return told
    passes = outcome["verdict"] == "pass"
    p = reached if passes else missed
    if p <= LEVEL:
        return {**told, "gates": [GateSummary(**{**gate, "further": None}) for gate in outcome["gates"]]}
    return {**told, "verdict": "inconclusive", "reason": _alone(outcome, p, passes=passes, tests=tests)}


def _alone(outcome: Outcome, p: float, *, passes: bool, tests: int) -> str:
    """Why a verdict that holds by itself does not hold among so many."""
    gate = max(outcome["gates"], key=lambda each: each["reached"] if passes else -each["missed"])
    rate, wanted = apart(gate["rate"] or 0.0, gate["wanted"])
    side, name = "reaches" if passes else "misses", gate["name"].replace("_", " ")
    return (
        f"Alone, the {name} {rate} {side} the gate {wanted} with 95 % confidence; among {tests} tests it does not "
        f"(Holm: p = {over(p)}){would_decide(gate['further'])}."
    )
