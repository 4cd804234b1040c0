"""Bounds of the difference between two models on the same cases keep their level, alone and in clusters."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import multinomial

from bench.simulated.not_worse import chance_of_claim, claims, draw_clusters, is_not_worse, wins_needed
from bench.simulated.stopping import most
from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.matched import Pairs, bound_difference, effective_pairs, lower_bound, tail, tango_score
from contrapose.tasks.statistics.shares import LEVEL, copies

RUNS = 400
wins_needed_once = cache(wins_needed)


def answers(lost: int, won: int, cases: int) -> tuple[np.ndarray, np.ndarray]:
    """Cases that only the second passed, that only the first passed, and that both did."""
    first = np.r_[np.zeros(lost), np.ones(cases - lost)]
    return first, np.r_[np.ones(lost), np.zeros(won), np.ones(cases - lost - won)]


def test_the_score_is_the_published_one_of_a_pair_of_lens_disinfections() -> None:
    # T. Tango, Statistics in Medicine 17 (1998) 891-908: 43 of 44 with the new method, all with the old; 10 points.
    assert tango_score(1, 0, 44, -0.1) == pytest.approx(1.709, abs=5e-4)


def test_the_score_has_the_published_interval_of_airway_reactivity() -> None:
    # M. W. Fagerland, S. Lydersen, P. Laake, Statistics in Medicine 33 (2014) 2850-2875: Tango's interval.
    low = brentq(lambda gap: tango_score(1, 7, 21, gap) - 1.959964, -0.9, 6 / 21)
    high = brentq(lambda gap: tango_score(1, 7, 21, gap) + 1.959964, 6 / 21, 0.9)
    assert (low, high) == pytest.approx((0.026, 0.517), abs=5e-4)


@pytest.mark.parametrize(("lost", "won", "cases", "gap"), [(1, 2, 14, -0.1), (2, 1, 18, -0.3), (0, 3, 15, 0.05)])
def test_a_tail_is_the_sum_over_all_tables(lost: int, won: int, cases: int, gap: float) -> None:
    score = tango_score(lost, won, cases, gap)
    tables = [(one, two) for one in range(cases + 1) for two in range(cases + 1 - one)]
    extreme = [table for table in tables if tango_score(*table, cases, gap) >= score - 1e-9]
    greatest = max(
        float(
            np.sum(multinomial.pmf([(a, b, cases - a - b) for a, b in extreme], cases, [q, q + gap, 1 - 2 * q - gap]))
        )
        for q in np.linspace(max(0.0, -gap), (1 - gap) / 2, 400)[:-1]
    )
    # At these sizes the interval of the share of lost pairs holds the greatest tail.
    assert tail(Pairs(lost=lost, won=won, pairs=cases), gap, LEVEL) == pytest.approx(greatest + LEVEL / 500, abs=2e-4)


@pytest.mark.parametrize(
    ("cases", "margin"),
    [(50, 0.02), (50, 0.1), (100, 0.05), (100, 0.1), pytest.param(200, 0.03, marks=pytest.mark.slow)],
)
def test_a_loss_of_the_margin_is_called_not_worse_in_at_most_five_percent(cases: int, margin: float) -> None:
    needed = wins_needed_once(cases, margin)
    shares = np.linspace(margin, 0.3, 60)
    errors = [chance_of_claim(needed, cases, (share + margin) / 2, (share - margin) / 2) for share in shares]
    assert 0.02 < max(errors) <= LEVEL


@pytest.mark.parametrize(
    ("cases", "margin", "least"), [(100, 0.05, 0.43), pytest.param(200, 0.05, 0.69, marks=pytest.mark.slow)]
)
def test_equal_models_are_called_not_worse_as_often_as_tangos_score_does(
    cases: int, margin: float, least: float
) -> None:
    assert chance_of_claim(wins_needed_once(cases, margin), cases, 0.05, 0.05) >= least


@settings(max_examples=40, deadline=None)
@given(lost=st.integers(0, 40), won=st.integers(0, 40), cases=st.integers(80, 400))
def test_one_more_win_never_lowers_a_bound(lost: int, won: int, cases: int) -> None:
    low, more = (lower_bound(Pairs(lost=lost, won=own, pairs=cases), LEVEL) for own in (won, won + 1))
    assert low <= more + 1e-4
    assert low <= (won - lost) / cases


def test_bounds_change_sides_with_the_models() -> None:
    first, second = answers(12, 7, 150)
    one, other = bound_difference(first, second, np.arange(150)), bound_difference(second, first, np.arange(150))
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


@pytest.mark.parametrize("rows", [100_000, 1_000_000])
def test_bounds_of_very_many_pairs_are_close_to_the_normal_ones(rows: int) -> None:
    lost, won = rows // 20, rows // 25
    half = 1.6449 * np.sqrt((lost + won) / rows - ((won - lost) / rows) ** 2) / np.sqrt(rows)
    low = lower_bound(Pairs(lost=lost, won=won, pairs=rows), LEVEL)
    assert low == pytest.approx((won - lost) / rows - half, rel=0.02)


CLUSTERS = {
    "equal": np.full(60, 4),
    "unequal": np.random.default_rng(3).integers(1, 9, 145),
    "few and large": np.full(30, 10),
}


@pytest.mark.parametrize("sizes", CLUSTERS.values(), ids=CLUSTERS)
@pytest.mark.parametrize(("alike", "kind"), [(0.0, "copies"), (0.3, "beta"), (0.3, "copies"), (1.0, "copies")])
def test_clusters_are_called_not_worse_at_the_margin_in_about_five_percent(
    sizes: np.ndarray, alike: float, kind: str
) -> None:
    drawn = draw_clusters(sizes, 0.1, 0.12, alike, kind, runs=RUNS)
    assert claims(drawn, sizes, 0.1) <= most(RUNS)


def test_clusters_of_equal_models_are_called_not_worse() -> None:
    drawn = draw_clusters(CLUSTERS["unequal"], 0.0, 0.1, 0.3, "beta", runs=100)
    assert claims(drawn, CLUSTERS["unequal"], 0.1) > 0.9


@pytest.mark.parametrize(("clusters", "margin", "enough"), [(14, 0.5, 15), (28, 0.1, 32), (58, 0.05, 63)])
def test_too_few_clusters_rule_out_no_loss_even_if_nothing_is_lost(clusters: int, margin: float, enough: int) -> None:
    first, cluster = np.ones(10 * clusters), np.repeat(np.arange(clusters), 10)
    bounds = bound_difference(first, first, cluster)
    assert bounds.low < -margin
    more = bound_difference(np.ones(10 * enough), np.ones(10 * enough), np.repeat(np.arange(enough), 10))
    assert more.low >= -margin


def test_one_cluster_has_no_bounds() -> None:
    assert bound_difference(np.ones(9), np.zeros(9), np.zeros(9)) is None


def test_clusters_are_worth_at_most_their_rows_and_copies_at_most_their_clusters() -> None:
    sizes = np.full(40, 5.0)
    alone = effective_pairs(np.r_[np.ones(20), np.zeros(20)], np.r_[np.zeros(20), np.ones(20)], sizes)
    copied = effective_pairs(np.r_[np.full(3, 5.0), np.zeros(37)], np.zeros(40), sizes)
    assert copied.pairs <= copies(sizes) < alone.pairs <= 200


def test_what_is_called_not_worse_has_a_bound_within_the_margin() -> None:
    for lost in range(14):
        pairs = Pairs(lost=lost, won=6.0, pairs=120)
        assert is_not_worse(pairs, 0.05) == (lower_bound(pairs, LEVEL) >= -0.05)


def test_shares_of_repeats_bound_no_worse_than_their_lost_cases_would() -> None:
    first, cluster = np.ones(80), np.arange(80)
    low = [bound_difference(np.r_[first[1:], own], first, cluster) for own in (1.0, 2 / 3, 0.0)]
    none, third, lost = (own.low for own in low if own is not None)
    assert none > third > lost


def test_early_bounds_are_wider_and_those_of_clusters_too() -> None:
    first, second = answers(9, 14, 240)
    at = [bound_difference(first, second, np.arange(240), looks=Looks(shares=shares)) for shares in ((0.9,), (0.2,))]
    grouped = bound_difference(first, second, np.arange(240) % 80, looks=Looks(shares=(0.9,)))
    late, early, clustered = (own for own in (*at, grouped) if own is not None)
    assert early.low < late.low < late.high < early.high
    assert clustered.low < late.low


def test_pairs_that_were_not_both_scored_do_not_count() -> None:
    first, second = answers(3, 4, 60)
    more = (np.r_[values, np.nan] for values in (first, second))
    assert bound_difference(*more, np.arange(61)) == bound_difference(first, second, np.arange(60))
    assert bound_difference([np.nan], [1.0], [0]) is None
