"""A run is found by folder or id, and anything else is told in one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from finished import TEST, rows_from, run_of, write_run

from contrapose.flows.cli import main
from contrapose.tasks.compare.runs import contenders, finished_run
from contrapose.tasks.core.errors import ComparisonError
from contrapose.tasks.core.places import Place


def test_a_run_is_found_by_its_folder_and_by_its_id(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "one", rows_from([True]))
    assert finished_run(str(folder), Place("nowhere")) == finished_run("one", Place(str(tmp_path)))


@pytest.mark.parametrize("name", ["three", "~no-such-user/run", "x" * 5000, "\0"])
def test_an_unknown_run_is_told_with_where_it_was_looked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(ComparisonError, match=r"no such folder.*--runs"):
        finished_run(name, Place(str(tmp_path)))


def test_a_run_without_summary_is_not_finished(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "one", rows_from([True]))
    (folder / "summary.json").unlink()
    with pytest.raises(ComparisonError, match=r"no summary\.json, so the run is not finished"):
        finished_run(str(folder), Place(str(tmp_path)))


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"run_id": "x", "model": 3}', '"text"'])
@pytest.mark.parametrize("file", ["summary.json", "manifest.json"])
def test_files_that_no_run_wrote_are_refused(tmp_path: Path, file: str, content: str) -> None:
    folder = write_run(tmp_path / "one", rows_from([True]))
    (folder / file).write_text(content)
    with pytest.raises(ComparisonError, match=r"summary\.json|manifest\.json"):
        finished_run(str(folder), Place(str(tmp_path)))


@pytest.mark.parametrize("file", ["summary.json", "manifest.json"])
def test_what_would_take_for_ever_is_refused(tmp_path: Path, file: str) -> None:
    folder = write_run(tmp_path / "one", rows_from([True]))
    (folder / file).write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(ComparisonError, match=rf"{file} cannot be read \(nested too deeply\)"):
        finished_run(str(folder), Place(str(tmp_path)))
    (folder / file).unlink()
    os.mkfifo(folder / file)
    with pytest.raises(ComparisonError, match=rf"{file} cannot be read \(a pipe, a socket or a device\)"):
        finished_run(str(folder), Place(str(tmp_path)))


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
    assert [each["name"] for each in contenders(runs)] == ["mock (1)", "mock (2)", "x"]


def test_data_of_a_test_are_laid_over_those_of_the_run_here_too(tmp_path: Path) -> None:
    columns = {"columns": {"text": "prompt"}}
    whole = {"data": {"source": "q.csv", **columns}}
    parts = {"data": "q.csv", "tests": {"factuality": {TEST: {"data": columns}}}}
    first, second = (
        run_of(tmp_path / name, rows_from([True]), config=config) for name, config in {"a": whole, "b": parts}.items()
    )
    assert first.tests[TEST] == second.tests[TEST]
    assert second.tests[TEST]["data.columns"] == {"text": "prompt"}
