"""A run that was stopped goes on: what was answered stays, and the results are those of a run that never stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from newest_run import newest, summary_of

from contrapose.flows.cli import main
from contrapose.tasks.config.permissions import VARIABLES
from contrapose.tasks.store import Store

pytestmark = pytest.mark.usefixtures("prefect_server", "in_tmp", "own_store")

ARGUMENTS = ["run", "--model", "mock", "--limit", "12"]


def started(*, seed: int, calls: int) -> str:
    """A run that was stopped by its budget; its id."""
    assert main([*ARGUMENTS, "--set", f"seed={seed}", "--max-calls", str(calls)]) == 4
    return Store().runs.find_unfinished()[0].id


def test_a_spent_budget_ends_incomplete_and_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    run = started(seed=11, calls=30)
    out, err = capsys.readouterr()
    assert "INCOMPLETE" in out
    assert "max_calls = 30" in out
    assert f"Next: contrapose resume {run}\n" in out
    assert err == ""
    usage = summary_of("runs")["usage"]
    assert (usage["calls"], usage["requests"]) == (30, 30)


def test_a_resumed_run_has_the_results_of_one_that_never_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(seed=12, calls=30)
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)
    resumed, usage = newest("runs"), summary_of("runs")["usage"]
    assert usage["requests"] == usage["calls"] > 30
    assert usage["from_store"] == 0
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{Path('other.sqlite3').resolve()}")
    main([*ARGUMENTS, "--set", "seed=12", "--out", "other"])
    whole = newest("other")
    assert summary_of("other")["usage"]["from_store"] == 0
    for name in ("results.parquet", "cases.parquet", "results.csv"):
        assert (resumed / name).read_bytes() == (whole / name).read_bytes()


def test_a_resumed_run_reads_what_its_command_line_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    (tmp_path / "rows.csv").write_text("text\n" + "".join(f"The sky over town {n} is blue.\n" for n in range(12)))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    words = ["--data", "../rows.csv", "--test", "add_negation", "--out", "../results", "--max-calls", "3"]
    assert main(["run", "--model", "mock", *words]) == 4
    run = Store().runs.find_unfinished()[0].id
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)


@pytest.mark.slow
def test_a_resumed_run_starts_in_the_folder_it_was_started_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(seed=13, calls=30)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)
    assert Path.cwd() == tmp_path
    assert len(list((tmp_path / "runs").glob("[!.]*"))) == 2


@pytest.mark.slow
def test_a_resumed_run_is_finished(capsys: pytest.CaptureFixture[str]) -> None:
    run = started(seed=14, calls=30)
    main(["resume"])
    assert run in capsys.readouterr().out
    main(["resume", run, "--max-calls", "1000"])
    capsys.readouterr()
    assert main(["resume"]) == 0
    assert capsys.readouterr().out == "no unfinished runs\n"
    assert main(["resume", run]) == 2
    assert "no unfinished runs begin with" in capsys.readouterr().err


@pytest.mark.slow
def test_asked_again_a_resumed_run_goes_on_where_it_was() -> None:
    main([*ARGUMENTS, "--set", "seed=16"])
    assert main([*ARGUMENTS, "--set", "seed=16", "--refresh", "--max-calls", "30"]) == 4
    run = Store().runs.find_unfinished()[0].id
    assert main(["resume", run, "--max-calls", "1000"]) in (0, 1, 3)
    usage = summary_of("runs")["usage"]
    assert usage["calls"] == usage["requests"] > 30
