"""Runs into a comparison: those that did not ask the same are refused; ranks, ties, and the verdict on all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from finished import SETTINGS, Row, rows_from, run_of, write_run

from contrapose.tasks.compare.compare import compare
from contrapose.tasks.compare.runs import refuse_unlike
from contrapose.tasks.core.comparison import Comparison
from contrapose.tasks.core.errors import ComparisonError, ConfigError

DATA = {"source": "summary_pairs", "sha256": "abc", "rows": 2}

UNLIKE: dict[str, tuple[dict[str, Any], str, str]] = {
    "seed": ({"config": {"seed": 7}}, "0", "7"),
    "limit": ({"config": {"limit": 2}}, "None", "2"),
    "gen_kwargs.max_new_tokens": ({"config": {"gen_kwargs": {"max_new_tokens": 8}}}, "32", "8"),
    "repeats": ({"config": {"repeats": 3}}, "1", "3"),
    "system_instruction": ({"config": {"system_instruction": "Be brief."}}, "None", "'Be brief.'"),
    "few_shot": (
        {"config": {"few_shot": [{"user": "x", "assistant": "y"}]}},
        "[]",
        "[{'user': 'x', 'assistant': 'y'}]",
    ),
    "reader": ({"config": {"reader": "mock"}}, "None", "'mock'"),
    "data": ({"outcome": {"data": {**DATA, "sha256": "def"}}}, "'abc'", "'def'"),
    "data.cluster_by": (
        {"config": {"data": {"source": "summary_pairs", "cluster_by": "article"}}},
        "None",
        "'article'",
    ),
    "version of the test": ({"outcome": {"probe_version": "2"}}, "'1'", "'2'"),
    "settings.margin": ({"outcome": {"settings": {**SETTINGS, "margin": 0.1}}}, "0.05", "0.1"),
}


@pytest.mark.parametrize("what", UNLIKE)
def test_what_differs_is_named_with_both_values(tmp_path: Path, what: str) -> None:
    changes, one, other = UNLIKE[what]
    runs = [run_of(tmp_path / "one", rows_from([True])), run_of(tmp_path / "two", rows_from([True]), **changes)]
    with pytest.raises(ComparisonError) as caught:
        refuse_unlike(runs)
    assert f"{what} is {one} in one and {other} in two" in str(caught.value)
    assert str(caught.value).startswith("two, ")


def test_the_same_rows_may_lie_elsewhere_and_have_another_gate(tmp_path: Path) -> None:
    moved = {"config": {"data": "elsewhere.jsonl", "tests": {"factuality": {"order_bias": {"min_pass_rate": 0.1}}}}}
    refuse_unlike([run_of(tmp_path / "one", rows_from([True])), run_of(tmp_path / "two", rows_from([True]), **moved)])


def test_one_run_is_not_compared_with_itself(tmp_path: Path) -> None:
    folder = str(write_run(tmp_path / "one", rows_from([True])))
    with pytest.raises(ComparisonError, match="1 different among 2 named"):
        compare([folder, folder])


def test_runs_without_a_test_in_common_are_refused(tmp_path: Path) -> None:
    other = {"test_type": "option_order"}
    runs = [
        run_of(tmp_path / "one", rows_from([True])),
        run_of(
            tmp_path / "two", rows_from([True]), outcome=other, config={"tests": {"factuality": {"option_order": {}}}}
        ),
    ]
    with pytest.raises(ComparisonError, match="one has order_bias; two has option_order"):
        refuse_unlike(runs)


def test_a_case_that_one_run_lacks_is_named(tmp_path: Path) -> None:
    folders = [str(write_run(tmp_path / name, rows_from([True] * count))) for name, count in (("one", 3), ("two", 2))]
    for named in (folders, folders[::-1]):
        with pytest.raises(ComparisonError, match=r"case 'order_bias/s2' is in one and not in two"):
            compare(named)


def test_a_case_that_one_run_skipped_is_counted_instead(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", rows_from([True] * 3))
    two = write_run(tmp_path / "two", rows_from([True] * 2), skipped=["s2"])
    pair = compare([str(one), str(two)])["tests"][0]["pairs"][0]
    assert (pair["cases"], pair["only_first"], pair["only_second"]) == (2, 0, 1)


def test_where_no_test_was_scored_alike_the_setting_is_named_that_mends_it(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", rows_from([True, True]))
    two = write_run(tmp_path / "two", rows_from([True, True], scorer="reply"))
    with pytest.raises(ComparisonError) as caught:
        compare([str(one), str(two)])
    assert "scorer of 2 cases, such as 'order_bias/s0', is 'likelihood' in one and 'reply' in two" in str(caught.value)
    assert "Set read_with: ask for order_bias in the suite" in str(caught.value)


def name_second_test(folder: Path, **settings: Any) -> None:
    """Let the run say that it asked a test more, `option_order`."""
    summary, manifest = (json.loads((folder / name).read_text()) for name in ("summary.json", "manifest.json"))
    settings = {**SETTINGS, **settings}
    summary["tests"].append({**summary["tests"][0], "test_type": "option_order", "settings": settings})
    manifest["config"]["tests"]["factuality"]["option_order"] = {}
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(json.dumps(manifest))


def with_second_test(folder: Path, rows: Sequence[Row], **settings: Any) -> str:
    """The run with this test more, and the rows of that."""
    other = write_run(folder.with_name(f"{folder.name}-other"), [{**row, "test_type": "option_order"} for row in rows])
    name_second_test(folder, **settings)
    for name in ("results.parquet", "cases.parquet"):
        tables = [pq.read_table(each / name) for each in (folder, other)]
        pq.write_table(pa.concat_tables(tables), folder / name)
    return str(folder)


@pytest.mark.parametrize(
    ("settings", "common"), [({}, "ask"), ({"read_with": "ask"}, "ask"), ({"read_with": "reply"}, "reply")]
)
def test_a_test_that_was_scored_otherwise_is_left_out_alone(
    tmp_path: Path, settings: dict[str, str], common: str
) -> None:
    one = with_second_test(write_run(tmp_path / "one", rows_from([True] * 30)), rows_from([True, False]))
    two = with_second_test(
        write_run(tmp_path / "two", rows_from([True] * 30), model="two"),
        rows_from([True, False], scorer="reply"),
        **settings,
    )
    comparison = compare([one, two])
    assert [test["test_type"] for test in comparison["tests"]] == ["order_bias"]
    (warning,) = comparison["warnings"]
    assert warning.startswith("option_order is not compared: ")
    assert "is 'likelihood' in one and 'reply" in warning
    assert f"Set read_with: {common} for option_order in the suite" in warning


def test_cases_that_were_scored_alike_are_compared_without_the_others(tmp_path: Path) -> None:
    alike = rows_from([True] * 30, scorer="choice")
    rest = [{"sample_id": f"t{number}", "pass": True} for number in range(10)]
    one = write_run(tmp_path / "one", [*alike, *({**row, "scorer": "loss"} for row in rest)])
    two = write_run(tmp_path / "two", [*alike, *({**row, "scorer": "embedding"} for row in rest)], model="two")
    comparison = compare([str(one), str(two)])
    assert comparison["tests"][0]["cases"] == 30
    (warning,) = comparison["warnings"]
    assert warning.startswith("order_bias is compared over the 30 cases that were scored alike: ")
    assert "scorer of 10 cases" in warning
    assert "Set scorer: embedding for order_bias in the suite" in warning


@pytest.mark.parametrize(("scorer", "read_with"), [("likelihood", "likelihood"), ("reply", "ask")])
def test_a_setting_that_names_what_auto_came_to_changes_nothing(tmp_path: Path, scorer: str, read_with: str) -> None:
    settings = {"settings": {**SETTINGS, "read_with": read_with}}
    one = write_run(tmp_path / "one", rows_from([True] * 9, scorer=scorer))
    two = write_run(tmp_path / "two", rows_from([True] * 9, scorer=scorer), model="two", outcome=settings)
    comparison = compare([str(one), str(two)])
    assert (comparison["tests"][0]["cases"], comparison["warnings"]) == (9, [])


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
        name_second_test(folder)
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
