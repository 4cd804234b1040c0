"""Exactly one verdict applies, and it means what it says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.compare.pairs import decide
from contrapose.tasks.core.comparison import Difference, Pair, Verdict

MARGIN = 0.05


def pair(interval: tuple[float, float] | None, low: float = 0.0, *, p: float | None = 0.001, **changes: Any) -> Pair:
    """A pair of models with the given interval and one-sided lower bound of their difference."""
    found = Difference(
        value=0.0,
        interval=interval,
        bounds=None if interval is None else (low, 1.0),
        p=p,
        adjusted=p,
        method="x",
    )
    base = Pair(
        first="candidate",
        second="baseline",
        cases=100,
        clusters=100,
        only_first=0,
        only_second=0,
        neither=0,
        rates=None,
        difference=found,
        extremes=(0.0, 0.0),
        verdict=None,
        reason="",
    )
    return Pair(**{**base, **changes})


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (pair((0.01, 0.2), 0.02), "better"),
        (pair((0.01, 0.2), 0.02, p=0.06), "not worse"),
        (pair((-0.06, 0.2), -0.05), "not worse"),
        (pair((-0.04, -0.01), -0.04), "not worse"),
        (pair((-0.2, -0.01), -0.18), "worse"),
        (pair((-0.2, -0.01), -0.18, p=0.06), "cannot tell"),
        (pair((-0.2, 0.1), -0.18), "cannot tell"),
        (pair(None, p=None), "cannot tell"),
        (pair((0.01, 0.2), difference=None, cases=0), "cannot tell"),
    ],
)
def test_the_first_definition_that_applies_is_the_verdict(found: Pair, verdict: Verdict) -> None:
    decided = decide(found, MARGIN)
    assert decided["verdict"] == verdict
    assert decided["reason"].endswith(".")


def test_too_few_cases_in_common_tell_nothing() -> None:
    decided = decide(pair((0.01, 0.2), 0.02, cases=79, only_first=11, neither=10), MARGIN)
    assert decided["verdict"] == "cannot tell"
    assert decided["reason"] == "Only 79 of 100 cases could be scored for both; 80% are needed."


def test_a_difference_that_the_other_pairs_block_says_so() -> None:
    found = pair((-0.208, -0.031), -0.195)
    assert found["difference"] is not None
    blocked = {**found, "difference": {**found["difference"], "p": 0.04, "adjusted": 0.0801}}
    decided = decide(Pair(**blocked), MARGIN)  # type: ignore[typeddict-item]
    assert decided["verdict"] == "cannot tell"
    assert decided["reason"] == (
        "With 95 % confidence the difference is between -20.8 points and -3.1 points; alone this is a difference, "
        "among all pairs of models it is not (Holm: p = 0.080)."
    )


def test_a_difference_that_its_own_p_value_does_not_show_says_so() -> None:
    decided = decide(pair((-0.2, -0.01), -0.18, p=0.0503), MARGIN)
    assert decided["reason"].endswith("; its p value does not show a difference (p = 0.0503).")


def test_too_few_clusters_for_the_margin_are_named_as_the_reason() -> None:
    decided = decide(pair((-0.02, 0.04), -0.12, p=0.6, clusters=24), MARGIN)
    assert decided["verdict"] == "cannot tell"
    assert decided["reason"] == (
        "The cases belong to 24 clusters: too few to rule out a loss of more than 5 points, since a cluster may be "
        "lost completely."
    )


@given(ends=st.tuples(*[st.floats(-1, 1)] * 3), p=st.floats(0, 1), margin=st.floats(0, 0.99))
def test_better_and_worse_need_an_interval_and_a_p_value(ends: tuple[float, ...], p: float, margin: float) -> None:
    low, bound, high = sorted(ends)
    verdict = decide(pair((low, high), bound, p=p), margin)["verdict"]
    assert (verdict == "better") == (low > 0 and p <= 0.05)
    if verdict == "worse":
        assert high < 0
        assert bound < -margin
    if bound >= -margin:
        assert verdict in ("better", "not worse")
