"""Result rows: what a probe said, under the documents' names, with nothing that is no number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from contrapose.tasks.core.records import Case, Completion, Score, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.tables.results import make_result_schema, make_result_table

CASE = Case(
    id="add_toxic_words/1",
    sample_id="1",
    probe="add_toxic_words",
    version="7",
    original="It is.",
    perturbed="Well, it is.",
    original_prompt="It is.",
    perturbed_prompt="Well, it is.",
    scorer="count",
    asks="generate",
    options=("yes", "no"),
    cluster="c1",
)
TRIAL = Trial(case=CASE, expected=Completion(text="first"), actual=Completion(text="second"))


def row(trial: Trial = TRIAL, *, columns: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    score = Score(**{"value": 1.0, "passed": True, "reason": "So.", "columns": columns or {}, **changes})
    chosen = probe("add_toxic_words")
    table = make_result_table([trial], [score], probe=chosen, model="m")
    assert table.schema.equals(make_result_schema(chosen))
    (found,) = table.to_pylist()
    return found  # type: ignore[no-any-return]


def test_a_row_tells_its_case_its_replies_and_its_score() -> None:
    expected = {
        "test_type": "add_toxic_words",
        "category": "sensitivity",
        "sample_id": "1",
        "case_id": CASE.id,
        "original": "It is.",
        "test_case": "Well, it is.",
        "options": "A. yes\nB. no",
        "scorer": "count",
        "expected_result": "first",
        "actual_result": "second",
        "eval_score": 1.0,
        "pass": True,
        "reason": "So.",
        "model": "m",
        "probe_version": "7",
        "control": False,
        "cluster": "c1",
        "slice": None,
        "error": None,
    }
    assert expected.items() <= row().items()


def test_what_people_read_as_the_reply_stands_before_the_raw_text() -> None:
    found = row(expected_result="", actual_result="yes")
    assert (found["expected_result"], found["actual_result"]) == ("", "yes")


def test_the_probes_own_columns_are_taken_by_name() -> None:
    found = row(columns={"actual_toxic": 2, "injected": "damn", "unheard_of": 1})
    assert (found["actual_toxic"], found["injected"], found["echoed"]) == (2, "damn", None)
    assert "unheard_of" not in found


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_missing(value: float) -> None:
    found = row(value=value, columns={"actual_rate_per_100": value, "actual_toxic": value})
    assert found["eval_score"] is found["actual_rate_per_100"] is found["actual_toxic"] is None


def test_no_trials_are_a_table_without_rows() -> None:
    chosen = probe("add_toxic_words")
    assert make_result_table([], [], probe=chosen, model="m").equals(make_result_schema(chosen).empty_table())
