"""Figures and effects: which rows belong together, and what controls may not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from contrapose.tasks.evaluate.summarise import compute_rates_by, estimate_measures, find_effects
from contrapose.tasks.probes.base import Measure
from contrapose.tasks.tables.results import clusters_of


def rows(count: int, **columns: Any) -> pd.DataFrame:
    plain = {"control": False, "cluster": None, "slice": None, "pass": True, "error": None}
    return pd.DataFrame({"sample_id": [f"s{number}" for number in range(count)], **plain, **columns})


def test_a_cluster_is_not_the_sample_of_the_same_name() -> None:
    found = clusters_of(rows(4, cluster=["s3", "s3", None, None]))
    assert len(set(found)) == 3
    assert found[0] == found[1]


def test_a_sample_without_a_cluster_is_one() -> None:
    found = clusters_of(rows(3, sample_id=["a", "a", "b"]))
    assert found[0] == found[1] != found[2]


def test_controls_enter_no_figure() -> None:
    results = rows(4, control=[False, False, True, True])
    (found,) = estimate_measures(
        [Measure(name="x", values=np.array([1.0, 0.0, 0.0, 0.0]), share=True)], results
    ).values()
    assert (found["value"], found["rows"]) == (0.5, 2)


def test_an_effect_is_the_mean_over_samples_of_their_own_differences() -> None:
    results = rows(5, sample_id=["a", "a", "a", "b", "c"], control=[False, False, True, False, True])
    measure = Measure(name="x", values=np.array([1.0, 0.0, 0.0, 1.0, 1.0]), share=True, net="net")
    (found,) = find_effects([measure], results)
    assert (found["value"], found["case"], found["control"], found["samples"]) == (0.5, 0.5, 0.0, 1)


def test_what_lies_between_zero_and_one_has_an_effect_with_an_interval_where_nothing_differs() -> None:
    results = rows(80, sample_id=[f"s{number // 2}" for number in range(80)], control=[False, True] * 40)
    (found,) = find_effects([Measure(name="x", values=np.zeros(80), bounds=(0, 1), net="net")], results)
    assert -0.1 < found["interval"][0] < 0 < found["interval"][1] < 0.1


def test_a_slice_is_compared_with_all_other_scored_rows() -> None:
    results = rows(6, slice=["a", "a", "b", None, "c", "b"], error=[None] * 5 + ["it broke"])
    results["pass"] = [True, False, True, False, None, True]
    found = {each["name"]: each for each in compute_rates_by(results, "slice")}
    assert [(name, each["passed"], each["scored"]) for name, each in found.items()] == [
        ("a", 1, 2),
        ("b", 1, 1),
        ("c", 0, 0),
    ]
    assert found["a"]["p"] == pytest.approx(1)
    assert (found["c"]["p"], found["c"]["interval"], found["c"]["pass_rate"]) == (None, None, None)


def test_one_slice_alone_is_compared_with_nothing() -> None:
    (found,) = compute_rates_by(rows(3, slice="a"), "slice")
    assert (found["scored"], found["p"]) == (3, None)
    assert compute_rates_by(rows(3), "slice") == []


def test_an_effect_without_pairs_or_controls_is_left_out() -> None:
    measure = Measure(name="x", values=np.array([1.0, 0.0]), share=True, net="net")
    assert find_effects([measure], rows(2)) == []
    assert find_effects([measure], rows(2, control=[False, True])) == []


def test_only_what_asks_for_an_effect_has_one_and_it_has_its_name() -> None:
    results = rows(4, sample_id=["a", "a", "b", "b"], control=[False, True] * 2)
    values = np.array([1.0, 0.0, 1.0, 1.0])
    wanted = Measure(name="changed", values=values, share=True, net="net change")
    (found,) = find_effects([Measure(name="other", values=values, share=True), wanted], results)
    assert (found["name"], found["measure"], found["case"], found["control"]) == ("net change", "changed", 1.0, 0.5)
    assert (found["value"], found["samples"], found["clusters"]) == (0.5, 2, 2)


def test_samples_of_one_cluster_are_one_in_an_effect_too() -> None:
    results = rows(6, sample_id=list("aabbcc"), control=[False, True] * 3, cluster=["x"] * 4 + ["y"] * 2)
    measure = Measure(name="x", values=np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0]), share=True, net="net")
    (found,) = find_effects([measure], results)
    assert (found["samples"], found["clusters"]) == (3, 2)


def test_an_effect_between_other_bounds_may_lie_anywhere() -> None:
    results = rows(80, sample_id=[f"s{number // 2}" for number in range(80)], control=[False, True] * 40)
    for bounds in (None, (0, 10)):
        (found,) = find_effects([Measure(name="x", values=np.ones(80), bounds=bounds, net="net")], results)
        assert (found["value"], found["interval"]) == (0.0, None)


def test_a_figure_that_no_case_has_is_left_out() -> None:
    measures = [
        Measure(name="none", values=np.array([np.nan, np.nan])),
        Measure(name="one", values=np.array([np.nan, 3.0])),
    ]
    found = estimate_measures(measures, rows(2))
    assert list(found) == ["one"]
    assert (found["one"]["value"], found["one"]["rows"], found["one"]["clusters"]) == (3.0, 1, 1)


def test_a_figure_has_the_bounds_of_its_measure() -> None:
    values = np.array([0.25] * 20)
    found = estimate_measures(
        [Measure(name="bounded", values=values, bounds=(0, 1)), Measure(name="free", values=values)], rows(20)
    )
    interval = found["bounded"]["interval"]
    assert 0 <= interval[0] < 0.25 < interval[1] <= 1
    assert found["free"]["interval"] is None
