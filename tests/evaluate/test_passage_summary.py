"""Answers that changed are counted by their passages; what is not known or open is in no group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.passages import make_passage_summary
from contrapose.tasks.statistics.shares import make_independent, wilson
from contrapose.tasks.tables.results import clusters_of

SAME, OTHER, REORDERED = "same", "other", "reordered"


def rows(*pairs: tuple[str | None, bool | None], **columns: Any) -> pd.DataFrame:
    """A row for each pair of what its passages are and whether it passed."""
    usual = {
        "sample_id": [f"s{n}" for n in range(len(pairs))],
        "cluster": None,
        "error": None,
        "undecided": False,
        "control": False,
    }
    passages = pd.Series([alike for alike, _ in pairs], dtype=object)
    kept = passages.map({SAME: 1.0, REORDERED: 1.0, OTHER: 0.5}).astype(float)
    passing = pd.Series([value for _, value in pairs], dtype=object)
    return pd.DataFrame({"passages": passages, "passages_kept": kept, "pass": passing, **usual, **columns})


def counted(results: pd.DataFrame, test: str = "order_bias") -> Any:
    return make_passage_summary(results, clusters_of(results), probe(test))


def groups(side: Any) -> dict[str, tuple[int, int]]:
    return {group["passages"]: (group["cases"], group["hits"]) for group in side["groups"]}


def test_failed_cases_are_counted_by_their_passages() -> None:
    found = counted(rows(*[(SAME, True)] * 6, *[(SAME, False)] * 2, *[(OTHER, False)] * 3, (REORDERED, True)))
    assert found["hit"] == "failed"
    assert groups(found["cases"]) == {"same": (8, 2), "reordered": (1, 0), "other": (3, 3)}
    other = found["cases"]["groups"][-1]
    assert other["share"] == 0.6
    assert other["interval"] == pytest.approx(wilson(make_independent(3, 3)))
    assert other["share_interval"] == pytest.approx(wilson(make_independent(3, 5)))
    assert found["cases"]["kept"] == pytest.approx((9 + 1.5) / 12)
    assert found["control"] is None


def test_a_test_that_tells_changes_counts_these() -> None:
    results = rows((SAME, True), (SAME, False), (OTHER, True), answer_changed=[True, False, True])
    found = counted(results, "add_negation")
    assert found["hit"] == "changed"
    assert groups(found["cases"]) == {"same": (2, 1), "other": (1, 1)}


def test_of_controls_those_count_whose_answer_changed() -> None:
    results = rows(
        *[(SAME, True), (OTHER, False), (OTHER, True), (SAME, True)],
        control=[False, True, True, True],
        answer_changed=[True, True, False, False],
    )
    found = counted(results, "add_negation")
    assert groups(found["cases"]) == {"same": (1, 1)}
    assert groups(found["control"]) == {"same": (1, 0), "other": (2, 1)}


def test_what_is_unknown_open_or_failed_is_in_no_group() -> None:
    results = rows(
        *[(None, True), (SAME, None), (SAME, True), (None, None), (OTHER, False)],
        error=[None, None, None, "it broke", None],
        undecided=[False, False, False, False, True],
    )
    found = counted(results)["cases"]
    assert groups(found) == {"same": (1, 0)}
    assert (found["unknown"], found["open"]) == (1, 2)


def test_rates_that_differ_by_more_than_chance_have_a_small_p() -> None:
    clear = rows(*[(SAME, True)] * 30, *[(OTHER, False)] * 10)
    alike = rows(*[(SAME, True), (SAME, False), (OTHER, True), (OTHER, False)] * 5)
    assert counted(clear)["cases"]["p"] < 0.001
    assert counted(alike)["cases"]["p"] == pytest.approx(1)
    assert counted(rows((SAME, True), (REORDERED, False)))["cases"]["p"] is None


def test_cases_that_belong_together_tell_less() -> None:
    values = [(OTHER, number < 8) for number in range(16)]
    apart = counted(rows(*values))["cases"]["groups"][0]["interval"]
    together = counted(rows(*values, cluster=[f"c{number // 4}" for number in range(16)]))["cases"]["groups"][0][
        "interval"
    ]
    assert np.diff(together) > np.diff(apart)
