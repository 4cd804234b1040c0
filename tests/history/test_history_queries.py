"""What is asked of a history: which runs, what changed since the last good one, and series of tests."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

import pyarrow as pa
import pytest
from core.test_damage import DAMAGES, Damage
from past_runs import past_run, past_test

from contrapose.tasks.core.damage import SUFFIX
from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.core.places import Place
from contrapose.tasks.history.dataset import append_run, make_file_name, make_record, repair, to_table
from contrapose.tasks.history.queries import list_changes, make_series, select_history, select_runs
from contrapose.tasks.history.reading import read_history

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
    assert days(select_runs(table(past_run(2), past_run(0), past_run(1)))) == ["01", "02", "03"]
    rows = table(*(past_run(day, model=model) for day in range(5) for model in ("mock", "embedded")))
    assert days(select_runs(rows, last=2)) == ["04", "04", "05", "05"]


def test_runs_are_chosen_by_suite_model_test_and_verdict() -> None:
    both = [past_test(), past_test(test_type="order_bias")]
    rows = table(
        past_run(0, suite="quay"), past_run(1, model="embedded"), past_run(2, tests=both), past_run(3, verdict="pass")
    )
    assert days(select_runs(rows, suite="quay")) == ["01"]
    assert days(select_runs(rows, model="embedded")) == ["02"]
    assert days(select_runs(rows, verdict="pass")) == ["04"]
    (found,) = select_runs(rows, tests=["order_bias"])
    assert [test["test_type"] for test in found["tests"]] == ["order_bias"]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_a_value_and_no_pattern(text: str) -> None:
    odd = past_run(1, suite=text, model=text, run_id=text, tests=[past_test(test_type=text)])
    rows = table(past_run(0), odd, past_run(2))
    assert select_runs(rows, suite=text, model=text, tests=[text]) == [odd]
    assert len(select_runs(rows)) == 3


def test_a_run_is_held_against_the_last_green_one_of_its_model() -> None:
    green, red = past_run(1, verdict="pass"), past_run(2, verdict="fail")
    other = past_run(3, verdict="pass", model="embedded")
    new = past_run(4, made_of={**green["made_of"], "library": {"python": "3.11.7", "torch": "2.14.0"}})
    found = select_history(table(past_run(0, verdict="pass"), green, red, other), new)
    assert (found.green, found.previous) == (green, red)
    assert found.runs == (past_run(0, verdict="pass"), green, red, other, new)
    assert found.changes == ({"facet": "library", "name": "torch", "before": "2.13.0", "after": "2.14.0"},)


def test_without_a_green_one_it_is_held_against_the_one_before() -> None:
    before = past_run(0, verdict="fail")
    found = select_history(table(before), past_run(1, made_of={"model": {"id": "mock"}}))
    assert found.green is None
    assert found.previous == before
    assert {change["facet"] for change in found.changes} == {"model", "data", "prompt", "scorer", "library"}


def test_a_report_is_given_the_newest_hundred() -> None:
    rows = table(*(past_run(day % 28, run_id=f"run-{day}") for day in range(130)))
    found = select_history(rows, past_run(30))
    assert len(found.runs) == 100
    assert found.runs[-1] == past_run(30)


def test_what_came_and_what_went_are_changes_too() -> None:
    one = past_run(made_of={"model": {"id": "a", "dtype": "float32"}})
    two = past_run(made_of={"model": {"id": "a", "device": "cpu"}})
    assert [(each["name"], each["before"], each["after"]) for each in list_changes(one, two)] == [
        ("device", "", "cpu"),
        ("dtype", "float32", ""),
    ]
    assert list_changes(one, one) == ()


def test_a_test_that_was_left_out_is_one_change() -> None:
    settings = {"prompt": {"typo.limit": "40", "typo.control": "true"}, "data": {"typo.sha256": "ab"}}
    with_it = past_run(tests=[past_test(), past_test(test_type="typo")], made_of=settings)
    left_out = past_run(made_of={"prompt": {}, "data": {}})
    assert list_changes(with_it, left_out) == ({"facet": "prompt", "name": "typo", "before": "asked", "after": ""},)


def test_a_point_is_held_against_the_run_before_that_asked_the_test() -> None:
    """Other tests that were asked in between, or changed, are no cause of anything here."""
    one, two = past_test(test_type="one"), past_test(test_type="two")
    runs = [
        past_run(tests=[one, two], made_of={"data": {"one.sha256": "a", "two.sha256": "a"}}),
        past_run(tests=[two], made_of={"data": {"two.sha256": "b"}}),
        past_run(tests=[one, two], made_of={"data": {"one.sha256": "a", "two.sha256": "c"}}),
        past_run(tests=[one], made_of={"data": {"one.sha256": "d"}, "scorer": {"gate": "rate"}}),
    ]
    changed = {each.test: [point.changed for point in each.points] for each in make_series(runs)}
    assert changed == {"one": [(), (), ("data", "scorer")], "two": [(), ("data",), ("data",)]}


def published(out: Path, run: PastRun, *, key: str) -> Path:
    """Files of a run, as far as the history looks; returns its file there."""
    folder = out / run["run_id"]
    folder.mkdir(parents=True)
    tests = [{**test, "interval": test["interval"] and list(test["interval"])} for test in run["tests"]]
    summary = {**run, "model": {"id": run["model"]}, "tests": tests}
    del summary["made_of"]
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(json.dumps({"history": make_record(make_file_name(key), run)}))
    append_run(str(out / ".history"), run, key=key)
    return out / ".history" / make_file_name(key)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_made_again(damage: Damage, tmp_path: Path) -> None:
    where = str(tmp_path / ".history")
    file, _ = (published(tmp_path, past_run(day), key=f"run {day}") for day in (0, 1))
    whole, before = file.read_bytes(), select_runs(read_history(where).rows)
    damage(file)
    found = read_history(where)
    assert list(found.skipped) == [file.name]
    mended, told = repair(where, found.skipped, output=Place(str(tmp_path)))
    assert (mended, told.count("\n")) == ([file.name], 0)
    assert "1 made again" in told
    assert file.read_bytes() == whole
    assert file.with_name(file.name + SUFFIX).is_file()
    assert (select_runs(read_history(where).rows), read_history(where).skipped) == (before, {})


def test_one_flipped_byte_anywhere_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    append_run(str(tmp_path), past_run(), key="x")
    (file,) = tmp_path.iterdir()
    whole, missed = file.read_bytes(), 0
    expected = select_runs(read_history(str(tmp_path)).rows)
    for place in range(0, len(whole), 7):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        found = read_history(str(tmp_path))
        if not found.skipped:
            assert select_runs(found.rows) == expected, place
            missed += 1
    # The bytes of the seal itself.
    assert missed * 7 <= 150


def test_without_the_folder_of_its_run_it_is_told(tmp_path: Path) -> None:
    append_run(str(tmp_path / ".history"), past_run(), key="x")
    (file,) = (tmp_path / ".history").iterdir()
    file.write_bytes(b"")
    mended, told = repair(str(tmp_path / ".history"), [file.name], output=Place(str(tmp_path)))
    assert mended == [file.name]
    assert "no longer exist" in told
    assert read_history(str(tmp_path / ".history")).skipped == {}


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "foreign.parquet").write_bytes(b"x")
    assert repair(str(tmp_path), read_history(str(tmp_path)).skipped, output=Place(str(tmp_path))) == ([], "")
    assert (tmp_path / "foreign.parquet").is_file()


@pytest.mark.slow
def test_ten_thousand_runs_are_read_in_reasonable_time(tmp_path: Path) -> None:
    tests = [past_test(test_type=f"test_{number}") for number in range(8)]
    made = {facet: {f"name {number}": "value " * 8 for number in range(12)} for facet in past_run()["made_of"]}
    for number in range(10_000):
        run = past_run(number % 365, run_id=f"run-{number}", model=f"model-{number % 5}", tests=tests, made_of=made)
        append_run(str(tmp_path), run, key=str(number))
    start = perf_counter()
    found = read_history(str(tmp_path))
    before = select_history(found.rows, past_run(400, model="model-1"))
    seconds = perf_counter() - start
    print(f"10,000 runs in {seconds:.1f} s")
    assert len(found.rows) == 10_000
    assert len(before.runs) == 100
    assert seconds < 60
