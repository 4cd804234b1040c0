"""Verdicts together: correction weakens, never strengthens."""

from __future__ import annotations

from typing import cast

from contrapose.tasks.evaluate.family import corrected
from contrapose.tasks.outcome import Outcome, Verdict


def outcome(verdict: Verdict, reached: float, missed: float) -> Outcome:
    gate = {"name": "pass_rate", "rate": 0.75, "wanted": 0.7, "reached": reached, "missed": missed, "further": 40}
    return cast(Outcome, {"verdict": verdict, "reason": "alone", "gates": [gate], "reached": reached, "missed": missed})


def test_one_test_needs_no_correction() -> None:
    assert corrected([outcome("pass", 0.05, 0.95)])[0]["verdict"] == "pass"


def test_a_narrow_pass_among_several_is_inconclusive() -> None:
    found = corrected([outcome("pass", 0.04, 0.96), outcome("pass", 0.001, 0.999), outcome("inconclusive", 0.4, 0.6)])
    assert [each["verdict"] for each in found] == ["inconclusive", "pass", "inconclusive"]
    assert "among 3 tests it does not (Holm: p = 0.080); about 40 further cases" in found[0]["reason"]
    assert found[2]["reason"] == "alone"


def test_a_p_value_just_over_the_level_reads_so() -> None:
    found = corrected([outcome("pass", 0.0251, 0.9), outcome("inconclusive", 0.4, 0.6)])
    assert "(Holm: p = 0.0502)" in found[0]["reason"]


def test_a_narrow_failure_too() -> None:
    found = corrected([outcome("fail", 0.96, 0.04), outcome("pass", 0.001, 0.999)])
    assert [each["verdict"] for each in found] == ["inconclusive", "pass"]


def test_tests_judged_by_their_bare_rate_are_left_alone() -> None:
    bare = cast(Outcome, {"verdict": "pass", "gates": [], "reached": None, "missed": None})
    found = corrected([bare, outcome("pass", 0.04, 0.96)])
    assert found[0] == bare
    assert found[1]["verdict"] == "pass"


def test_a_test_that_is_incomplete_weakens_no_other() -> None:
    found = corrected([outcome("incomplete", 0.9, 0.1), outcome("pass", 0.04, 0.96)])
    assert [each["verdict"] for each in found] == ["incomplete", "pass"]


def test_what_is_decided_needs_no_further_cases() -> None:
    (found,) = corrected([outcome("pass", 0.04, 0.96)])
    assert [gate["further"] for gate in found["gates"]] == [None]


def test_a_verdict_that_does_not_hold_names_the_weakest_of_its_gates() -> None:
    several = outcome("pass", 0.04, 0.9)
    contrast = {**several["gates"][0], "name": "contrast_rate", "rate": 0.6, "wanted": 0.5, "reached": 0.04}
    several = cast(Outcome, {**several, "gates": [{**several["gates"][0], "reached": 0.01}, contrast]})
    found = corrected([several, outcome("inconclusive", 0.4, 0.6)])
    assert found[0]["reason"].startswith("Alone, the contrast rate 60.0% reaches the gate 50.0%")
