"""The criteria of a verdict: the rates of a test that have a gate, with the deciding rate first."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict

from contrapose.tasks.core.outcome import GateSummary, Outcome
from contrapose.tasks.statistics.shares import LEVEL


class DecidingRate(TypedDict):
    """A rate and its gate."""

    name: str
    """Such as `pass_rate` or `contrast_rate`."""
    rate: float | None
    """None if nothing was scored."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    """Upper end of its 95 % interval."""
    gate: float | None
    """None if other rates decide."""


def list_criteria(outcome: Outcome) -> list[DecidingRate]:
    """Return every rate that decides a test, the deciding one first; the pass rate is always included."""
    ordered = sort_gates(outcome)
    criteria = [
        DecidingRate(name=gate["name"], rate=gate["rate"], low=low, high=high, gate=gate["wanted"])
        for gate in ordered
        for low, high in [gate["interval"]]
        if gate["name"] != "pass_rate"
    ]
    ends = outcome["interval"] or (None, None)
    rate, wanted = outcome["pass_rate"], outcome["min_pass_rate"]
    own = DecidingRate(name="pass_rate", rate=rate, low=ends[0], high=ends[1], gate=wanted)
    names = [gate["name"] for gate in ordered]
    criteria.insert(names.index("pass_rate") if "pass_rate" in names else len(criteria), own)
    return criteria


def list_further_gates(outcome: Outcome) -> list[GateSummary]:
    """Return the rates with a gate, without the pass rate."""
    return [gate for gate in outcome.get("gates", ()) if gate["name"] != "pass_rate"]


def sort_gates(outcome: Outcome) -> Sequence[GateSummary]:
    """Return the gates of a test; the first is the one that decided its verdict, as in `evaluate.gate`."""
    gates, verdict = outcome["gates"], outcome["verdict"]
    if verdict == "fail" and outcome["missed"] is None:
        return sorted(gates, key=lambda gate: gate["extremes"][1] >= gate["wanted"])
    if verdict == "fail" or any(gate["missed"] * len(gates) <= LEVEL for gate in gates):
        return sorted(gates, key=lambda gate: gate["missed"])
    if verdict == "inconclusive" and outcome["reached"] is None:
        return sorted(gates, key=lambda gate: gate["extremes"][0] >= gate["wanted"])
    if verdict == "inconclusive" and all(gate["reached"] <= LEVEL for gate in gates):
        return sorted(gates, key=lambda gate: -gate["reached"])
    if verdict == "inconclusive":
        return sorted(gates, key=lambda gate: gate["reached"] <= LEVEL)
    return gates
