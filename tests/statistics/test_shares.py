"""Shares in clusters: intervals as published, fewer effective rows where rows repeat each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from contrapose.tasks.statistics.shares import Share, clustered, evidence, independent, unequal, wilson


def test_wilson_agrees_with_the_published_example() -> None:
    # Newcombe 1998 (Statistics in Medicine 17, 857-872), table I: 81 of 263 gives 0.2553 to 0.3662.
    assert wilson(independent(81, 263)) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_bounds_are_exact() -> None:
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


@pytest.mark.parametrize("rows", [100, 118, 373])
@pytest.mark.parametrize("gate", [0.5, 0.95])
def test_a_gate_at_its_boundary_is_passed_and_failed_in_at_most_one_of_twenty(rows: int, gate: float) -> None:
    chances = binom.pmf(np.arange(rows + 1), rows, gate)
    bounds = [evidence(independent(true, rows), gate).bounds for true in range(rows + 1)]
    assert chances @ np.array([low >= gate for low, _ in bounds]) <= 0.05
    assert chances @ np.array([high < gate for _, high in bounds]) <= 0.05


def test_one_large_cluster_is_worth_less_than_its_rows() -> None:
    alike = clustered([True] * 50 + [True, False] * 25, ["large"] * 50 + list(range(50)))
    assert alike.effective < 10


def test_an_interval_of_more_confidence_is_wider() -> None:
    narrow, wide = (wilson(independent(8, 10), confidence=level) for level in (0.9, 0.95))
    assert wide.low < narrow.low < narrow.high < wide.high


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
