"""Verdicts: what is certain, what is not, and what never passes."""

from __future__ import annotations

import pytest

from contrapose.tasks.evaluate.gate import Counts, Decision, Gate, decide
from contrapose.tasks.evaluate.statistics import one_sided, wilson


def verdict(
    asked: int, scored: int, passed: int, *, errors: int = 0, wanted: float = 0.7, gate: Gate = "interval"
) -> Decision:
    return decide(
        Counts(asked=asked, scored=scored, passed=passed, errors=errors),
        min_pass_rate=wanted,
        max_error_share=0.02,
        gate=gate,
    )


def test_wilson_agrees_with_the_published_example() -> None:
    # Newcombe 1998 (Statistics in Medicine 17, 857-872), table I: 81 of 263 gives 0.2553 to 0.3662.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_one_sided_bounds_are_those_of_a_two_sided_90_percent_interval() -> None:
    from statistics import NormalDist

    z, n, p = NormalDist().inv_cdf(0.95), 50, 0.8
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    assert one_sided(40, 50) == pytest.approx((middle - half, middle + half), abs=1e-9)


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
