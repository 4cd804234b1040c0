"""Runs into a comparison: ranks, ties, what was not scored for both, and the verdict on all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from finished import SETTINGS, rows_from, write_run

from contrapose.tasks.compare.compare import compare
from contrapose.tasks.core.comparison import Comparison
from contrapose.tasks.core.errors import ConfigError

GOOD, SAME, BAD = [True] * 90 + [False] * 10, [False] * 5 + [True] * 90 + [False] * 5, [True] * 40 + [False] * 60


@pytest.fixture
def three(tmp_path: Path) -> Comparison:
    """A good model, one that cannot be told apart from it, and a bad one; the bad one is the baseline."""
    outcomes = {"good": GOOD, "same": SAME, "bad": BAD}
    folders = [
        str(write_run(tmp_path / name, rows_from(passed), model=f"openai/{name}")) for name, passed in outcomes.items()
    ]
    return compare(folders, baseline=folders[2])


def test_models_that_cannot_be_told_apart_share_a_rank(three: Comparison) -> None:
    ranks = {each["name"]: each["rank"] for each in three["tests"][0]["standings"]}
    assert ranks == {"openai/good": 1, "openai/same": 1, "openai/bad": 3}
    assert [(place["rank"], place["mean_rank"]) for place in three["leaderboard"]] == [(1, 1), (1, 1), (3, 3)]


def test_every_pair_is_tested_and_corrected_for_and_those_with_the_baseline_are_judged(three: Comparison) -> None:
    pairs = three["tests"][0]["pairs"]
    assert [(pair["first"], pair["second"], pair["verdict"]) for pair in pairs] == [
        ("openai/good", "openai/bad", "better"),
        ("openai/same", "openai/bad", "better"),
        ("openai/same", "openai/good", None),
    ]
    assert (three["baseline"], three["verdict"]) == ("openai/bad", "better")
    found: Any = [pair["difference"] for pair in pairs]
    raw, adjusted = (sorted(each[name] for each in found) for name in ("p", "adjusted"))
    assert adjusted[0] == pytest.approx(3 * raw[0])
    assert adjusted[2] == raw[2]


def test_the_worst_verdict_is_that_of_the_comparison(tmp_path: Path) -> None:
    outcomes = {"good": GOOD, "same": SAME, "bad": BAD}
    folders = [str(write_run(tmp_path / name, rows_from(passed), model=name)) for name, passed in outcomes.items()]
    found = compare(folders)
    assert found["verdict"] == "worse"
    assert found["reason"] == "bad is worse than good in order_bias."


def test_cases_that_one_run_alone_scored_are_counted_with_what_they_could_change(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", rows_from([True, True, None, None]))
    two = write_run(tmp_path / "two", rows_from([True, None, True, None]))
    pair = compare([str(one), str(two)])["tests"][0]["pairs"][0]
    assert (pair["cases"], pair["only_first"], pair["only_second"], pair["neither"]) == (1, 1, 1, 1)
    assert pair["extremes"] == (-0.5, 0.5)
    assert pair["verdict"] == "cannot tell"


def test_runs_in_which_nothing_was_scored_for_both_are_told_as_such(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", rows_from([True, None]))
    two = write_run(tmp_path / "two", rows_from([None, True]))
    test = compare([str(one), str(two)])["tests"][0]
    assert test["pairs"][0]["difference"] is None
    assert [each["rate"] for each in test["standings"]] == [None, None]


def test_what_is_incomplete_or_left_out_is_warned_of(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", rows_from([True]))
    two = write_run(tmp_path / "two", rows_from([True]), verdict="incomplete")
    assert compare([str(one), str(two)])["warnings"] == ["two is incomplete."]


def test_a_test_that_some_runs_lack_is_warned_of_once(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / name, rows_from([True])) for name in ("one", "two", "three")]
    for folder in folders[:2]:
        summary, manifest = (json.loads((folder / name).read_text()) for name in ("summary.json", "manifest.json"))
        summary["tests"].append({**summary["tests"][0], "test_type": "option_order"})
        manifest["config"]["tests"]["factuality"]["option_order"] = {}
        (folder / "summary.json").write_text(json.dumps(summary))
        (folder / "manifest.json").write_text(json.dumps(manifest))
    assert compare(list(map(str, folders)))["warnings"] == ["option_order is not compared: it is not in three."]


def test_thresholds_that_each_model_sets_for_itself_are_warned_of(tmp_path: Path) -> None:
    settings = {"settings": {**SETTINGS, "threshold": "auto"}}
    folders = [str(write_run(tmp_path / name, rows_from([True]), outcome=settings)) for name in ("one", "two")]
    assert compare(folders)["warnings"] == ["order_bias: each model's threshold comes from its own controls."]


def test_a_model_is_ranked_behind_none_that_it_shares_too_few_cases_with(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", rows_from([True] * 30 + [None] * 70), model="one")
    two = write_run(tmp_path / "two", rows_from([False] * 30 + [True] * 70), model="two")
    test = compare([str(one), str(two)])["tests"][0]
    assert test["pairs"][0]["verdict"] == "cannot tell"
    assert [each["rank"] for each in test["standings"]] == [1, 1]


@pytest.mark.parametrize("wrong", [{"margin": -0.1}, {"margin": 1}, {"margin": float("nan")}, {"baseline": "three"}])
def test_a_margin_that_is_no_share_and_a_baseline_that_is_no_run_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        compare(["one", "two"], **wrong)


def test_a_baseline_may_be_named_by_folder_or_by_id(tmp_path: Path) -> None:
    folders = [str(write_run(tmp_path / name, rows_from([True]), model=name)) for name in ("one", "two")]
    for baseline in ("two", f"{folders[1]}/", f"{tmp_path}/one/../two"):
        assert compare(folders, runs=str(tmp_path), baseline=baseline)["baseline"] == "two"
