"""Shares in clusters: intervals as published, fewer effective rows where rows repeat each other.

And the variance of a mean over clusters, and how sure that is: as their definitions say, worked out another way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from contrapose.tasks.statistics.shares import (
    Interval,
    Share,
    clustered_share,
    compute_penalty,
    compute_spread,
    copies,
    exact,
    fisher,
    make_independent,
    wilson,
)


@pytest.mark.parametrize("method", ["wilson", "beta"])
@given(
    rows=st.integers(1, 10_000),
    rate=st.floats(0, 1),
    worth=st.floats(0.01, 1),
    level=st.floats(1e-12, 0.5),
)
def test_intervals_are_those_of_statsmodels(method: str, rows: int, rate: float, worth: float, level: float) -> None:
    from statsmodels.stats.proportion import proportion_confint

    share = replace(make_independent(round(rate * rows), rows), effective=max(1.0, rows * worth))
    own = wilson(share, confidence=1 - 2 * level) if method == "wilson" else exact(share, level)
    alpha = 1 - (1 - 2 * level) if method == "wilson" else 2 * level
    if alpha:
        theirs = proportion_confint(share.rate * share.effective, share.effective, alpha=alpha, method=method)
        assert own == pytest.approx(tuple(map(float, theirs)), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("interval", [wilson, exact])
def test_an_interval_holds_its_rate_and_leaves_the_unit_interval_nowhere(interval: Callable[[Share], Interval]) -> None:
    for rows in range(1, 200):
        for true in (0, rows // 2, rows):
            share = make_independent(true, rows)
            low, high = interval(share)
            assert 0 <= low <= share.rate <= high <= 1
    assert (interval(make_independent(0, 9)).low, interval(make_independent(9, 9)).high) == (0, 1)


def test_a_level_that_decides_nothing_leaves_nothing_out() -> None:
    assert wilson(make_independent(8, 10), confidence=1) == exact(make_independent(8, 10), 0) == (0, 1)


def test_one_large_cluster_is_worth_less_than_its_rows() -> None:
    alike = clustered_share([True] * 50 + [True, False] * 25, ["large"] * 50 + list(range(50)))
    assert alike.effective < 10


def test_rows_of_their_own_count_in_full() -> None:
    share = clustered_share([True, False, True], ["a", "b", "c"])
    assert share == make_independent(2, 3)


def test_clusters_that_all_agree_count_as_one_row_each() -> None:
    for same in (True, False):
        assert clustered_share([same] * 6, ["a", "a", "a", "b", "b", "b"]).effective == 2


def test_clusters_whose_rows_are_copies_count_as_one_row_each() -> None:
    true = np.arange(20) > 0
    assert clustered_share(np.repeat(true, 5), np.repeat(np.arange(20), 5)).effective == 20


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=60))
def test_effective_rows_lie_between_one_and_all(rows: list[tuple[bool, int]]) -> None:
    share = clustered_share([true for true, _ in rows], [cluster for _, cluster in rows])
    assert 1 <= share.effective <= share.rows
    low, high = wilson(share)
    assert 0 <= low <= share.rate <= high <= 1


def test_equal_shares_do_not_differ_and_far_ones_do() -> None:
    assert fisher(make_independent(50, 100), make_independent(50, 100)) == 1
    assert fisher(make_independent(90, 100), make_independent(50, 100)) < 1e-6


def test_a_design_effect_makes_a_difference_less_sure() -> None:
    weak = Share(true=90, rows=100, clusters=10, effective=10)
    assert fisher(weak, make_independent(50, 100)) > 0.01


def test_a_share_knows_the_degrees_of_freedom_of_its_clusters() -> None:
    true, cluster = np.arange(60) % 3 == 0, np.repeat(np.arange(12), 5)
    share = clustered_share(true, cluster)
    assert share.freedom == compute_spread(np.bincount(cluster, weights=true), np.bincount(cluster)).freedom
    assert clustered_share(true, np.arange(60)).freedom == np.inf
    assert clustered_share(np.ones(60), cluster).freedom == np.inf


SUMS = np.array([4.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.5, 0.0])
SIZES = np.array([4, 3, 3, 4, 5, 4, 3, 4])


def without_each() -> np.ndarray:
    """The mean with each of the clusters left out in turn."""
    return np.array(
        [np.delete(SUMS, place).sum() / np.delete(SIZES, place).sum() for place in range(len(SUMS))], dtype=float
    )


def test_the_variance_is_that_of_the_means_with_one_cluster_left_out() -> None:
    apart = without_each() - SUMS.sum() / SIZES.sum()
    clusters = len(SUMS)
    assert compute_spread(SUMS, SIZES).variance == pytest.approx((clusters - 1) / clusters * float((apart**2).sum()))


def test_its_degrees_of_freedom_are_those_of_a_sum_of_squares_that_vary_so() -> None:
    # Satterthwaite: twice the square of the mean over the variance, here of the sum of the squares.
    squares = (without_each() - SUMS.sum() / SIZES.sum()) ** 2
    expected = 2 * squares.sum() ** 2 / (len(squares) * squares.var())
    assert 1 < expected < copies(SIZES) - 1
    assert compute_spread(SUMS, SIZES).freedom == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_degrees_of_freedom_do_not_depend_on_the_unit(scale: float) -> None:
    usual, other = compute_spread(SUMS, SIZES), compute_spread(SUMS * scale, SIZES)
    assert other.freedom == pytest.approx(usual.freedom)
    assert other.variance == pytest.approx(usual.variance * scale**2)


def test_the_degrees_of_freedom_are_those_of_the_clusters_at_most_and_one_at_least() -> None:
    sizes = np.full(10, 4)
    alike = compute_spread(np.array([1.0, 3.0] * 5), sizes)
    assert alike.freedom == copies(sizes) - 1 == 9
    assert compute_spread(np.array([60.0, 1.0]), np.array([100, 1])).freedom == 1


def test_copies_of_rows_tell_as_much_as_the_squared_sum_over_the_sum_of_squares() -> None:
    assert copies(np.array([1, 2, 3])) == pytest.approx(36 / 14)
    assert copies(np.array([5, 5])) == 2


@pytest.mark.parametrize(("rows", "clusters"), [(100, 5), (40, 12.5), (7, 7)])
def test_few_clusters_cost_the_squared_ratio_of_the_quantiles(rows: float, clusters: float) -> None:
    assert compute_penalty(rows, clusters) == pytest.approx((t.ppf(0.975, rows - 1) / t.ppf(0.975, clusters - 1)) ** 2)
    assert compute_penalty(rows, clusters) <= 1
