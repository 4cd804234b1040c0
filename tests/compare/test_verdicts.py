"""How much more often one model passes, how sure that is, and the one verdict that applies."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.compare.pairs import MCNEMAR, SIGN_FLIPS, compare_pairs, compute_difference, decide, get_rate
from contrapose.tasks.compare.rows import AlignedCases
from contrapose.tasks.core.comparison import Difference, Pair, Verdict
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks

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


def independent_rows(passed: np.ndarray) -> AlignedCases:
    """Return the rows of two models on cases that are not alike."""
    codes = np.arange(passed.shape[1])
    return AlignedCases(passed=passed, asked=np.ones_like(passed, dtype=bool), cluster=codes, ids=codes.astype(str))


@pytest.mark.parametrize(("agree", "count"), [(0.8, 60), (1.0, 20)])
def test_the_cases_that_are_said_to_be_missing_give_a_verdict(agree: float, count: int) -> None:
    rng = np.random.default_rng(5)

    def verdicts(count: int, runs: int) -> list[Pair]:
        first = rng.random((runs, count)) < 0.7
        second = np.where(rng.random((runs, count)) < agree, first, rng.random((runs, count)) < 0.7)
        made = (np.stack([second[run], first[run]]).astype(float) for run in range(runs))
        return [compare_pairs(independent_rows(passed), ["base", "other"], margin=MARGIN)[0] for passed in made]

    few = verdicts(count, 1)[0]
    assert few["verdict"] == "cannot tell"
    needed = re.search(r"About ([\d,]+) more cases are needed", few["reason"])
    assert needed, few["reason"]
    more = verdicts(count + int(needed[1].replace(",", "")), 30)
    assert sum(pair["verdict"] != "cannot tell" for pair in more) >= 15


def answers(first: int, second: int, *, both: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Cases that only the first passed, then those that only the second did, then those that both did."""
    return np.repeat([1.0, 0.0, 1.0], [first, second, both]), np.repeat([0.0, 1.0, 1.0], [first, second, both])


@pytest.mark.parametrize(("first", "second"), [(9, 2), (0, 6), (4, 4), (0, 0)])
def test_independent_cases_have_the_exact_mcnemar_test(first: int, second: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    found = compute_difference(*answers(first, second), np.arange(first + second + 10))
    assert found["method"] == MCNEMAR
    assert found["value"] == pytest.approx((first - second) / (first + second + 10))
    expected = mcnemar([[0, first], [second, 0]], exact=True).pvalue if first + second else 1
    assert found["p"] == pytest.approx(min(1, expected))


def test_sign_flips_of_clusters_of_one_case_are_mcnemars_test() -> None:
    first, second = answers(9, 2)
    shares = compute_difference(first / 2, second / 2, np.arange(21))
    assert shares["method"] == SIGN_FLIPS
    assert shares["p"] == pytest.approx(compute_difference(first, second, np.arange(21))["p"])


def test_a_loss_that_one_look_called_not_worse_too_often_is_not_ruled_out() -> None:
    # 2 lost of 200, where a model that loses 3 points and differs on 3 to 8 % passed in 7.0 %.
    lost = compute_difference(*answers(0, 2, both=198), np.arange(200))
    assert lost["bounds"] is not None
    assert lost["bounds"][0] < -0.03


def test_the_bounds_of_clusters_that_are_copies_are_those_of_fewer_cases() -> None:
    first, second = answers(2, 2, both=96)
    copied = compute_difference(np.repeat(first, 4), np.repeat(second, 4), np.repeat(np.arange(100), 4))
    alone = compute_difference(first, second, np.arange(100))
    assert copied["value"] == alone["value"]
    assert copied["bounds"][0] <= alone["bounds"][0] + 1e-6


def test_clusters_make_a_difference_less_sure() -> None:
    first, second = answers(12, 0)
    alone, together = (
        compute_difference(first, second, np.arange(22)),
        compute_difference(first, second, np.arange(22) // 4),
    )
    assert together["p"] is not None
    assert alone["p"] < 0.001 < together["p"]


@pytest.mark.parametrize("cluster", [np.arange(40), np.arange(40) // 2])
def test_equal_models_are_not_shown_to_be_equal_by_few_cases(cluster: np.ndarray) -> None:
    found = compute_difference(np.ones(40), np.ones(40), cluster)
    assert found["p"] == 1
    assert found["bounds"][0] < -0.03


def test_one_cluster_tells_nothing_where_cases_differ() -> None:
    found = compute_difference(*answers(9, 2), np.zeros(21))
    assert found["p"] is None


def test_the_one_sided_bounds_lie_within_the_interval() -> None:
    found = compute_difference(*answers(14, 11), np.arange(35))
    assert found["interval"] is not None
    low, high = found["interval"]
    assert low < found["bounds"][0] < found["value"] < found["bounds"][1] < high


def test_few_repeats_that_differ_do_not_show_that_a_model_is_not_worse() -> None:
    first = np.ones(30)
    found = compute_difference(first, np.append(first[1:], 1 / 3), np.arange(30))
    assert found["bounds"][0] < -0.05 < 0 < found["value"]


@pytest.mark.parametrize("grouped", [False, True])
def test_of_models_that_were_asked_side_by_side_everything_counts_all_looks(grouped: bool) -> None:
    rng, cases = np.random.default_rng(3), 120
    first, second = ((rng.random(cases) < share).astype(float) for share in (0.85, 0.6))
    cluster, looks = np.arange(cases) // (3 if grouped else 1), Looks(shares=(0.25, 0.5))
    one, several = compute_difference(first, second, cluster), compute_difference(first, second, cluster, looks=looks)
    for name in ("interval", "bounds"):
        narrow, wide = one[name], several[name]  # type: ignore[literal-required]
        assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert one["p"] is not None
    assert several["p"] > one["p"]
    assert compute_difference(first, second, cluster, looks=ONE_LOOK) == one
    rates = [get_rate(first, cluster, looks=own) for own in (ONE_LOOK, looks)]
    assert rates[0] == get_rate(first, cluster)
    intervals = [own["interval"] for own in rates if own and own["interval"]]
    assert intervals[1][0] < intervals[0][0] < intervals[0][1] < intervals[1][1]
    halves = get_rate((first + second) / 2, cluster, looks=looks)
    assert 0 <= halves["interval"][0] < halves["value"] < halves["interval"][1]


def test_a_look_that_hardly_decides_claims_nothing_of_a_difference() -> None:
    first, second = np.ones(20), np.zeros(20)
    early = compute_difference(first, second, np.arange(20), looks=Looks(shares=(1e-4,)))
    assert early["interval"][0] < 0 < early["value"] == early["interval"][1] == 1
