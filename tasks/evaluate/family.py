"""The verdicts of a run together: with several gates, one of them is more easily met or missed by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from contrapose.tasks.apart import apart
from contrapose.tasks.evaluate.gate import needed, undecided, would_decide
from contrapose.tasks.outcome import GateSummary, Outcome
from contrapose.tasks.statistics.evidence import evidence
from contrapose.tasks.statistics.families import holm
from contrapose.tasks.statistics.p_values import over
from contrapose.tasks.statistics.power import least
from contrapose.tasks.statistics.shares import CONFIDENCE, Share


def corrected(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes with Holm's correction over all tests that are judged by interval.

    A verdict that its corrected evidence no longer supports becomes inconclusive; none becomes stronger. A test that
    is incomplete claims nothing, and weakens no other.
    """
    claims = sum(_claims(outcome) for outcome in outcomes)
    # Each was judged among all the tests of the run.
    told = outcomes if claims == len(outcomes) else [_among(outcome, claims) for outcome in outcomes]
    judged = [outcome["gate"] if _claims(outcome) else None for outcome in told]
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
        for outcome, gate in zip(told, judged, strict=True)
    ]


def _claims(outcome: Outcome) -> bool:
    """Whether it says anything about its gate."""
    return outcome["verdict"] != "incomplete" and outcome["gate"] is not None


def _among(outcome: Outcome, tests: int) -> Outcome:
    """The outcome with the further cases that would decide it among so many tests; unchanged if it claims nothing."""
    gate = outcome["gate"]
    if gate is None or not _claims(outcome):
        return outcome
    share, wanted = _share(outcome, gate), outcome["min_pass_rate"]
    more = needed(share, wanted, tests=tests)
    told = undecided(share, wanted, more, tests=tests) if outcome["verdict"] == "inconclusive" else outcome["reason"]
    return {**outcome, "reason": told, "gate": {**gate, "further": more}}


def _share(outcome: Outcome, gate: GateSummary) -> Share:
    """The share behind an outcome, whose evidence is never stronger than was found.

    Where its clusters bounded the evidence, so many equal rows as have the same p value bound it here.
    """
    rows, wanted = outcome["scored"], outcome["min_pass_rate"]
    share = Share(true=outcome["passed"], rows=rows, clusters=gate["clusters"], effective=gate["effective"])
    found = evidence(share, wanted)
    every, none = replace(share, true=rows), replace(share, true=0)
    return replace(
        share,
        better=_bound(every, wanted, gate["reached"], found.reached),
        worse=_bound(none, 1 - wanted, gate["missed"], found.missed),
    )


def _bound(equal: Share, chance: float, p: float, without: float) -> tuple[Share, ...]:
    """Equal rows, each true (or false) with a chance, that have a p value which is larger than without them."""
    return (replace(equal, effective=least(chance, level=p)),) if p > without else ()


def _again(outcome: Outcome, gate: GateSummary, *, tests: int) -> Outcome:
    p = {"pass": gate["reached"], "fail": gate["missed"]}.get(outcome["verdict"])
    if p is None:
        return {**outcome, "gate": gate}
    if p <= 1 - CONFIDENCE:
        return {**outcome, "gate": {**gate, "further": None}}
    side = "reaches" if outcome["verdict"] == "pass" else "misses"
    rate, wanted = apart(outcome["pass_rate"] or 0.0, outcome["min_pass_rate"])
    reason = (
        f"Alone, the pass rate {rate} {side} the gate {wanted} with 95 % confidence; among {tests} tests it does not "
        f"(Holm: p = {over(p)}){would_decide(gate['further'])}."
    )
    return {**outcome, "gate": gate, "verdict": "inconclusive", "reason": reason}
