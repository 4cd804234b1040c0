"""Verdicts together: correction weakens, never strengthens."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from contrapose.tasks.evaluate.family import corrected
from contrapose.tasks.evaluate.gate import Counts, Rules, decide
from contrapose.tasks.outcome import Outcome, Verdict
from contrapose.tasks.statistics.shares import Share, clustered, independent


def outcome(verdict: Verdict, reached: float, missed: float) -> Outcome:
    gate = {"reached": reached, "missed": missed, "bounds": (0.6, 0.8), "further": 40, "effective": 20, "clusters": 20}
    found = {"verdict": verdict, "reason": "alone", "gate": gate, "pass_rate": 0.75, "min_pass_rate": 0.7}
    return cast(Outcome, {**found, "passed": 15, "scored": 20})


def judged(share: Share, wanted: float, *, tests: int) -> Outcome:
    rules = Rules(min_pass_rate=wanted, max_error_share=0.02, gate="interval", tests=tests)
    counts = Counts(asked=share.rows, scored=share.rows, passed=share.true, errors=0)
    found = decide(counts, share, rules)
    told = {"verdict": found.verdict, "reason": found.reason, "gate": found.gate, "min_pass_rate": wanted}
    return cast(Outcome, {**told, "passed": share.true, "scored": share.rows, "pass_rate": share.rate})


def further(outcome: Outcome) -> int | None:
    assert outcome["gate"] is not None
    return outcome["gate"]["further"]


STOPPED = cast(Outcome, {"verdict": "incomplete", "gate": None})
SHARES = {
    "independent": (independent(72, 100), 0.65),
    "clustered": (clustered(np.arange(100) % 7 > 1, np.repeat(np.arange(20), 5)), 0.65),
    "below": (independent(60, 100), 0.65),
    "all of their clusters": (clustered(np.ones(100, dtype=bool), np.repeat(np.arange(20), 5)), 0.9),
    "none of their clusters": (clustered(np.zeros(100, dtype=bool), np.repeat(np.arange(20), 5)), 0.1),
    "nearly all": (clustered(np.arange(100) % 33 < 32, np.repeat(np.arange(20), 5)), 0.9),
}


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


@pytest.mark.parametrize("name", SHARES)
def test_what_would_decide_a_test_counts_those_that_claim_something(name: str) -> None:
    share, wanted = SHARES[name]
    found = corrected([judged(share, wanted, tests=4), judged(share, wanted, tests=4), STOPPED, STOPPED])
    expected = corrected([judged(share, wanted, tests=2), judged(share, wanted, tests=2)])
    assert found[2:] == [STOPPED, STOPPED]
    assert [each["verdict"] for each in found[:2]] == [each["verdict"] for each in expected]
    assert further(found[0]) == pytest.approx(further(expected[0]), rel=0.02)
    assert further(found[0])


def test_a_sentence_names_as_many_tests_as_claim_something() -> None:
    share = independent(72, 100)
    found = corrected([judged(share, 0.7, tests=4), STOPPED, judged(share, 0.7, tests=4), STOPPED])
    assert found[0]["reason"].endswith("would decide it among 2 tests with 80 % power.")


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
