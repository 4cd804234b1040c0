"""Runs that did not ask the same are refused, with what differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from finished import SETTINGS, rows_from, run_of, write_run

from contrapose.tasks.compare.compare import compare
from contrapose.tasks.compare.runs import refuse_unlike
from contrapose.tasks.core.errors import ComparisonError

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
    "probe version": ({"outcome": {"probe_version": "2"}}, "'1'", "'2'"),
    "settings.read_with": ({"outcome": {"settings": {**SETTINGS, "read_with": "reply"}}}, "'auto'", "'reply'"),
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
            tmp_path / "two",
            rows_from([True]),
            outcome=other,
            config={"tests": {"factuality": {"option_order": {}}}},
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


def test_cases_scored_in_different_ways_are_refused(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", rows_from([True, True]))
    two = write_run(tmp_path / "two", rows_from([True, True], scorer="reply"))
    with pytest.raises(ComparisonError, match=r"scorer of 2 cases, .* is 'likelihood' in one and 'reply' in two"):
        compare([str(one), str(two)])
