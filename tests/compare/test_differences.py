"""How much more often one model passes, and how sure that is."""

from __future__ import annotations

import numpy as np
import pytest

from contrapose.tasks.compare.pairs import MCNEMAR, SIGN_FLIPS, difference_between, rate
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks


def answers(first: int, second: int, *, both: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Cases that only the first passed, then those that only the second did, then those that both did."""
    return np.repeat([1.0, 0.0, 1.0], [first, second, both]), np.repeat([0.0, 1.0, 1.0], [first, second, both])


@pytest.mark.parametrize(("first", "second"), [(9, 2), (0, 6), (4, 4), (0, 0)])
def test_independent_cases_have_the_exact_mcnemar_test(first: int, second: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    found = difference_between(*answers(first, second), np.arange(first + second + 10))
    assert found["method"] == MCNEMAR
    assert found["value"] == pytest.approx((first - second) / (first + second + 10))
    expected = mcnemar([[0, first], [second, 0]], exact=True).pvalue if first + second else 1
    assert found["p"] == pytest.approx(min(1, expected))


def test_sign_flips_of_clusters_of_one_case_are_mcnemars_test() -> None:
    first, second = answers(9, 2)
    shares = difference_between(first / 2, second / 2, np.arange(21))
    assert shares["method"] == SIGN_FLIPS
    assert shares["p"] == pytest.approx(difference_between(first, second, np.arange(21))["p"])


def test_a_loss_that_one_look_called_not_worse_too_often_is_not_ruled_out() -> None:
    # 2 lost of 200, where a model that loses 3 points and differs on 3 to 8 % passed in 7.0 %.
    lost = difference_between(*answers(0, 2, both=198), np.arange(200))
    assert lost["bounds"] is not None
    assert lost["bounds"][0] < -0.03


def test_the_bounds_of_clusters_that_are_copies_are_those_of_fewer_cases() -> None:
    first, second = answers(2, 2, both=96)
    copied = difference_between(np.repeat(first, 4), np.repeat(second, 4), np.repeat(np.arange(100), 4))
    alone = difference_between(first, second, np.arange(100))
    assert copied["value"] == alone["value"]
    assert copied["bounds"][0] <= alone["bounds"][0] + 1e-6


def test_clusters_make_a_difference_less_sure() -> None:
    first, second = answers(12, 0)
    alone, together = (
        difference_between(first, second, np.arange(22)),
        difference_between(first, second, np.arange(22) // 4),
    )
    assert together["p"] is not None
    assert alone["p"] < 0.001 < together["p"]


@pytest.mark.parametrize("cluster", [np.arange(40), np.arange(40) // 2])
def test_equal_models_are_not_shown_to_be_equal_by_few_cases(cluster: np.ndarray) -> None:
    found = difference_between(np.ones(40), np.ones(40), cluster)
    assert found["p"] == 1
    assert found["bounds"][0] < -0.03


def test_one_cluster_tells_nothing_where_cases_differ() -> None:
    found = difference_between(*answers(9, 2), np.zeros(21))
    assert found["p"] is None


def test_the_one_sided_bounds_lie_within_the_interval() -> None:
    found = difference_between(*answers(14, 11), np.arange(35))
    assert found["interval"] is not None
    low, high = found["interval"]
    assert low < found["bounds"][0] < found["value"] < found["bounds"][1] < high


def test_few_repeats_that_differ_do_not_show_that_a_model_is_not_worse() -> None:
    first = np.ones(30)
    found = difference_between(first, np.append(first[1:], 1 / 3), np.arange(30))
    assert found["bounds"][0] < -0.05 < 0 < found["value"]


@pytest.mark.parametrize("grouped", [False, True])
def test_of_models_that_were_asked_side_by_side_everything_counts_all_looks(grouped: bool) -> None:
    rng, cases = np.random.default_rng(3), 120
    first, second = ((rng.random(cases) < share).astype(float) for share in (0.85, 0.6))
    cluster, looks = np.arange(cases) // (3 if grouped else 1), Looks(shares=(0.25, 0.5))
    one, several = difference_between(first, second, cluster), difference_between(first, second, cluster, looks=looks)
    for name in ("interval", "bounds"):
        narrow, wide = one[name], several[name]  # type: ignore[literal-required]
        assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert one["p"] is not None
    assert several["p"] > one["p"]
    assert difference_between(first, second, cluster, looks=ONE_LOOK) == one
    rates = [rate(first, cluster, looks=own) for own in (ONE_LOOK, looks)]
    assert rates[0] == rate(first, cluster)
    intervals = [own["interval"] for own in rates if own and own["interval"]]
    assert intervals[1][0] < intervals[0][0] < intervals[0][1] < intervals[1][1]
    halves = rate((first + second) / 2, cluster, looks=looks)
    assert 0 <= halves["interval"][0] < halves["value"] < halves["interval"][1]


def test_a_look_that_hardly_decides_claims_nothing_of_a_difference() -> None:
    first, second = np.ones(20), np.zeros(20)
    early = difference_between(first, second, np.arange(20), looks=Looks(shares=(1e-4,)))
    assert early["interval"][0] < 0 < early["value"] == early["interval"][1] == 1
