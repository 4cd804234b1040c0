"""Runs that are found by folder or id, what every one made of the same cases, and what flipped between them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from finished import TEST, rows_from, run_of, write_run

from contrapose.flows.cli import main
from contrapose.tasks.compare.compare import compare
from contrapose.tasks.compare.flips import find_flips
from contrapose.tasks.compare.rows import read_cases
from contrapose.tasks.compare.runs import name_contenders, read_finished_run
from contrapose.tasks.core.comparison import FlipCount
from contrapose.tasks.core.errors import ComparisonError
from contrapose.tasks.core.places import Place


def test_a_run_is_found_by_its_folder_and_by_its_id(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "one", rows_from([True]))
    assert read_finished_run(str(folder), Place("nowhere")) == read_finished_run("one", Place(str(tmp_path)))


@pytest.mark.parametrize("name", ["three", "~no-such-user/run", "x" * 5000, "\0"])
def test_an_unknown_run_is_told_with_where_it_was_looked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(ComparisonError, match=r"no such folder.*--runs"):
        read_finished_run(name, Place(str(tmp_path)))


def test_a_run_without_summary_is_not_finished(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "one", rows_from([True]))
    (folder / "summary.json").unlink()
    with pytest.raises(ComparisonError, match=r"no summary\.json, so the run is not finished"):
        read_finished_run(str(folder), Place(str(tmp_path)))


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"run_id": "x", "model": 3}', '"text"'])
@pytest.mark.parametrize("file", ["summary.json", "manifest.json"])
def test_files_that_no_run_wrote_are_refused(tmp_path: Path, file: str, content: str) -> None:
    folder = write_run(tmp_path / "one", rows_from([True]))
    (folder / file).write_text(content)
    with pytest.raises(ComparisonError, match=r"summary\.json|manifest\.json"):
        read_finished_run(str(folder), Place(str(tmp_path)))


@pytest.mark.parametrize("file", ["summary.json", "manifest.json"])
def test_what_would_take_for_ever_is_refused(tmp_path: Path, file: str) -> None:
    folder = write_run(tmp_path / "one", rows_from([True]))
    (folder / file).write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(ComparisonError, match=rf"{file} cannot be read \(nested too deeply\)"):
        read_finished_run(str(folder), Place(str(tmp_path)))
    (folder / file).unlink()
    os.mkfifo(folder / file)
    with pytest.raises(ComparisonError, match=rf"{file} cannot be read \(a pipe, a socket or a device\)"):
        read_finished_run(str(folder), Place(str(tmp_path)))


@pytest.mark.parametrize("file", ["results.parquet", "cases.parquet"])
def test_a_pipe_in_place_of_a_table_is_refused(tmp_path: Path, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(write_run(tmp_path / name, rows_from([True] * 20))) for name in ("one", "two")]
    (tmp_path / "two" / file).unlink(missing_ok=True)
    os.mkfifo(tmp_path / "two" / file)
    assert main(["compare", *folders]) == 2
    assert f"{file}: table cannot be read (a pipe, a socket or a device)" in capsys.readouterr().err


def test_runs_of_one_model_are_told_apart_by_their_places(tmp_path: Path) -> None:
    models = {"a": "mock", "b": "mock", "c": "x"}
    runs = [run_of(tmp_path / name, rows_from([True]), model=model) for name, model in models.items()]
    assert [each["name"] for each in name_contenders(runs)] == ["mock (1)", "mock (2)", "x"]


def test_data_of_a_test_are_laid_over_those_of_the_run_here_too(tmp_path: Path) -> None:
    columns = {"columns": {"text": "prompt"}}
    whole = {"data": {"source": "q.csv", **columns}}
    parts = {"data": "q.csv", "tests": {"factuality": {TEST: {"data": columns}}}}
    first, second = (
        run_of(tmp_path / name, rows_from([True]), config=config) for name, config in {"a": whole, "b": parts}.items()
    )
    assert first.tests[TEST] == second.tests[TEST]
    assert second.tests[TEST]["data.columns"] == {"text": "prompt"}


def written(tmp_path: Path, **outcomes: list[bool | None]) -> list[str]:
    return [
        str(write_run(tmp_path / name, rows_from(passed, actual_result=name), model=name))
        for name, passed in outcomes.items()
    ]


def test_those_that_were_lost_and_gained_are_counted_and_come_with_both_rows(tmp_path: Path) -> None:
    folders = written(tmp_path, one=[True, True, False, None, True], two=[True, False, True, True, None])
    flips = find_flips(compare(folders))
    assert flips.counts == {(TEST, "two"): FlipCount(lost=1, gained=1)}
    shown = [(flip.lost, *(row["sample_id"] for row in flip.rows)) for flip in flips.shown]
    assert shown == [(True, "s1", "s1"), (False, "s2", "s2")]
    assert [row["actual_result"] for row in flips.shown[0].rows] == ["one", "two"]


def test_each_other_model_is_held_against_the_baseline_and_the_first_are_shown(tmp_path: Path) -> None:
    folders = written(tmp_path, one=[True, True], two=[False, True], three=[False, False])
    flips = find_flips(compare(folders, baseline=folders[2]), most=1)
    assert flips.counts == {(TEST, "one"): FlipCount(lost=0, gained=2), (TEST, "two"): FlipCount(lost=0, gained=1)}
    assert [(flip.model, flip.rows[0]["sample_id"]) for flip in flips.shown] == [("one", "s0"), ("two", "s1")]


def test_a_case_whose_repeats_disagree_did_not_flip(tmp_path: Path) -> None:
    def rows(*passed: bool) -> list[dict[str, object]]:
        return [
            {"sample_id": "s0", "pass": value, "repeat": place, "case_id": f"{TEST}/s0" + f"#{place}" * (place > 0)}
            for place, value in enumerate(passed)
        ]

    one = str(write_run(tmp_path / "one", rows(True, True), model="one"))
    two = str(write_run(tmp_path / "two", rows(False, True), model="two"))
    three = str(write_run(tmp_path / "three", rows(False, False), model="three"))
    flips = find_flips(compare([one, two, three]))
    assert [(flip.model, flip.rows[1]["repeat"]) for flip in flips.shown] == [("three", 0)]


def test_a_run_that_has_gone_is_told(tmp_path: Path) -> None:
    comparison = compare(written(tmp_path, one=[True], two=[False]))
    (tmp_path / "two" / "summary.json").unlink()
    with pytest.raises(ComparisonError, match=r"no summary\.json"):
        find_flips(comparison)


def test_the_gate_of_each_run_is_told(tmp_path: Path) -> None:
    folders = [
        str(write_run(tmp_path / name, rows_from([True]), model=name, outcome=own))
        for name, own in {"one": {"min_pass_rate": 0.7}, "two": {}}.items()
    ]
    standings = compare(folders)["tests"][0]["standings"]
    assert {standing["name"]: standing["gate"] for standing in standings} == {"one": 0.7, "two": None}


def test_rows_are_paired_by_case_in_whatever_order_they_lie(tmp_path: Path) -> None:
    rows = rows_from([True, False, None, True])
    found = read_cases([run_of(tmp_path / "one", rows), run_of(tmp_path / "two", rows[::-1])], TEST)
    assert np.array_equal(found.passed, [[1, 0, np.nan, 1]] * 2, equal_nan=True)


def test_controls_count_nowhere(tmp_path: Path) -> None:
    control = {"sample_id": "s0", "case_id": f"{TEST}/s0/control", "pass": False, "control": True}
    runs = [run_of(tmp_path / name, [*rows_from([True, False]), control]) for name in ("one", "two")]
    assert read_cases(runs, TEST).passed.shape == (2, 2)


def test_a_row_in_error_is_not_scored_whatever_it_says(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / name, rows_from([True], error="timed out")) for name in ("one", "two")]
    found = read_cases(runs, TEST)
    assert np.isnan(found.passed).all()
    assert found.asked.all()


def test_repeats_of_a_case_are_averaged_over_those_that_were_scored(tmp_path: Path) -> None:
    outcomes = [True, False, True, None]
    rows = [
        {
            "sample_id": "s#2",
            "pass": passed,
            "repeat": number,
            "case_id": f"{TEST}/s#2" + f"#{number + 1}" * (number > 0),
        }
        for number, passed in enumerate(outcomes)
    ]
    found = read_cases([run_of(tmp_path / name, rows) for name in ("one", "two")], TEST)
    assert found.passed.tolist() == [[pytest.approx(2 / 3)]] * 2


def test_cases_of_a_cluster_belong_together_and_of_a_sample_where_there_is_none(tmp_path: Path) -> None:
    rows = [
        {"sample_id": "s0", "pass": True, "cluster": "c"},
        {"sample_id": "s1", "pass": True, "cluster": "c"},
        {"sample_id": "s2", "pass": True, "case_id": f"{TEST}/s2/1"},
        {"sample_id": "s2", "pass": True, "case_id": f"{TEST}/s2/2"},
        # Named as a sample is.
        {"sample_id": "s3", "pass": True, "cluster": "s2"},
    ]
    first, second, third, fourth, fifth = read_cases([run_of(tmp_path / name, rows) for name in "ab"], TEST).cluster
    assert first == second != third == fourth != fifth


def test_a_table_that_another_program_wrote_again_is_read_all_the_same(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / name, rows_from([True, False])) for name in ("one", "two")]
    path = runs[1].folder.path / "results.parquet"
    # Columns without any value get a type of their own on the way, and texts another one.
    pd.read_parquet(path).astype({"case_id": "category", "pass": "string"}).to_parquet(path)
    assert read_cases(runs, TEST).passed.tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize("damage", ["other types", "no table"])
def test_a_table_that_cannot_be_read_is_told(tmp_path: Path, damage: str) -> None:
    runs = [run_of(tmp_path / name, rows_from([True, False])) for name in ("one", "two")]
    path = runs[1].folder.path / "results.parquet"
    if damage == "no table":
        path.write_bytes(b"PAR1")
    else:
        pd.read_parquet(path).assign(**{"pass": "perhaps"}).to_parquet(path)
    with pytest.raises(ComparisonError, match=r"two/results\.parquet: table cannot be read"):
        read_cases(runs, TEST)
