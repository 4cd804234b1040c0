"""What a number of cases can tell: promised rates are decided with 80 % power, by the gate's own evidence."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom

from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.statistics.power import (
    Reach,
    count_further_rows,
    detectable,
    find_cases,
    find_least,
    find_pairs,
    find_reach,
    worth,
)
from contrapose.tasks.statistics.shares import LEVEL, Share, clustered_share, evidence, make_independent


def chance_of(side: str, rate: float, *, cases: int, gate: float, level: float) -> float:
    """Over all counts: how often a true rate is decided."""
    counts = range(cases + 1)
    found = [getattr(evidence(make_independent(true, cases), gate), side) <= level for true in counts]
    return float(sum(binom.pmf(true, cases, rate) for true in counts if found[true]))


@pytest.mark.parametrize(("cases", "gate"), [(40, 0.65), (99, 0.8), (100, 0.8), (373, 0.65)])
@pytest.mark.parametrize("level", [0.05, 0.0125])
def test_the_promised_rates_are_decided_with_80_percent_power(cases: int, gate: float, level: float) -> None:
    found = find_reach(cases, gate, level=level)
    assert found.passes_from is not None
    assert found.fails_up_to is not None
    assert chance_of("reached", found.passes_from, cases=cases, gate=gate, level=level) == pytest.approx(0.8, abs=1e-6)
    assert chance_of("missed", found.fails_up_to, cases=cases, gate=gate, level=level) == pytest.approx(0.8, abs=1e-6)


def test_too_few_cases_let_no_result_pass() -> None:
    # All of 58 at a true rate of 0.95 have a probability of 0.051, all of 59 one of 0.048.
    assert find_reach(58, 0.95, level=0.05).passes_from is None
    assert find_reach(59, 0.95, level=0.05).passes_from is not None


def test_the_least_cases_that_pass_all_pass() -> None:
    assert 0.95 ** find_least(0.95, level=0.05) == pytest.approx(0.05)
    assert find_least(0.0, level=0.05) == 0


def test_no_number_of_cases_shows_that_every_case_passes() -> None:
    assert find_reach(1000, 1.0, level=0.05).passes_from is None
    assert find_cases(1.0, level=0.05, undecided=0.2) is None


def test_a_gate_of_zero_is_never_missed() -> None:
    found = find_reach(50, 0.0, level=0.05)
    assert (found.passes_from, found.fails_up_to) == (0.0, None)


@pytest.mark.parametrize("gate", [0.65, 0.95])
def test_the_cases_that_are_called_for_are_enough(gate: float) -> None:
    cases = find_cases(gate, level=0.05, undecided=0.2)
    assert cases is not None
    found = find_reach(cases, gate, level=0.05)
    assert found.passes_from is not None
    assert found.undecided <= 0.2


@pytest.mark.parametrize(
    ("true", "rows", "gate"), [(70, 100, 0.65), (9, 10, 0.65), (60, 100, 0.65), (39, 40, 0.95), (30, 40, 0.8)]
)
@pytest.mark.parametrize("level", [0.05, 0.0125])
def test_further_cases_decide_with_80_percent_power(true: int, rows: int, gate: float, level: float) -> None:
    more = count_further_rows(make_independent(true, rows), gate, level=level)
    assert more is not None
    side = "reached" if true / rows > gate else "missed"
    won = [
        new
        for new in range(more + 1)
        if getattr(evidence(make_independent(true + new, rows + more), gate), side) <= level
    ]
    chance = sum(binom.pmf(won, more, true / rows))
    assert 0.795 <= chance <= 0.9


@pytest.mark.parametrize(("true", "rows", "gate"), [(70, 100, 0.65), (9, 10, 0.65), (60, 100, 0.65), (30, 40, 0.8)])
@pytest.mark.parametrize("looks", [ONE_LOOK, Looks(earlier=(0.5,)), Looks(earlier=(0.3, 0.6))])
def test_further_cases_keep_their_promise_at_a_later_look(true: int, rows: int, gate: float, looks: Looks) -> None:
    more = count_further_rows(make_independent(true, rows), gate, looks=looks)
    assert more > (count_further_rows(make_independent(true, rows), gate) or 0)
    level = looks.after((rows + more) / rows).level(LEVEL)
    side = "reached" if true / rows > gate else "missed"
    won = [
        new
        for new in range(more + 1)
        if getattr(evidence(make_independent(true + new, rows + more), gate), side) <= level
    ]
    assert 0.79 <= sum(binom.pmf(won, more, true / rows)) <= 0.9


def test_what_one_look_would_decide_needs_further_cases_at_a_later_look() -> None:
    share = make_independent(74, 100)
    assert count_further_rows(share, 0.65) == 0
    assert (count_further_rows(share, 0.65, looks=Looks(earlier=(0.5,))) or 0) > 0


def test_copies_need_as_many_copies_more() -> None:
    copied = Share(true=140, rows=200, clusters=100, effective=100.0)
    assert count_further_rows(copied, 0.65) == pytest.approx(
        2 * (count_further_rows(make_independent(70, 100), 0.65) or 0), rel=0.1
    )


def test_further_clusters_are_like_those_so_far() -> None:
    # All of 20 clusters of 5; 0.9^29 is the first power under 0.05, and 29 clusters have 145 rows.
    share = clustered_share(np.ones(100, dtype=bool), np.repeat(np.arange(20), 5))
    assert count_further_rows(share, 0.9) == pytest.approx(45, abs=5)


@pytest.mark.parametrize(
    ("samples", "clusters", "cases"),
    [
        pytest.param([1] * 40, [1] * 40, 40, id="independent cases count in full"),
        pytest.param([3] * 10_000, [3] * 10_000, 30_000 / (1 + 0.5 * 2), id="repeats of a sample are half as related"),
        pytest.param(
            [1] * 50_000, [5] * 10_000, 50_000 / (1 + 0.1 * 4), id="samples of a cluster are a little related"
        ),
        pytest.param([1] * 100, [100], 1, id="one cluster counts as one case"),
        pytest.param([50, 50], [50, 50], 1, id="few large clusters count as one case, and no less"),
    ],
)
def test_worth_of_related_cases(samples: list[int], clusters: list[int], cases: float) -> None:
    assert worth(samples, clusters) == pytest.approx(cases, rel=1e-3)


def test_the_detectable_difference_nears_connors_formula() -> None:
    pairs = 5000
    difference = detectable(pairs)
    assert difference is not None
    high, power = NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(0.8)
    connor = (high * 0.2**0.5 + power * (0.2 - difference**2) ** 0.5) ** 2 / difference**2
    assert connor == pytest.approx(pairs, rel=0.05)


def test_few_pairs_detect_nothing() -> None:
    assert detectable(20) is None


def test_more_pairs_detect_smaller_differences() -> None:
    found = [detectable(pairs) for pairs in (60, 600, 1_000_000)]
    assert None not in found
    assert found == sorted(found, key=lambda each: -(each or 0))


@pytest.mark.parametrize(
    ("fails_up_to", "passes_from", "undecided"), [(None, None, 1.0), (0.25, None, 0.75), (None, 0.75, 0.75)]
)
def test_where_no_result_decides_the_rates_beside_it_stay_open(
    fails_up_to: float | None, passes_from: float | None, undecided: float
) -> None:
    assert Reach(fails_up_to=fails_up_to, passes_from=passes_from).undecided == undecided


def test_where_nothing_but_no_case_at_all_fails_that_is_a_failure() -> None:
    # 0 of 5 at a true rate of one half: 1/32; 1 of 5: 6/32.
    assert find_reach(5, 0.5, level=0.05).fails_up_to == pytest.approx(1 - 0.8 ** (1 / 5))
    assert find_reach(4, 0.5, level=0.05).fails_up_to is None


def test_where_nothing_but_every_case_passes_that_is_a_pass() -> None:
    assert find_reach(5, 0.5, level=0.05).passes_from == pytest.approx(0.8 ** (1 / 5))


def test_cases_that_are_worth_less_where_all_agree_decide_less() -> None:
    assert find_reach(59, 0.95, level=0.05, agreeing=58.0).passes_from is None
    assert find_reach(59, 0.95, level=0.05, agreeing=59.0) == find_reach(59, 0.95, level=0.05)


def test_what_bounds_the_evidence_grows_without_luck() -> None:
    bound = Share(true=75, rows=100, clusters=10, effective=20.0)
    share = replace(make_independent(90, 100), better=(bound,))
    more = count_further_rows(share, 0.65)
    assert more is not None

    def reached(rows: int) -> float:
        grown = Share(true=round(0.75 * rows), rows=rows, clusters=10, effective=rows / 5)
        return evidence(grown, 0.65).reached

    assert reached(100 + more) <= 0.05 < reached(100 + more - 20)


def test_what_is_decided_needs_nothing_further() -> None:
    assert count_further_rows(make_independent(90, 100), 0.65) == 0
    assert count_further_rows(make_independent(65, 100), 0.65) is None


def test_a_p_value_of_exactly_the_level_decides() -> None:
    """One case of one, or none, has a p value of one half at a gate of one half."""
    found = find_reach(1, 0.5, level=0.5)
    assert (found.fails_up_to, found.passes_from) == (pytest.approx(0.2), pytest.approx(0.8))


@pytest.mark.parametrize("difference", [0.02, 0.05, 0.1, 0.15, 0.2])
def test_so_many_pairs_find_a_difference_and_fewer_do_not(difference: float) -> None:
    pairs = find_pairs(difference)
    assert pairs is not None
    assert (detectable(pairs) or 1) <= difference + 1e-4
    # The power of an exact test goes up and down a little from one number of pairs to the next.
    assert (detectable(round(0.9 * pairs)) or 1) > difference


@pytest.mark.parametrize("difference", [0.0, -0.1, 0.21])
def test_what_cannot_differ_so_much_is_found_on_no_number_of_pairs(difference: float) -> None:
    assert find_pairs(difference) is None
