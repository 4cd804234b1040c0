"""Means and differences with intervals: fixed, wider for clusters, and honest where nothing varies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap, norm, t

from contrapose.tasks.statistics.means import (
    RESAMPLES,
    SEED,
    count_resamples,
    difference,
    is_nearly_constant,
    mean,
    widen_tail,
)
from contrapose.tasks.statistics.shares import LEVEL, compute_spread, make_independent, wilson

RNG = np.random.default_rng(4)
VALUES = RNG.normal(2.0, 1.0, size=400)
ALONE = np.arange(400)


@pytest.mark.parametrize("rows_of_each", [1, 3])
def test_the_interval_is_that_of_scipys_bootstrap(rows_of_each: int) -> None:
    found = mean(VALUES[:120], ALONE[:120] // rows_of_each)
    assert found.interval is not None
    sums, counts = VALUES[:120].reshape(-1, rows_of_each).sum(axis=1), np.full(120 // rows_of_each, float(rows_of_each))
    tail = widen_tail(1 - LEVEL, sums, counts)
    theirs = bootstrap(
        (sums, counts),
        lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        n_resamples=count_resamples(tail, len(sums)),
        # As many at a time as we draw.
        batch=100,
        confidence_level=1 - 2 * tail,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    assert found.interval == pytest.approx((theirs.low, theirs.high), rel=1e-12)


def test_copies_of_a_value_make_nothing_surer() -> None:
    once, five = mean(VALUES, ALONE), mean(np.repeat(VALUES, 5), np.repeat(ALONE, 5))
    assert five.interval == pytest.approx(once.interval)
    assert (five.rows, five.clusters) == (2000, 400)


def test_rows_without_a_value_do_not_count() -> None:
    found = mean([1.0, np.nan, 0.0], ["a", "b", "c"])
    assert (found.value, found.rows) == (0.5, 2)
    assert mean([np.nan], ["a"]) is None


def test_what_does_not_vary_or_stands_alone_has_no_interval() -> None:
    for values, cluster in (([0.5, 0.5], "ab"), ([0.2, 0.4], "aa"), ([0.5, 0.5, 0.5], "aab")):
        found = mean(values, list(cluster))
        assert found.interval is None


def test_shares_keep_an_interval_where_every_row_agrees() -> None:
    ones, zeros, each = np.ones(50), np.zeros(50), np.arange(50)
    alike, never, always = (
        mean(ones, each, share=True),
        difference(ones, ones, each, share=True),
        difference(ones, zeros, each, share=True),
    )
    assert alike.interval.low == pytest.approx(0.9286, abs=1e-3)
    assert never.interval == pytest.approx((-0.0714, 0.0714), abs=1e-4)
    assert 0.85 < always.interval.low < 0.93 < always.interval.high == 1


def test_a_difference_is_taken_over_rows_that_have_both() -> None:
    found = difference([1.0, 1.0, np.nan, 0.0], [0.0, np.nan, 1.0, 1.0], [1, 2, 3, 4])
    assert (found.value, found.rows) == (0.0, 2)
    assert difference([np.nan], [1.0], [1]) is None


def test_many_clusters_are_drawn_in_groups_and_tell_the_same() -> None:
    values = np.random.default_rng(1).normal(size=50_000)
    found = mean(values, np.arange(50_000))
    assert found.clusters == 50_000
    width = found.interval.high - found.interval.low
    assert width == pytest.approx(2 * 1.96 / 50_000**0.5, rel=0.08)


def test_an_interval_of_few_changes_holds_that_of_none() -> None:
    changed = np.arange(50) >= 2
    found = difference(np.ones(50), changed, np.arange(50), share=True)
    assert found.value == 0.04
    assert found.interval.low < 0 < 0.13 < found.interval.high


def test_the_thinnest_tail_takes_no_more_than_the_most_clusters_would() -> None:
    assert count_resamples(1e-30, 40) == 250_000
    assert count_resamples(0.0, 2_000) == 5_000


def test_an_end_that_few_clusters_decide_hardly_depends_on_what_is_drawn() -> None:
    values = np.zeros(38)
    values[:4] = [1, 2, 4, 20]
    found = [mean(np.random.default_rng(seed).permutation(values), np.arange(38)) for seed in range(4)]
    ends = [each.interval.high for each in found if each and each.interval]
    assert len(ends) == 4
    assert max(ends) < 1.05 * min(ends)


def test_two_clusters_have_the_interval_of_student() -> None:
    found = mean([1.0, 2.0], ["a", "b"])
    half = t.ppf(0.975, 1) / 2
    assert found.interval == pytest.approx((1.5 - half, 1.5 + half))


def test_no_interval_goes_beyond_what_is_possible() -> None:
    cluster = np.r_[np.zeros(1000), np.arange(1, 15)]
    found = mean(np.r_[np.full(1000, 0.8), np.linspace(0.1, 0.3, 14)], cluster, bounds=(0, 1))
    assert found.interval == (0, 1)


def test_an_interval_of_few_changes_is_put_together_from_those_of_the_rows_above_and_below() -> None:
    """The usual value is one half; three of 40 rows lie at 1, two at 0."""
    values = np.full(40, 0.5)
    values[:3], values[3:5] = 1.0, 0.0
    found = mean(values, np.arange(40), bounds=(0, 1))
    assert found.interval is not None
    up, down = wilson(make_independent(3, 40)), wilson(make_independent(2, 40))
    low = found.value - np.hypot(0.5 * (3 / 40 - up.low), 0.5 * (down.high - 2 / 40))
    high = found.value + np.hypot(0.5 * (up.high - 3 / 40), 0.5 * (2 / 40 - down.low))
    assert found.interval == pytest.approx((low, high))


def test_the_confidence_of_a_difference_is_kept_where_few_rows_differ() -> None:
    values = np.r_[np.ones(2), np.zeros(48)]
    usual, wide = (difference(values, np.zeros(50), np.arange(50), share=True, confidence=c) for c in (0.95, 0.99))
    assert wide.interval.low < usual.interval.low < usual.interval.high < wide.interval.high


@pytest.mark.parametrize(("differing", "few"), [(9, True), (10, False)])
def test_fewer_than_ten_clusters_that_differ_are_few(differing: int, few: bool) -> None:
    values = np.zeros(60)
    values[:differing] = 1
    assert is_nearly_constant(values, np.arange(60)) is few
    # Two rows of a cluster are one cluster.
    assert is_nearly_constant(np.repeat(values, 2), np.repeat(np.arange(60), 2)) is few


def test_the_tail_is_that_of_student_for_the_variance_of_clusters() -> None:
    sums, counts = np.array([0.0, 1.0, 3.0, 4.0, 2.0]), np.ones(5)
    reach = (5 / 4) ** 0.5 * t.ppf(0.975, compute_spread(sums, counts).freedom)
    assert widen_tail(0.95, sums, counts) == pytest.approx(norm.sf(reach))
    assert widen_tail(0.99, sums, counts) < widen_tail(0.95, sums, counts)


def test_ten_resamples_lie_beyond_each_end() -> None:
    assert count_resamples(0.001, 10) == 10_000
    assert count_resamples(0.5, 10) == RESAMPLES


def test_a_share_is_that_of_the_rows_that_count() -> None:
    known = mean([1.0, 0.0, 1.0, 1.0], [1, 2, 3, 4], share=True)
    assert mean([1.0, np.nan, 0.0, 1.0, 1.0], [1, 5, 2, 3, 4], share=True) == known
