"""Verdicts: what is certain, what is not, and what never passes."""

from __future__ import annotations

import numpy as np
import pytest

from contrapose.tasks.evaluate.gate import Counts, Decision, Gate, Rate, Rules, decide, rated
from contrapose.tasks.outcome import GateSummary
from contrapose.tasks.statistics.shares import Share, exact, independent


def rate(
    passed: int,
    failed: int,
    *,
    open_: int = 0,
    wanted: float = 0.7,
    name: str = "pass_rate",
    chance: float | None = None,
) -> Rate:
    """A rate of independent cases."""
    met = np.array([1.0] * passed + [0.0] * failed + [np.nan] * open_)
    found = rated(name, met, np.arange(len(met)), wanted=wanted, chance=chance)
    assert found is not None
    return found


def verdict(
    asked: int,
    scored: int,
    passed: int,
    *,
    errors: int = 0,
    wanted: float = 0.7,
    gate: Gate = "interval",
    min_coverage: float = 0.0,
) -> Decision:
    return decide(
        Counts(asked=asked, scored=scored, passed=passed, errors=errors),
        [rate(passed, scored - passed, open_=asked - scored, wanted=wanted)],
        Rules(min_pass_rate=wanted, max_error_share=0.02, gate=gate, min_coverage=min_coverage),
    )


def of_share(share: Share, *, wanted: float, tests: int = 1) -> Decision:
    found = Rate(name="pass_rate", wanted=wanted, worst=share, best=share, open=0)
    rules = Rules(min_pass_rate=wanted, max_error_share=0.02, gate="interval", tests=tests)
    return decide(Counts(asked=share.rows, scored=share.rows, passed=share.true, errors=0), [found], rules)


def only(decision: Decision) -> GateSummary:
    (gate,) = decision.gates
    return gate


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
    more = only(decision)["further"]
    assert more
    rows = 100 + more
    assert verdict(rows, rows, round(0.72 * rows)).verdict == "pass"
    assert f"about {more:,} further cases" in decision.reason


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
    assert only(decision)["further"] is None
    assert "no number of further cases" in decision.reason


def test_cases_that_depend_on_each_other_tell_less() -> None:
    assert of_share(independent(80, 100), wanted=0.7).verdict == "pass"
    assert of_share(Share(true=80, rows=100, clusters=20, effective=25), wanted=0.7).verdict == "inconclusive"


def test_a_share_of_scored_answers_can_be_asked_for() -> None:
    decision = verdict(200, 100, 100, min_coverage=0.8)
    assert decision.verdict == "inconclusive"
    assert decision.reason == "Only 100 of 200 answers could be scored; 80.0% are needed."
    assert verdict(200, 199, 199, min_coverage=0.8).verdict == "pass"


def test_open_cases_are_counted_either_way() -> None:
    gate = only(verdict(100, 60, 50))
    assert (gate["open"], gate["extremes"]) == (40, (0.5, 0.9))


def test_hardly_anything_read_is_no_failure() -> None:
    """A recorded judge: 344 of 350 pairs could not be read, and three of the others were wrong."""
    decision = verdict(350, 6, 3)
    assert decision.verdict == "inconclusive"
    assert decision.reason == (
        "The 344 of 350 cases whose replies leave it open decide: the pass rate is 0.9% with them counted as failed, "
        "99.1% as passed; the gate is 70.0%."
    )
    assert only(decision)["further"] is None


def test_what_could_be_read_alone_does_not_pass() -> None:
    """128 of 160 replies right, and 40 more unread: at worst 64 %."""
    assert verdict(200, 160, 128).verdict == "inconclusive"


@pytest.mark.parametrize("gate", ["interval", "rate"])
def test_a_verdict_that_open_cases_cannot_turn_is_given(gate: Gate) -> None:
    passed = verdict(200, 190, 185, gate=gate)
    assert passed.verdict == "pass"
    assert "with all 10 cases whose replies leave it open counted as failed" in passed.reason
    failed = verdict(200, 190, 20, gate=gate)
    assert failed.verdict == "fail"
    assert "with all 10 cases whose replies leave it open counted as passed" in failed.reason


@pytest.mark.parametrize("gate", ["interval", "rate"])
def test_every_rate_must_reach_its_gate(gate: Gate) -> None:
    rules = Rules(min_pass_rate=0.7, max_error_share=0.02, gate=gate)
    counts = Counts(asked=100, scored=100, passed=95, errors=0)
    high, low, open_ = (rate(n, 100 - n, wanted=0.5, name="contrast_rate") for n in (90, 10, 52))
    assert decide(counts, [rate(95, 5), high], rules).verdict == "pass"
    failed = decide(counts, [rate(95, 5), low], rules)
    assert failed.verdict == "fail"
    assert "contrast rate" in failed.reason
    if gate == "interval":
        assert decide(counts, [rate(95, 5), open_], rules).verdict == "inconclusive"


def test_a_gate_that_guessing_reaches_proves_nothing() -> None:
    rules = Rules(min_pass_rate=0.7, max_error_share=0.02, gate="interval")
    counts = Counts(asked=200, scored=200, passed=190, errors=0)
    guessed = decide(counts, [rate(190, 10, chance=0.75)], rules)
    assert guessed.verdict == "inconclusive"
    assert guessed.reason.startswith("A model that guesses has a pass rate of 75.0%, and the gate is 70.0%")
    contrast = rate(180, 20, wanted=0.5, name="contrast_rate", chance=0.19)
    assert decide(counts, [rate(190, 10, chance=0.75), contrast], rules).verdict == "pass"


def test_a_gate_of_zero_is_passed_by_whatever_there_is() -> None:
    assert verdict(20, 20, 0, wanted=0.0).verdict == "pass"


def test_among_several_tests_more_cases_are_needed() -> None:
    one, four = (of_share(independent(72, 100), wanted=0.65, tests=tests) for tests in (1, 4))
    assert (only(four)["further"] or 0) > (only(one)["further"] or 0) > 0
    assert four.reason.endswith("further cases like these would decide it among 4 tests with 80 % power.")


def test_a_verdict_that_holds_alone_says_what_it_needs_among_several() -> None:
    found = of_share(independent(78, 100), wanted=0.7, tests=4)
    assert found.verdict == "pass"
    assert only(found)["further"]
