"""Figures and effects: which rows belong together, and what controls may not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from contrapose.tasks.evaluate.estimates import clusters_of, effects, estimates
from contrapose.tasks.evaluate.summarise import slices
from contrapose.tasks.probes.base import Measure


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
    (found,) = estimates([Measure(name="x", values=np.array([1.0, 0.0, 0.0, 0.0]), share=True)], results).values()
    assert (found["value"], found["rows"]) == (0.5, 2)


def test_an_effect_is_the_mean_over_samples_of_their_own_differences() -> None:
    results = rows(5, sample_id=["a", "a", "a", "b", "c"], control=[False, False, True, False, True])
    measure = Measure(name="x", values=np.array([1.0, 0.0, 0.0, 1.0, 1.0]), share=True, net="net")
    (found,) = effects([measure], results)
    assert (found["value"], found["case"], found["control"], found["samples"]) == (0.5, 0.5, 0.0, 1)


def test_what_lies_between_zero_and_one_has_an_effect_with_an_interval_where_nothing_differs() -> None:
    results = rows(80, sample_id=[f"s{number // 2}" for number in range(80)], control=[False, True] * 40)
    (found,) = effects([Measure(name="x", values=np.zeros(80), bounds=(0, 1), net="net")], results)
    assert found["interval"] is not None
    assert -0.1 < found["interval"][0] < 0 < found["interval"][1] < 0.1


def test_a_slice_is_compared_with_all_other_scored_rows() -> None:
    results = rows(6, slice=["a", "a", "b", None, "c", "b"], error=[None] * 5 + ["it broke"])
    results["pass"] = [True, False, True, False, None, True]
    found = {each["name"]: each for each in slices(results)}
    assert [(name, each["passed"], each["scored"]) for name, each in found.items()] == [
        ("a", 1, 2),
        ("b", 1, 1),
        ("c", 0, 0),
    ]
    assert found["a"]["p"] == pytest.approx(1)
    assert (found["c"]["p"], found["c"]["interval"], found["c"]["pass_rate"]) == (None, None, None)


def test_one_slice_alone_is_compared_with_nothing() -> None:
    (found,) = slices(rows(3, slice="a"))
    assert (found["scored"], found["p"]) == (3, None)
    assert slices(rows(3)) == []
