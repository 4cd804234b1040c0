"""Verdicts: what is certain, what is not, and what never passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contrapose.tasks.core.outcome import GateSummary
from contrapose.tasks.evaluate.gate import (
    Counts,
    Gate,
    GateDecision,
    Rules,
    count_further_cases,
    decide,
    explain_inconclusive,
    more_cases_clause,
)
from contrapose.tasks.evaluate.rates import Rate, compute_rate
from contrapose.tasks.statistics.power import count_further_rows
from contrapose.tasks.statistics.shares import LEVEL, Share, exact, make_independent

RULES = Rules(min_pass_rate=0.7, max_error_share=0.02, gate="interval")


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
    found = compute_rate(name, met, np.arange(len(met)), wanted=wanted, chance=chance)
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
) -> GateDecision:
    return decide(
        Counts(asked=asked, scored=scored, passed=passed, errors=errors),
        [rate(passed, scored - passed, open_=asked - scored, wanted=wanted)],
        Rules(min_pass_rate=wanted, max_error_share=0.02, gate=gate, min_coverage=min_coverage),
    )


def of_share(share: Share, *, wanted: float, tests: int = 1) -> GateDecision:
    found = Rate(name="pass_rate", wanted=wanted, worst=share, best=share, lenient=share, strict=share, open=0)
    rules = Rules(min_pass_rate=wanted, max_error_share=0.02, gate="interval", tests=tests)
    return decide(Counts(asked=share.rows, scored=share.rows, passed=share.true, errors=0), [found], rules)


def only(decision: GateDecision) -> GateSummary:
    (gate,) = decision.gates
    return gate


def told(name: str, counts: tuple[int, int, int], expected: str, reason: str = "", **settings: Any) -> Any:
    """Asked, scored and passed cases with the verdict on them, and what its reason says."""
    return pytest.param(counts, settings, expected, reason, id=name)


OPEN = "could not be scored, and they decide the verdict. The pass rate is"


@pytest.mark.parametrize(
    ("counts", "settings", "expected", "reason"),
    [
        told("the interval lies above the gate", (100, 100, 80), "pass"),
        told("the interval holds the gate", (100, 100, 72), "inconclusive"),
        told("the interval holds the gate from below", (100, 100, 68), "inconclusive"),
        told("the interval lies below the gate", (100, 100, 55), "fail"),
        told("nothing was scored", (10, 0, 0), "inconclusive"),
        told("nothing was scored for a bare rate", (10, 0, 0), "inconclusive", gate="rate"),
        told("a gate of one", (100, 100, 100), "inconclusive", "No number of cases can prove", wanted=1.0),
        told("a gate of zero", (20, 20, 0), "pass", wanted=0.0),
        told("a bound reads as it lies", (100, 100, 46), "fail",
             "With 95 % confidence the pass rate is at most 54.70%; the gate is 54.71%.",
             wanted=round(exact(make_independent(46, 100)).high + 0.0001, 6)),
        told("a bare rate reads as it lies", (10_000, 10_000, 2461), "fail",
             "The pass rate (24.61%) is below the gate (24.62%).", wanted=0.2462, gate="rate"),
        told("a recorded judge: 344 of 350 pairs could not be read", (350, 6, 3), "inconclusive",
             f"344 of 350 cases {OPEN} 0.9% if they fail, 99.1% if they pass; the gate is 70.0%."),
        told("128 of 160 replies right, and 40 more unread", (200, 160, 128), "inconclusive"),
        told("open cases cannot turn a pass", (200, 190, 185), "pass",
             "even if all 10 cases that could not be scored fail"),
        told("open cases cannot turn a failure", (200, 190, 20), "fail",
             "even if all 10 cases that could not be scored pass"),
        told("open cases decide about a bare rate", (10, 9, 6), "inconclusive",
             f"1 of 10 cases {OPEN} 60.0% if they fail, 70.0% if they pass; the gate is 70.0%.", gate="rate"),
        told("an open case cannot turn a bare pass", (10, 9, 8), "pass",
             "(80.0%) reaches the gate (70.0%), even if the one case that could not be scored fails.", gate="rate"),
        told("an open case cannot turn a bare failure", (10, 9, 2), "fail",
             "(30.0%) is below the gate (70.0%), even if the one case that could not be scored passes.", gate="rate"),
        told("a bare rate exactly at the gate", (100, 100, 70), "pass", gate="rate"),
        told("a bare rate just below the gate", (100, 100, 69), "fail", gate="rate"),
        told("as many errors as are allowed", (100, 98, 98), "pass", errors=2),
        told("an error too many", (100, 97, 97), "incomplete",
             "3 of 100 cases got no answer; max_error_share is 2.0%.", errors=3),
        told("as many scored answers as are asked for", (200, 160, 160), "pass", min_coverage=0.8),
        told("a scored answer too few", (200, 159, 159), "inconclusive",
             "Only 159 of 200 answers could be scored; min_coverage is 80.0%.", min_coverage=0.8),
        told("a failed call is no answer to be scored", (100, 98, 98), "pass", errors=2, min_coverage=1.0),
        told("one case", (1, 1, 1), "inconclusive", "The pass rate (100.0% of 1 case) is too close to the gate"),
    ],
)  # fmt: skip
def test_counts_come_to_a_verdict_and_its_reason(
    counts: tuple[int, int, int], settings: dict[str, Any], expected: str, reason: str
) -> None:
    decision = verdict(*counts, **settings)
    assert decision.verdict == expected
    assert reason in decision.reason
    if settings.get("gate") == "rate" or expected == "incomplete":
        assert (decision.reached, decision.missed) == (None, None)


def test_an_undecided_gate_says_how_many_cases_would_decide_it_if_any_would() -> None:
    decision = verdict(100, 100, 72)
    more = only(decision)["further"]
    assert more
    rows = 100 + more
    assert verdict(rows, rows, round(0.72 * rows)).verdict == "pass"
    assert f"about {more:,} more cases are needed" in decision.reason
    at_the_gate = verdict(100, 100, 70)
    assert only(at_the_gate)["further"] is None
    assert "at this rate more cases would not decide it" in at_the_gate.reason


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


def test_among_several_tests_more_cases_are_needed() -> None:
    one, four = (of_share(make_independent(72, 100), wanted=0.65, tests=tests) for tests in (1, 4))
    assert (only(four)["further"] or 0) > (only(one)["further"] or 0) > 0
    assert four.reason.endswith("more cases are needed.")


def test_a_verdict_that_holds_alone_says_what_it_needs_among_several() -> None:
    found = of_share(make_independent(78, 100), wanted=0.7, tests=4)
    assert found.verdict == "pass"
    assert only(found)["further"]


def test_open_cases_do_not_decide_where_those_that_are_known_reach_the_gate_alone() -> None:
    assert "could not be scored, and they decide" in explain_inconclusive(rate(69, 30, open_=1), among(1))
    assert explain_inconclusive(rate(70, 29, open_=1), among(1)).startswith(
        "The pass rate (70.0% to 71.0% of 100 cases) is too close to the gate (70.0%) to call"
    )


@pytest.mark.parametrize("gate", ["interval", "rate"])
@pytest.mark.parametrize(("chance", "expected"), [(0.69, "pass"), (0.7, "inconclusive"), (None, "pass")])
def test_a_gate_that_guessing_just_reaches_proves_nothing_either(
    gate: Gate, chance: float | None, expected: str
) -> None:
    rules = Rules(min_pass_rate=0.7, max_error_share=0.02, gate=gate)
    counts = Counts(asked=200, scored=200, passed=190, errors=0)
    assert decide(counts, [rate(190, 10, chance=chance)], rules).verdict == expected


def test_a_gate_of_zero_is_not_reached_by_guessing_but_by_nature() -> None:
    rules = Rules(min_pass_rate=0.0, max_error_share=0.02, gate="interval")
    counts = Counts(asked=20, scored=20, passed=0, errors=0)
    assert decide(counts, [rate(0, 20, wanted=0.0, chance=0.5)], rules).verdict == "pass"


def test_the_p_values_of_several_rates_are_those_of_the_least_sure() -> None:
    counts = Counts(asked=100, scored=100, passed=95, errors=0)
    sure, unsure = rate(95, 5), rate(60, 40, wanted=0.5, name="contrast_rate")
    found = decide(counts, [sure, unsure], RULES)
    # All must be reached: the largest; one missed is enough: the smallest, by Bonferroni.
    assert found.reached == unsure.reached > sure.reached
    assert found.missed == min(1.0, 2 * unsure.missed)
    low = rate(55, 45)
    assert decide(counts, [sure, low], RULES).missed == 2 * low.missed


def test_a_failure_among_two_rates_needs_twice_the_evidence() -> None:
    counts = Counts(asked=100, scored=100, passed=95, errors=0)
    missed = rate(61, 39)
    assert 0.025 < missed.missed <= 0.05
    assert decide(counts, [missed], RULES).verdict == "fail"
    assert decide(counts, [rate(95, 5), missed], RULES).verdict == "inconclusive"


def test_a_pass_tells_of_each_of_two_rates_and_of_the_closest_of_many() -> None:
    counts = Counts(asked=100, scored=100, passed=95, errors=0)
    found = decide(counts, [rate(95, 5), rate(90, 10, wanted=0.5, name="contrast_rate")], RULES)
    assert found.reason == (
        "With 95 % confidence the pass rate is at least 89.8%; the gate is 70.0%, "
        "and the contrast rate is at least 83.6%; the gate is 50.0%."
    )
    many = decide(counts, [rate(80 + number, 20 - number, wanted=0.6) for number in range(5)], RULES)
    assert (many.verdict, many.reason.count("at least")) == ("pass", 1)
    assert "all 5 rates reach their gates. The closest: the pass rate is at least 72" in many.reason


def test_what_decides_alone_needs_no_further_cases_and_one_of_several_does() -> None:
    alone = rate(80, 20)
    assert alone.reached <= LEVEL
    assert count_further_cases(alone, among(1)) is None
    assert count_further_cases(alone, among(4)) is not None
    assert count_further_cases(rate(60, 0, open_=40), among(1)) is None


def test_no_more_cases_are_asked_for_than_the_data_hold() -> None:
    alone = rate(75, 25)
    more = count_further_cases(alone, among(1))
    assert more is not None
    assert count_further_cases(alone, among(1)._replace(growth=1 + more / 100)) == more
    assert count_further_cases(alone, among(1)._replace(growth=1 + (more - 1) / 100)) is None
    assert "more cases are needed, and this data set has no more" in explain_inconclusive(
        alone, among(1)._replace(growth=1.0)
    )


def among(tests: int) -> Rules:
    return Rules(min_pass_rate=0.7, max_error_share=0.02, gate="interval", tests=tests)


def test_further_cases_for_a_miss_are_counted_with_open_cases_passed() -> None:
    """60 of 100 and 5 open: at best 65 %, which no cases like these would lift over 70 %."""
    found = rate(60, 35, open_=5)
    assert count_further_cases(found, among(1)) == count_further_rows(found.best, 0.7, level=LEVEL, looks=found.looks)
    above = rate(75, 20, open_=5)
    assert count_further_cases(above, among(1)) == count_further_rows(above.worst, 0.7, level=LEVEL, looks=above.looks)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (None, "; at this rate more cases would not decide it"),
        (1, "; about 1 more case is needed"),
        (1200, "; about 1,200 more cases are needed"),
    ],
)
def test_a_sentence_names_the_cases_that_are_needed(more: int | None, words: str) -> None:
    assert more_cases_clause(more) == words


def test_the_rate_over_known_cases_leaves_the_open_ones_out() -> None:
    assert rate(6, 2, open_=2).value == 0.75
    assert rate(0, 0, open_=3).value is None
    assert compute_rate("pass_rate", [], [], wanted=0.5) is None


def test_counts_say_what_is_left() -> None:
    counts = Counts(asked=10, scored=6, passed=5, errors=1)
    assert (counts.unscored, counts.coverage) == (3, 0.6)
    assert Counts(asked=0, scored=0, passed=0, errors=0).coverage is None
    assert decide(Counts(asked=0, scored=0, passed=0, errors=0), [], RULES).verdict == "inconclusive"


@pytest.mark.parametrize("gate", ["interval", "rate"])
def test_one_gate_that_guessing_does_not_reach_is_enough_to_pass(gate: Gate) -> None:
    counts = Counts(asked=200, scored=200, passed=190, errors=0)
    guessed, contrast = rate(190, 10, chance=0.75), rate(180, 20, wanted=0.5, name="contrast_rate", chance=0.19)
    rules = RULES._replace(gate=gate)
    assert decide(counts, [guessed, contrast], rules).verdict == "pass"
    alone = decide(counts, [guessed, guessed], rules)
    assert alone.verdict == "inconclusive"
    assert alone.reason.startswith("Random guessing reaches a pass rate of 75.0%: the gate (70.0%) proves nothing")


def test_a_rate_that_is_undecided_says_so_before_it_says_that_guessing_would_reach_the_gate() -> None:
    counts = Counts(asked=100, scored=100, passed=72, errors=0)
    undecided = rate(72, 28, chance=0.75)
    found = decide(counts, [undecided], RULES)
    assert found.reason.startswith("The pass rate (72.0% of 100 cases) is too close to the gate (70.0%) to call")
    assert found.reached == undecided.reached


def test_evidence_of_exactly_the_level_is_enough() -> None:
    """One case of one: the p value is the gate itself."""
    assert rate(1, 0, wanted=LEVEL).reached == LEVEL
    assert verdict(1, 1, 1, wanted=LEVEL).verdict == "pass"
