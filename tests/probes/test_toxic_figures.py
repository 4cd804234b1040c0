"""Figures over results of add_toxic_words, held against scipy and statsmodels and counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, wilcoxon

from contrapose.tasks.evaluate.summarise import effects, estimates
from contrapose.tasks.probes.toxic_words import AddToxicWords

PROBE = AddToxicWords()


def rows(counts: list[tuple[int, int]], **more: Any) -> pd.DataFrame:
    """Result rows with these bad words before and after, among ten words each."""
    found = [
        {
            "sample_id": f"s{number}",
            "control": False,
            "repeat": 0,
            "cluster": None,
            "expected_toxic": before,
            "actual_toxic": after,
            "echoed": 0,
            "new": after,
            "reply_kind_before": "answer",
            "reply_kind": "answer",
            "toxic_after": after > 0,
            "expected_rate_per_100": 10.0 * before,
            "actual_rate_per_100": 10.0 * after,
            "added_strong": after - before,
            **more,
        }
        for number, (before, after) in enumerate(counts)
    ]
    columns = list(dict.fromkeys([*(found[0] if found else ()), "sample_id", "cluster", *PROBE.columns]))
    return pd.DataFrame(found, columns=columns)


TWENTY = [(0, 1)] * 6 + [(1, 0)] + [(0, 3)] * 2 + [(2, 2)] * 3 + [(0, 0)] * 8


def test_any_bad_word_is_tested_by_mcnemar() -> None:
    found = PROBE.summarise(rows(TWENTY))
    assert (found["only_before"], found["only_after"]) == (1, 8)
    assert found["mcnemar_p"] == pytest.approx(binomtest(1, 9).pvalue)


def test_rates_are_tested_by_wilcoxon() -> None:
    changes = [10.0] * 6 + [-10.0] + [30.0] * 2
    assert PROBE.summarise(rows(TWENTY))["wilcoxon_p"] == pytest.approx(wilcoxon(changes).pvalue)


def test_shared_clusters_leave_the_intervals_to_tell() -> None:
    results = rows(TWENTY)
    results["cluster"] = ["page"] * 2 + [None] * 18
    found = PROBE.summarise(results)
    assert (found["mcnemar_p"], found["wilcoxon_p"], found["only_after"]) == (None, None, 8)


def test_a_cluster_of_ones_own_is_independent() -> None:
    results = rows(TWENTY)
    results["cluster"] = [f"page {number}" for number in range(20)]
    assert PROBE.summarise(results) == PROBE.summarise(rows(TWENTY))


def test_of_repeats_the_first_counts() -> None:
    again = rows([(5, 0)] * 20, repeat=1)
    both = PROBE.summarise(pd.concat([again, rows(TWENTY)]).sample(frac=1, random_state=1))
    assert {**both, "new": 0} == {**PROBE.summarise(rows(TWENTY)), "new": 0}


def test_rates_that_nowhere_differ_are_not_ranked() -> None:
    found = PROBE.summarise(rows([(1, 1)] * 5))
    assert (found["mcnemar_p"], found["wilcoxon_p"]) == (1.0, None)


def test_an_empty_reply_has_no_rate_to_compare() -> None:
    results = rows(TWENTY)
    results.loc[:7, "actual_rate_per_100"] = np.nan
    assert PROBE.summarise(results)["wilcoxon_p"] == pytest.approx(wilcoxon([30.0]).pvalue)


def test_every_mean_has_an_interval_and_tiers_are_told_apart() -> None:
    results = rows(TWENTY)
    found = estimates(PROBE.measures(results), results)
    assert found["change_in_share_with_bad_words"]["value"] == pytest.approx(7 / 20)
    assert found["change_in_mean_rate"]["value"] == pytest.approx(110 / 20)
    assert found["mean_added_strong"]["value"] == pytest.approx(11 / 20)
    assert found["mean_added_strong"]["interval"] is not None
    assert "mean_added_slur" not in found
    assert "mean_classifier_change" not in found


def test_a_share_that_never_changed_has_an_interval_too() -> None:
    results = rows([(0, 0)] * 40)
    found = estimates(PROBE.measures(results), results)["change_in_share_with_bad_words"]
    assert found["interval"] == pytest.approx((-0.0876, 0.0876), abs=1e-4)


def test_new_words_are_held_against_those_under_the_control() -> None:
    results = pd.concat([rows([(0, 2), (0, 1)]), rows([(0, 1), (0, 1)], control=True)], ignore_index=True)
    found = {each["name"]: each["value"] for each in effects(PROBE.measures(results), results)}
    assert found == {"net_toxicity": 0.5, "net_new": 0.5}
