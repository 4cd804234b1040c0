"""A user's suite: it is checked before anything is spent, and then holds tables as the project's own does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from sound import every_plan, sound

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.validation import KINDS, Finding, Suite
from contrapose.tasks.validate.suites import load_bundled_suite, read_suites
from contrapose.tasks.validate.wellformed import read_own_suites

pytestmark = pytest.mark.usefixtures("in_tmp")


def suite(*expectations: Mapping[str, Any], name: str = "results.yaml", **keys: Any) -> str:
    """Path of a new suite."""
    Path(name).write_text(yaml.safe_dump({**keys, "expectations": list(expectations)}))
    return name


def expecting(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"type": kind, "kwargs": kwargs}


FIRST = expecting("expect_column_values_to_be_in_set", column="actual_result", value_set=["A"])
FEW = expecting("expect_column_mean_to_be_between", column="eval_score", min_value=0.9)


def read(path: str, tests: Sequence[str] = ("order_bias",)) -> list[Suite]:
    return read_own_suites([path], [plan for plan in every_plan() if plan.test in tests])


def own_findings(path: str, test: str = "order_bias") -> list[Finding]:
    suites = read(path, [test])
    sifted = sound(test).sifted(suites[0]["table"], own=tuple(suites))
    return [finding for finding in sifted.findings if finding["suite"]["own"]]


def test_rows_that_break_a_users_expectation_are_named() -> None:
    (finding,) = own_findings(suite({**FIRST, "meta": {"what": "Replies are A.", "why": "B is wrong."}}))
    assert not finding["holds"]
    assert finding["blocks"]
    assert (finding["what"], finding["why"]) == ("Replies are A.", "B is wrong.")
    broken = [row["case_id"] for row in sound("order_bias").results if row["actual_result"] != "A"]
    assert finding["broken"] == len(broken) > 0
    assert [row["key"] for row in finding["rows"]] == broken[: len(finding["rows"])]
    assert finding["rows"][0]["values"] == {"actual_result": "B"}


MIXED = (
    expecting("expect_column_values_to_not_be_null", column="actual_result"),
    FIRST,
    expecting("expect_column_values_to_be_in_set", column="expected_result", value_set=["none of them"]),
    expecting("expect_column_values_to_be_unique", column="case_id"),
    FEW,
    expecting("expect_table_row_count_to_be_between", max_value=1),
    expecting("expect_column_mean_to_be_between", column="eval_score", max_value=1),
    expecting("expect_column_values_to_be_unique", column="expected_result"),
)


def test_each_expectation_is_told_what_was_found_of_it_in_whatever_order_they_stand() -> None:
    kept = ("type", "kwargs", "holds", "broken", "observed", "rows")

    def found(*expectations: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [{name: finding[name] for name in kept} for finding in own_findings(suite(*expectations))]  # type: ignore[literal-required]

    alone = [found(expectation)[0] for expectation in MIXED]
    assert [finding["holds"] for finding in alone] == [True, False, False, True, False, False, True, False]
    for order in ((0, 1, 2, 3, 4, 5, 6, 7), (5, 7, 1, 3, 0, 4, 2, 6), (6, 2, 4, 0, 3, 1, 7, 5)):
        assert found(*(MIXED[place] for place in order)) == [alone[place] for place in order]


def test_what_is_not_critical_is_noted_and_stops_nothing() -> None:
    (finding,) = own_findings(suite({**FEW, "severity": "warning"}))
    assert not finding["holds"]
    assert not finding["blocks"]
    scores = [row["eval_score"] for row in sound("order_bias").results]
    assert float(finding["observed"]) == pytest.approx(sum(scores) / len(scores))


def test_an_expectation_that_most_rows_keep_is_held_over_the_whole_table() -> None:
    path = suite(expecting("expect_column_values_to_be_in_set", column="eval_score", value_set=[1.0], mostly=0.1))
    whole, parts = (sound("order_bias").sifted("results", own=tuple(read(path)), part=part) for part in (1000, 10))
    assert whole == parts
    assert whole.findings[-1]["holds"]


def test_a_condition_chooses_the_rows() -> None:
    condition = {"type": "comparison", "column": {"name": "control"}, "operator": "==", "parameter": True}
    path = suite(expecting("expect_column_values_to_be_null", column="outcome", row_condition=condition))
    (finding,) = own_findings(path)
    assert finding["holds"]
    assert finding["looked_at"] == len([row for row in sound("order_bias").results if row["control"]])


def test_a_condition_is_about_values_whatever_is_asked_of_its_rows() -> None:
    condition = {"type": "comparison", "column": {"name": "control"}, "operator": "==", "parameter": False}
    path = suite(expecting("expect_column_values_to_not_be_null", column="error", row_condition=condition))
    (finding,) = own_findings(path)
    checked = [row["case_id"] for row in sound("order_bias").results if not row["control"]]
    assert (finding["looked_at"], finding["broken"]) == (len(checked), len(checked))
    assert [row["key"] for row in finding["rows"]] == checked[: len(finding["rows"])]


@pytest.mark.parametrize("column", ["actual_result", "eval_score"])
def test_values_that_stand_in_several_rows_are_shown(column: str) -> None:
    (finding,) = own_findings(suite(expecting("expect_column_values_to_be_unique", column=column)))
    rows = [row for row in sound("order_bias").results if row[column] is not None]
    twice = [row for row in rows if [other[column] for other in rows].count(row[column]) > 1]
    assert finding["broken"] == len(twice) > 0
    shown = [(row["key"], row["values"]) for row in finding["rows"]]
    assert shown == [(row["case_id"], {column: row[column]}) for row in twice][: len(shown)]


def test_the_words_of_an_expectation_without_any_are_its_name_and_arguments() -> None:
    (finding,) = own_findings(suite(FEW))
    assert finding["what"] == "column mean to be between (column: eval_score, min_value: 0.9)"


def test_a_suite_may_be_json_as_great_expectations_writes_it() -> None:
    written = {"name": "mine", "expectations": [{**FEW, "id": "x", "severity": "info"}], "meta": {}, "notes": None}
    Path("our-results.json").write_text(json.dumps(written))
    (found,) = read("our-results.json")
    assert found["table"] == "results"
    assert found["source"]["file"] == "our-results.json"


def test_a_suite_is_about_the_tests_that_it_names() -> None:
    path = suite(expecting("expect_column_values_to_not_be_null", column="injected"), tests=["add_toxic_words"])
    suites = read(path, ["order_bias", "add_toxic_words"])
    for test, count in (("order_bias", 0), ("add_toxic_words", 1)):
        findings = sound(test).sifted("results", own=tuple(suites)).findings
        assert len([finding for finding in findings if finding["suite"]["own"]]) == count


WRONG = [
    (
        "a type that is none",
        expecting("expect_collumn_mean_to_be_between", column="eval_score"),
        "such as expect_column",
    ),
    ("a column that is none", {**FEW, "kwargs": {"column": "eval_skore"}}, "perhaps 'eval_score'"),
    ("an unknown argument", expecting("expect_column_values_to_be_null", column="error", maximum=1), "maximum"),
    ("an argument too few", expecting("expect_column_values_to_be_null"), "column"),
    ("a mean of texts", expecting("expect_column_mean_to_be_between", column="reason", min_value=0), "mean_to_be"),
    (
        "a pattern that pandas has not",
        expecting("expect_column_values_to_match_like_pattern", column="reason", like_pattern="%"),
        "like",
    ),
    ("a query", expecting("unexpected_rows_expectation", unexpected_rows_query="SELECT 1"), "without a query"),
    ("a type of a column", expecting("expect_column_values_to_be_of_type", column="reason", type_="str"), "types are"),
    (
        "a condition that is code",
        {**FEW, "kwargs": {**FEW["kwargs"], "row_condition": "@__import__('os')"}},
        "comparison",
    ),
    (
        "a condition that passes code on",
        {**FEW, "kwargs": {**FEW["kwargs"], "row_condition": {"type": "pass_through", "pass_through_filter": "1"}}},
        "comparison",
    ),
    (
        "a condition whose value ends its quotes",
        {
            **FEW,
            "kwargs": {
                **FEW["kwargs"],
                "row_condition": {
                    "type": "comparison",
                    "column": {"name": "scorer"},
                    "operator": "==",
                    "parameter": "x' or @f('",
                },
            },
        },
        "a number or a word",
    ),
    ("an unknown parameter", expecting("expect_table_row_count_to_equal", value={"$PARAMETER": "rows"}), "handed"),
    ("a column that is a list", expecting("expect_column_values_to_be_null", column=["error"]), "names of columns"),
    ("a column that is missing", expecting("expect_column_values_to_be_null", column=None), "names of columns"),
    ("columns that are a number", expecting("expect_compound_columns_to_be_unique", column_list=5), "names of columns"),
    (
        "a condition whose parts are a number",
        {**FEW, "kwargs": {**FEW["kwargs"], "row_condition": {"type": "and", "conditions": 5}}},
        "comparison",
    ),
    ("an unknown severity", {**FEW, "severity": "grave"}, "one of critical"),
    ("an unknown key", {**FEW, "kwarg": {}}, "unknown key 'kwarg'"),
]


@pytest.mark.parametrize(("wrong", "told"), [each[1:] for each in WRONG], ids=[each[0] for each in WRONG])
def test_a_wrong_expectation_is_refused_with_its_file_and_place(wrong: Mapping[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(suite(FIRST, wrong))
    assert "results.yaml, expectation 2" in str(caught.value)
    assert told in str(caught.value)


def test_an_expectation_that_lists_cannot_be_held_to_is_refused_before_the_run() -> None:
    distinct = expecting("expect_column_distinct_values_to_be_in_set", column="labels", value_set=["A"])
    with pytest.raises(ConfigError, match="unhashable"):
        read(suite(distinct, name="cases.yaml"))


def test_a_suite_about_a_test_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown test 'order_bais'.* perhaps 'order_bias'"):
        read(suite(FIRST, tests=["order_bais"]))
    assert read(suite(FIRST, tests=["add_toxic_words"]))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("expectations: [", "line 1"), ("[]", "a mapping"), ("expectations: []", "no expectations"),
        ("expektations: []", "unknown key"), ("table: answers\nexpectations: [{type: x}]", "table 'answers'"),
        ("expectations: [x]", "expectation 1"),
        ("expectations: [{type: x, kwargs: {min_value: 2026-01-01}}]", "such as a date"),
        ("expectations: [{type: x, kwargs: {min_value: .inf}}]", "JSON has not"),
        ("tests: order_bias\nexpectations: [{type: x}]", "names of tests"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_suite_is_refused(content: str, told: str) -> None:
    Path("results.yaml").write_text(content)
    with pytest.raises(ConfigError, match=r"results\.yaml") as caught:
        read("results.yaml")
    assert told in str(caught.value)


def test_a_file_that_is_not_there_and_one_that_names_no_table_are_refused() -> None:
    with pytest.raises(ConfigError, match="cannot read the file"):
        read("nowhere.yaml")
    with pytest.raises(ConfigError, match="under the key table"):
        read(suite(FIRST, name="mine.yaml"))
    assert read(suite(FIRST, name="mine.yaml", table="results"))[0]["table"] == "results"


def test_a_changed_file_is_another_suite() -> None:
    first = read_suites([suite(FIRST)])
    assert read_suites([suite(FIRST)]) == first
    assert read_suites([suite(FEW)]) != first


def test_every_expectation_of_the_project_says_what_and_why_and_can_be_checked() -> None:
    for kind in KINDS:
        assert all(each["meta"]["what"] and each["meta"]["why"] for each in load_bundled_suite(kind)["expectations"])
    for kind in ("samples", "completions"):
        copy = Path(f"{kind}.yaml")
        copy.write_text(yaml.safe_dump({"table": kind, "expectations": load_bundled_suite(kind)["expectations"]}))  # type: ignore[arg-type]
        assert read(str(copy))
