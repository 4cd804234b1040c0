"""Verdicts together: correction weakens, never strengthens."""

from __future__ import annotations

from typing import cast

from contrapose.tasks.evaluate.family import corrected
from contrapose.tasks.evaluate.gate import Counts, Rules, decide
from contrapose.tasks.outcome import Outcome, Verdict
from contrapose.tasks.statistics.shares import independent


def outcome(verdict: Verdict, reached: float, missed: float) -> Outcome:
    gate = {"reached": reached, "missed": missed, "bounds": (0.6, 0.8), "further": 40}
    found = {"verdict": verdict, "reason": "alone", "gate": gate, "pass_rate": 0.75, "min_pass_rate": 0.7}
    return cast(Outcome, found)


def test_one_test_needs_no_correction() -> None:
    assert corrected([outcome("pass", 0.05, 0.95)])[0]["verdict"] == "pass"


def test_a_narrow_pass_among_several_is_inconclusive() -> None:
    found = corrected([outcome("pass", 0.04, 0.96), outcome("pass", 0.001, 0.999), outcome("inconclusive", 0.4, 0.6)])
    assert [each["verdict"] for each in found] == ["inconclusive", "pass", "inconclusive"]
    assert "among 3 tests it does not (Holm: p = 0.080); about 40 further cases" in found[0]["reason"]
    assert found[2]["reason"] == "alone"


def test_a_narrow_failure_too() -> None:
    found = corrected([outcome("fail", 0.96, 0.04), outcome("pass", 0.001, 0.999)])
    assert [each["verdict"] for each in found] == ["inconclusive", "pass"]


def test_tests_judged_by_their_bare_rate_are_left_alone() -> None:
    bare = cast(Outcome, {"verdict": "pass", "gate": None})
    found = corrected([bare, outcome("pass", 0.04, 0.96)])
    assert found[0] == bare
    assert found[1]["verdict"] == "pass"


def test_a_test_that_is_incomplete_weakens_no_other() -> None:
    found = corrected([outcome("incomplete", 0.9, 0.1), outcome("pass", 0.04, 0.96)])
    assert [each["verdict"] for each in found] == ["incomplete", "pass"]


def test_what_is_decided_needs_no_further_cases() -> None:
    (found,) = corrected([outcome("pass", 0.04, 0.96)])
    assert found["gate"] is not None
    assert found["gate"]["further"] is None


def test_a_gate_of_zero_is_passed_among_several() -> None:
    share = independent(0, 10)
    rules = Rules(min_pass_rate=0.0, max_error_share=0.02, gate="interval", tests=2)
    found = decide(Counts(asked=10, scored=10, passed=0, errors=0), share, rules)
    judged = cast(Outcome, {"verdict": found.verdict, "reason": "alone", "gate": found.gate, "min_pass_rate": 0.0})
    assert [each["verdict"] for each in corrected([judged, judged])] == ["pass", "pass"]
