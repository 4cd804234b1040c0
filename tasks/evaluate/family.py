"""The verdicts of a run together: with several gates, one of them is more easily met or missed by chance."""

from __future__ import annotations

from collections.abc import Sequence

from contrapose.tasks.evaluate.gate import would_decide
from contrapose.tasks.outcome import GateSummary, Outcome
from contrapose.tasks.statistics.families import holm
from contrapose.tasks.statistics.shares import CONFIDENCE


def corrected(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes with Holm's correction over all tests that are judged by interval.

    A verdict that its corrected evidence no longer supports becomes inconclusive; none becomes stronger. A test that
    is incomplete claims nothing, and weakens no other.
    """
    judged = [None if outcome["verdict"] == "incomplete" else outcome["gate"] for outcome in outcomes]
    gates = [gate for gate in judged if gate is not None]
    adjusted = zip(
        gates,
        holm([gate["reached"] for gate in gates]),
        holm([gate["missed"] for gate in gates]),
        strict=True,
    )
    new = iter([GateSummary(**{**gate, "reached": up, "missed": down}) for gate, up, down in adjusted])
    return [
        outcome if gate is None else _again(outcome, next(new), tests=len(gates))
        for outcome, gate in zip(outcomes, judged, strict=True)
    ]


def _again(outcome: Outcome, gate: GateSummary, *, tests: int) -> Outcome:
    p = {"pass": gate["reached"], "fail": gate["missed"]}.get(outcome["verdict"])
    if p is None:
        return {**outcome, "gate": gate}
    if p <= 1 - CONFIDENCE:
        return {**outcome, "gate": {**gate, "further": None}}
    side = "reaches" if outcome["verdict"] == "pass" else "misses"
    reason = (
        f"Alone, the pass rate {outcome['pass_rate']:.1%} {side} the gate {outcome['min_pass_rate']:.1%} "
        f"with 95 % confidence; among {tests} tests it does not (Holm: p = {p:.3f}){would_decide(gate['further'])}."
    )
    return {**outcome, "gate": gate, "verdict": "inconclusive", "reason": reason}
