"""Verdicts together: correction weakens, never strengthens."""

from __future__ import annotations

from typing import Any, cast

import pytest

from contrapose.tasks.core.outcome import Outcome, Verdict
from contrapose.tasks.evaluate.gate import GateDecision, correct_outcomes, find_decided_tests
from contrapose.tasks.statistics.shares import LEVEL


def outcome(verdict: Verdict, reached: float, missed: float) -> Outcome:
    gate = {"name": "pass_rate", "rate": 0.75, "wanted": 0.7, "reached": reached, "missed": missed, "further": 40}
    return cast(Outcome, {"verdict": verdict, "reason": "alone", "gates": [gate], "reached": reached, "missed": missed})


@pytest.mark.parametrize(
    ("tests", "verdicts", "reached"),
    [
        ([("pass", 0.05)], ["pass"], [0.05]),
        ([("pass", 0.0251), ("inconclusive", 0.4)], ["inconclusive", "inconclusive"], [0.0502, 0.4]),
        ([("pass", 0.04), ("pass", 0.03)], ["inconclusive", "inconclusive"], [0.06, 0.06]),
        ([("pass", LEVEL / 2), ("inconclusive", 0.4)], ["pass", "inconclusive"], [LEVEL, 0.4]),
    ],
    ids=["alone", "just over the level", "two that both just hold alone", "exactly at the level"],
)
def test_a_claim_holds_up_to_the_level_once_it_is_corrected(
    tests: list[tuple[Verdict, float]], verdicts: list[str], reached: list[float]
) -> None:
    found = correct_outcomes([outcome(verdict, p, 0.9) for verdict, p in tests])
    assert [each["verdict"] for each in found] == verdicts
    assert [each["reached"] for each in found] == pytest.approx(reached)
    # What is decided needs no further cases.
    assert [gate["further"] is None for each in found for gate in each["gates"]] == [v == "pass" for v in verdicts]


def test_a_narrow_pass_among_several_is_inconclusive() -> None:
    found = correct_outcomes(
        [outcome("pass", 0.04, 0.96), outcome("pass", 0.001, 0.999), outcome("inconclusive", 0.4, 0.6)]
    )
    assert [each["verdict"] for each in found] == ["inconclusive", "pass", "inconclusive"]
    assert (
        "Corrected for 3 tests, the evidence is too weak (Holm: p = 0.080); about 40 more cases" in found[0]["reason"]
    )
    assert found[2]["reason"] == "alone"


def test_tests_judged_by_their_bare_rate_are_left_alone() -> None:
    bare = cast(Outcome, {"verdict": "pass", "gates": [], "reached": None, "missed": None})
    found = correct_outcomes([bare, outcome("pass", 0.04, 0.96)])
    assert found[0] == bare
    assert found[1]["verdict"] == "pass"


def test_a_verdict_that_does_not_hold_names_the_weakest_of_its_gates() -> None:
    several = outcome("pass", 0.04, 0.9)
    contrast = {**several["gates"][0], "name": "contrast_rate", "rate": 0.6, "wanted": 0.5, "reached": 0.04}
    several = cast(Outcome, {**several, "gates": [{**several["gates"][0], "reached": 0.01}, contrast]})
    found = correct_outcomes([several, outcome("inconclusive", 0.4, 0.6)])
    assert found[0]["reason"].startswith("On its own, the contrast rate (60.0%) reaches the gate (50.0%)")


def with_gates(whole: Outcome, *changes: dict[str, Any]) -> Outcome:
    """An outcome with one gate for each of these changes."""
    return cast(Outcome, {**whole, "gates": [{**whole["gates"][0], **change} for change in changes]})


def test_a_failure_that_does_not_hold_names_the_gate_that_was_missed_most_clearly() -> None:
    several = with_gates(
        outcome("fail", 0.99, 0.04),
        {"name": "pass_rate", "rate": 0.65, "wanted": 0.7, "reached": 0.8, "missed": 0.3},
        {"name": "contrast_rate", "rate": 0.4, "wanted": 0.5, "reached": 0.99, "missed": 0.02, "further": 7},
    )
    (found, _) = correct_outcomes([several, outcome("inconclusive", 0.4, 0.6)])
    assert found["reason"] == (
        "On its own, the contrast rate (40.0%) misses the gate (50.0%). Corrected for 2 tests, the evidence is too "
        "weak (Holm: p = 0.080); about 7 more cases are needed."
    )


def test_a_gate_without_a_rate_reads_as_nothing_passed() -> None:
    several = with_gates(outcome("fail", 0.99, 0.04), {"rate": None})
    (found, _) = correct_outcomes([several, outcome("inconclusive", 0.4, 0.6)])
    assert found["reason"].startswith("On its own, the pass rate (0.0%) misses the gate (70.0%)")


def test_the_evidence_that_is_told_is_the_corrected_one_on_its_own_side() -> None:
    found = correct_outcomes([outcome("inconclusive", 0.2, 0.3), outcome("inconclusive", 0.9, 0.01)])
    assert [(each["reached"], each["missed"]) for each in found] == [(0.4, 0.3), (0.9, 0.02)]
    assert [gate["further"] for each in found for gate in each["gates"]] == [40, 40]


def test_a_test_that_is_incomplete_counts_among_no_others() -> None:
    tests = [outcome("incomplete", 0.001, 0.9), outcome("pass", 0.03, 0.9), outcome("inconclusive", 0.4, 0.6)]
    assert "Corrected for 2 tests" in correct_outcomes(tests)[1]["reason"]


def claim(verdict: Verdict, reached: float | None, missed: float | None) -> GateDecision:
    return GateDecision(verdict, "alone", [], reached, missed)


def test_a_test_is_asked_no_further_where_its_verdict_holds_among_all() -> None:
    sure, nothing = claim("pass", 0.001, 0.9), None
    assert find_decided_tests([sure, claim("fail", 0.9, 0.001), nothing]) == [True, True, False]
    assert find_decided_tests([claim("pass", 0.03, 0.9)]) == [True]
    assert find_decided_tests([claim("pass", 0.03, 0.9), nothing]) == [False, False]
    assert find_decided_tests([claim("pass", 0.03, 0.9), sure]) == [True, True]
    assert find_decided_tests([claim("inconclusive", 0.001, 0.001), claim("incomplete", None, None)]) == [False, False]


def test_a_test_that_claims_nothing_yet_counts_among_the_others() -> None:
    """It may claim something later; what was decided by then must hold all the same."""
    assert find_decided_tests([claim("fail", 0.9, 0.04), claim("incomplete", None, None)]) == [False, False]
