"""Shares in clusters: intervals as published, fewer effective rows where rows repeat each other."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.statistics.shares import Share, clustered, evidence, independent, unequal, wilson


def test_wilson_agrees_with_the_published_example() -> None:
    # Newcombe 1998 (Statistics in Medicine 17, 857-872), table I: 81 of 263 gives 0.2553 to 0.3662.
    assert wilson(independent(81, 263)) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_bounds_are_those_of_a_two_sided_90_percent_wilson_interval() -> None:
    z, n, p = NormalDist().inv_cdf(0.95), 200, 0.8
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    assert evidence(independent(160, 200), 0.7).bounds == pytest.approx((middle - half, middle + half), abs=1e-9)


def test_few_rows_have_exact_bounds() -> None:
    # 9 of 10 at a true rate of 0.65: 0.65^10 + 10 x 0.65^9 x 0.35.
    assert evidence(independent(9, 10), 0.65).reached == pytest.approx(0.65**10 + 10 * 0.65**9 * 0.35)


@pytest.mark.parametrize("rows", [10, 50, 99, 100, 373])
@pytest.mark.parametrize("gate", [0.0, 0.3, 0.65, 0.95, 1.0])
def test_a_bound_reaches_the_gate_where_the_p_value_says_so(rows: int, gate: float) -> None:
    for true in range(rows + 1):
        found = evidence(independent(true, rows), gate)
        if gate > 0:
            assert (found.bounds.low >= gate) == (found.reached <= 0.05)
        if 0 < gate < 1:
            assert (found.bounds.high < gate) == (found.missed < 0.05)


def test_copies_of_a_row_add_nothing() -> None:
    rng = np.random.default_rng(0)
    once = rng.random(200) < 0.7
    share = clustered(np.repeat(once, 5), np.repeat(np.arange(200), 5))
    assert (share.rows, share.clusters) == (1000, 200)
    assert share.effective == pytest.approx(200, rel=0.03)


def test_rows_of_their_own_count_in_full() -> None:
    share = clustered([True, False, True], ["a", "b", "c"])
    assert share == independent(2, 3)


def test_clusters_that_all_agree_count_as_one_row_each() -> None:
    assert clustered([True] * 6, ["a", "a", "a", "b", "b", "b"]).effective == 2


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=60))
def test_effective_rows_lie_between_one_and_all(rows: list[tuple[bool, int]]) -> None:
    share = clustered([true for true, _ in rows], [cluster for _, cluster in rows])
    assert 1 <= share.effective <= share.rows
    low, high = wilson(share)
    assert 0 <= low <= share.rate <= high <= 1


def test_equal_shares_do_not_differ_and_far_ones_do() -> None:
    assert unequal(independent(50, 100), independent(50, 100)) == 1
    assert unequal(independent(90, 100), independent(50, 100)) < 1e-6


def test_a_design_effect_makes_a_difference_less_sure() -> None:
    weak = Share(true=90, rows=100, clusters=10, effective=10)
    assert unequal(weak, independent(50, 100)) > 0.01
