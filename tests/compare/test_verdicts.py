"""Exactly one verdict applies, and it means what it says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.compare.pairs import decide, pairs_of
from contrapose.tasks.compare.rows import Rows
from contrapose.tasks.core.comparison import Difference, Pair, Verdict

MARGIN = 0.05


def pair(interval: tuple[float, float] | None, low: float = 0.0, *, p: float | None = 0.001, **changes: Any) -> Pair:
    """A pair of models with the given interval and one-sided lower bound of their difference."""
    found = Difference(
        value=0.0, interval=interval, bounds=None if interval is None else (low, 1.0), p=p, adjusted=p, method="x"
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
    assert decided["reason"].startswith(
        "With 95 % confidence the difference is between -20.8 and -3.1 points. On its own this is a difference; "
        "corrected for all pairs of models it is not (Holm: p = 0.080). About "
    )


def test_a_difference_that_its_own_p_value_does_not_show_says_so() -> None:
    decided = decide(pair((-0.2, -0.01), -0.18, p=0.0503), MARGIN)
    assert decided["reason"].startswith(
        "With 95 % confidence the difference is between -20.0 and -1.0 points. Its p value does not show a difference "
        "(p = 0.0503). About "
    )


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


def independent_rows(passed: np.ndarray) -> Rows:
    """Return the rows of two models on cases that are not alike."""
    codes = np.arange(passed.shape[1])
    return Rows(passed=passed, asked=np.ones_like(passed, dtype=bool), cluster=codes, ids=codes.astype(str))


@pytest.mark.parametrize(("agree", "count"), [(0.8, 60), (1.0, 20)])
def test_the_cases_that_are_said_to_be_missing_give_a_verdict(agree: float, count: int) -> None:
    rng = np.random.default_rng(5)

    def verdicts(count: int, runs: int) -> list[Pair]:
        first = rng.random((runs, count)) < 0.7
        second = np.where(rng.random((runs, count)) < agree, first, rng.random((runs, count)) < 0.7)
        made = (np.stack([second[run], first[run]]).astype(float) for run in range(runs))
        return [pairs_of(independent_rows(passed), ["base", "other"], margin=MARGIN)[0] for passed in made]

    few = verdicts(count, 1)[0]
    assert few["verdict"] == "cannot tell"
    needed = re.search(r"About ([\d,]+) more cases are needed", few["reason"])
    assert needed, few["reason"]
    more = verdicts(count + int(needed[1].replace(",", "")), 30)
    assert sum(pair["verdict"] != "cannot tell" for pair in more) >= 15
