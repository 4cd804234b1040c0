"""Verdicts: what is certain, what is not, and what never passes."""

from __future__ import annotations

import pytest

from contrapose.tasks.evaluate.gate import Counts, Decision, Gate, Rules, decide
from contrapose.tasks.statistics.shares import Share, exact, independent


def verdict(
    asked: int, scored: int, passed: int, *, errors: int = 0, wanted: float = 0.7, gate: Gate = "interval"
) -> Decision:
    return decide(
        Counts(asked=asked, scored=scored, passed=passed, errors=errors),
        independent(passed, scored) if scored else None,
        Rules(min_pass_rate=wanted, max_error_share=0.02, gate=gate, min_coverage=0.8),
    )


@pytest.mark.parametrize(
    ("passed", "expected"),
    [(95, "pass"), (80, "pass"), (72, "inconclusive"), (68, "inconclusive"), (55, "fail"), (0, "fail")],
)
def test_a_verdict_needs_the_interval_on_one_side_of_the_gate(passed: int, expected: str) -> None:
    assert verdict(100, 100, passed).verdict == expected


def test_few_samples_decide_nothing() -> None:
    assert verdict(5, 5, 5).verdict == "inconclusive"


def test_the_bare_rate_can_be_asked_for() -> None:
    assert verdict(10, 10, 7, gate="rate").verdict == "pass"
    assert verdict(10, 10, 6, gate="rate").verdict == "fail"


def test_too_many_errors_are_incomplete_however_good_the_rest() -> None:
    assert verdict(100, 90, 90, errors=10).verdict == "incomplete"
    assert verdict(100, 99, 99, errors=1).verdict == "pass"


def test_nothing_scored_never_passes() -> None:
    for gate in ("interval", "rate"):
        assert verdict(10, 0, 0, gate=gate).verdict == "inconclusive"  # type: ignore[arg-type]


def test_every_reason_is_a_sentence() -> None:
    for passed in (95, 72, 10):
        assert verdict(100, 100, passed).reason.endswith(".")


def test_a_gate_of_one_is_explained() -> None:
    decision = verdict(100, 100, 100, wanted=1.0)
    assert decision.verdict == "inconclusive"
    assert "No finite sample" in decision.reason


def test_an_undecided_gate_says_how_many_cases_would_decide_it() -> None:
    decision = verdict(100, 100, 72)
    assert decision.gate is not None
    assert decision.gate["further"]
    rows = 100 + decision.gate["further"]
    assert verdict(rows, rows, round(0.72 * rows)).verdict == "pass"
    assert f"about {decision.gate['further']:,} further cases" in decision.reason


def test_a_bound_reads_as_it_lies_to_the_gate() -> None:
    high = exact(independent(46, 100)).high
    decision = verdict(100, 100, 46, wanted=round(high + 0.0001, 6))
    assert decision.verdict == "fail"
    assert decision.reason == "With 95 % confidence the pass rate is at most 54.70%; the gate is 54.71%."


def test_a_bare_rate_reads_as_it_lies_to_the_gate() -> None:
    decision = verdict(10_000, 10_000, 2461, wanted=0.2462, gate="rate")
    assert decision.reason == "The pass rate 24.61% is under 24.62%."


def test_an_open_rate_reads_as_it_lies_to_the_gate() -> None:
    assert "The pass rate 24.61% over 10,000 cases" in verdict(10_000, 10_000, 2461, wanted=0.2462).reason


def test_a_rate_at_the_gate_is_never_decided_by_more_of_the_same() -> None:
    decision = verdict(100, 100, 70)
    assert decision.gate is not None
    assert decision.gate["further"] is None
    assert "no number of further cases" in decision.reason


def test_cases_that_depend_on_each_other_tell_less() -> None:
    share = Share(true=80, rows=100, clusters=20, effective=25)
    rules = Rules(min_pass_rate=0.7, max_error_share=0.02, gate="interval")
    assert decide(Counts(asked=100, scored=100, passed=80, errors=0), share, rules).verdict == "inconclusive"


def test_few_scored_answers_decide_nothing() -> None:
    decision = verdict(200, 100, 100)
    assert decision.verdict == "inconclusive"
    assert decision.reason == "Only 100 of 200 answers could be scored; 80.0% are needed."


def test_what_has_no_score_could_have_passed_or_failed() -> None:
    counts = Counts(asked=10, scored=6, passed=5, errors=1)
    assert (counts.coverage, counts.extremes) == (0.6, (0.5, 0.9))


def test_a_share_of_scored_answers_that_is_just_enough_is_enough() -> None:
    rules = Rules(min_pass_rate=0.5, max_error_share=0.02, gate="rate", min_coverage=0.55)
    counts = Counts(asked=20, scored=11, passed=11, errors=0)
    assert decide(counts, independent(11, 11), rules).verdict == "pass"


def test_without_enough_scores_nothing_is_claimed_about_the_gate() -> None:
    assert verdict(200, 100, 100).gate is None


@pytest.mark.parametrize("coverage", [0.0, 1.0])
def test_every_coverage_can_be_asked_for(coverage: float) -> None:
    rules = Rules(min_pass_rate=0.5, max_error_share=1.0, gate="interval", min_coverage=coverage)
    half = decide(Counts(asked=100, scored=50, passed=50, errors=0), independent(50, 50), rules)
    assert half.verdict == ("inconclusive" if coverage else "pass")
    whole = decide(Counts(asked=100, scored=50, passed=50, errors=50), independent(50, 50), rules)
    assert whole.verdict == "pass"


def test_a_gate_of_zero_is_passed_by_whatever_there_is() -> None:
    assert verdict(20, 20, 0, wanted=0.0).verdict == "pass"


def test_among_several_tests_more_cases_are_needed() -> None:
    share, counts = independent(72, 100), Counts(asked=100, scored=100, passed=72, errors=0)
    alone = Rules(min_pass_rate=0.65, max_error_share=0.02, gate="interval")
    one, four = (decide(counts, share, rules) for rules in (alone, alone._replace(tests=4)))
    assert one.gate is not None
    assert four.gate is not None
    assert (four.gate["further"] or 0) > (one.gate["further"] or 0) > 0
    assert four.reason.endswith("further cases like these would decide it among 4 tests with 80 % power.")


def test_a_verdict_that_holds_alone_says_what_it_needs_among_several() -> None:
    rules = Rules(min_pass_rate=0.7, max_error_share=0.02, gate="interval", tests=4)
    found = decide(Counts(asked=100, scored=100, passed=78, errors=0), independent(78, 100), rules)
    assert found.verdict == "pass"
    assert found.gate is not None
    assert found.gate["further"]
