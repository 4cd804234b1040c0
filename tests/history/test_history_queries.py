"""What is asked of a history: which runs, and what changed since the last good one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from past_runs import past_run, past_test

from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.history.dataset import to_table
from contrapose.tasks.history.queries import history, runs
from contrapose.tasks.history.series import changes

HOSTILE = (
    "'; DROP TABLE runs; --",
    "' OR '1'='1",
    "\"; SELECT * FROM read_text('/etc/passwd'); --",
    "$suite",
    "<script>alert(1)</script>",
    "\u202egnp.exe\x1b[31m\x00",
    "%_*?[a-z]",
)


def table(*found: PastRun) -> pa.Table:
    return pa.concat_tables(map(to_table, found))


def days(found: list[PastRun]) -> list[str]:
    return [run["started"][8:10] for run in found]


def test_runs_come_the_oldest_first_and_the_last_ones_are_counted_for_each_suite_and_model() -> None:
    assert days(runs(table(past_run(2), past_run(0), past_run(1)))) == ["01", "02", "03"]
    rows = table(*(past_run(day, model=model) for day in range(5) for model in ("mock", "embedded")))
    assert days(runs(rows, last=2)) == ["04", "04", "05", "05"]


def test_runs_are_chosen_by_suite_model_test_and_verdict() -> None:
    both = [past_test(), past_test(test_type="order_bias")]
    rows = table(
        past_run(0, suite="quay"), past_run(1, model="embedded"), past_run(2, tests=both), past_run(3, verdict="pass")
    )
    assert days(runs(rows, suite="quay")) == ["01"]
    assert days(runs(rows, model="embedded")) == ["02"]
    assert days(runs(rows, verdict="pass")) == ["04"]
    (found,) = runs(rows, tests=["order_bias"])
    assert [test["test_type"] for test in found["tests"]] == ["order_bias"]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_a_value_and_no_pattern(text: str) -> None:
    odd = past_run(1, suite=text, model=text, run_id=text, tests=[past_test(test_type=text)])
    rows = table(past_run(0), odd, past_run(2))
    assert runs(rows, suite=text, model=text, tests=[text]) == [odd]
    assert len(runs(rows)) == 3


def test_a_run_is_held_against_the_last_green_one_of_its_model() -> None:
    green, red = past_run(1, verdict="pass"), past_run(2, verdict="fail")
    other = past_run(3, verdict="pass", model="embedded")
    new = past_run(4, made_of={**green["made_of"], "library": {"python": "3.11.7", "torch": "2.14.0"}})
    found = history(table(past_run(0, verdict="pass"), green, red, other), new)
    assert (found.green, found.previous) == (green, red)
    assert found.runs == (past_run(0, verdict="pass"), green, red, other, new)
    assert found.changes == ({"facet": "library", "name": "torch", "before": "2.13.0", "after": "2.14.0"},)


def test_without_a_green_one_it_is_held_against_the_one_before() -> None:
    before = past_run(0, verdict="fail")
    found = history(table(before), past_run(1, made_of={"model": {"id": "mock"}}))
    assert found.green is None
    assert found.previous == before
    assert {change["facet"] for change in found.changes} == {"model", "data", "prompt", "scorer", "library"}


def test_a_report_is_given_the_newest_hundred() -> None:
    rows = table(*(past_run(day % 28, run_id=f"run-{day}") for day in range(130)))
    found = history(rows, past_run(30))
    assert len(found.runs) == 100
    assert found.runs[-1] == past_run(30)


def test_what_came_and_what_went_are_changes_too() -> None:
    one = past_run(made_of={"model": {"id": "a", "dtype": "float32"}})
    two = past_run(made_of={"model": {"id": "a", "device": "cpu"}})
    assert [(each["name"], each["before"], each["after"]) for each in changes(one, two)] == [
        ("device", "", "cpu"),
        ("dtype", "float32", ""),
    ]
    assert changes(one, one) == ()


def test_a_test_that_was_left_out_is_one_change() -> None:
    settings = {"prompt": {"typo.limit": "40", "typo.control": "true"}, "data": {"typo.sha256": "ab"}}
    with_it = past_run(tests=[past_test(), past_test(test_type="typo")], made_of=settings)
    left_out = past_run(made_of={"prompt": {}, "data": {}})
    assert changes(with_it, left_out) == ({"facet": "prompt", "name": "typo", "before": "asked", "after": ""},)
