"""Remedies of the response store, of tables and of the history get a person further."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from clocks import Clock
from fake_endpoint import Endpoint
from fsspec.implementations.memory import MemoryFileSystem
from newest_run import asking
from past_runs import past_run
from remedies.following import Case, change, follow_case, follows, write
from sqlalchemy import text
from store.kept_store import close
from store.test_answers import begin, keyed, save

from contrapose.flows.cli import main
from contrapose.flows.cli.history import read_past_runs
from contrapose.flows.evaluate_model import evaluate_model
from contrapose.tasks.core.errors import ConfigError, CutShortError
from contrapose.tasks.history.dataset import append_run
from contrapose.tasks.store import Store
from contrapose.tasks.store.base import DatabaseAwayError
from contrapose.tasks.store.checks import CheckTakenOverError
from contrapose.tasks.store.opening import connect, open_receipts
from contrapose.tasks.store.receipts import Receipts
from contrapose.tasks.store.replay import make_put_receipt
from contrapose.tasks.store.runs import RunInProgressError
from contrapose.tasks.tables import table as tables

FULL = OSError(errno.ENOSPC, "No space left on device")
ROWS = "validate --model mock --test add_negation --data rows.jsonl --expectations mine.yaml"
EXPECTED = """table: samples
expectations: [{type: expect_column_value_lengths_to_be_between, kwargs: {column: text, min_value: 14}}]
"""
LINE = '{"text": "The sky is blue."}\n'
SHORT = '{"text": "It is late."}\n'


CASES = [
    Case(
        site="tasks/report/validation/__init__.py:make_gate_error",
        command=ROWS,
        says="expected samples that meet mine.yaml",
        follow=write("Fix these rows", "rows.jsonl", LINE),
        files={"mine.yaml": EXPECTED, "rows.jsonl": SHORT},
    ),
    Case(
        site="tasks/report/validation/__init__.py:make_gate_error",
        command=ROWS,
        says="expected samples that meet mine.yaml",
        follow=change("or mine.yaml.", "min_value: 14", "min_value: 1"),
        files={"mine.yaml": EXPECTED, "rows.jsonl": SHORT},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_remedy_leads_further(
    case: Case,
    own_store: str,
    in_tmp: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys)


def name_another(remedy: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name another store as a remedy says."""
    (variable,) = re.findall(r"(?:name|Name|Set) (?:another \w+ in )?(CONTRAPOSE_STORE)\b", remedy)
    monkeypatch.setenv(variable, f"sqlite:///{folder}/another.sqlite3")


@pytest.mark.parametrize("named", ["nosuchdatabase://x/y", "sqlite:////proc/none/answers.sqlite3", ""])
@follows("tasks/store/engine.py:raise_with_remedy")
def test_a_store_that_can_be_opened_is_named_or_none(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CONTRAPOSE_STORE", named)
    # Where none is named, the default lies in a folder that cannot be made.
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / ("home" if named else "file/home")))
    with pytest.raises(ConfigError, match="cannot be opened") as refused:
        begin()
    assert "or unset it to use SQLite in the folder CONTRAPOSE_HOME." in refused.value.remedy
    with monkeypatch.context() as own:
        name_another(refused.value.remedy, tmp_path, own)
        assert begin() == "run"
    monkeypatch.delenv("CONTRAPOSE_STORE")
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / "home"))
    assert begin() == "run"


@follows("tasks/store/engine.py:open_database")
def test_a_store_of_another_version_is_left_for_one_with_another_name(
    own_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"id": "x", "state": "running", "config": "{}", "owner": "", "folder": ".", "started": 1, "seen": 1}
    begin()
    open_receipts(own_store).append([{"at": 1.0, **make_put_receipt("runs", {**row, "colour": "red"})}])
    with connect(own_store).begin() as connection:
        connection.execute(text("ALTER TABLE runs ADD COLUMN colour TEXT"))
    close()
    with pytest.raises(ConfigError, match="another version of Contrapose made the response store") as refused:
        begin()
    name_another(refused.value.remedy, tmp_path, monkeypatch)
    assert begin() == "run"


def let_go(engine: Any) -> None:
    """Let a connection wait for nobody."""
    with closing(engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA busy_timeout=1")


@pytest.mark.parametrize("fixed", [True, False])
@follows("tasks/store/base.py:_make_unusable_error")
def test_a_store_that_was_fixed_or_another_one_is_used(
    fixed: bool, own_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contrapose.tasks.store.base.FIRST_WAIT", 0)
    save(Store().answers, keyed(1), run=begin())
    let_go(connect(own_store))
    with closing(sqlite3.connect(own_store.removeprefix("sqlite:///"), isolation_level=None)) as busy:
        busy.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseAwayError, match="database is locked") as refused:
            begin()
        assert refused.value.remedy.startswith("Fix it: stored answers stay.")
        if not fixed:
            name_another(refused.value.remedy, tmp_path, monkeypatch)
            assert "which begins without them" in refused.value.remedy
            assert begin() == "run"
    assert begin() == "run-2"
    assert len(Store().answers.find([keyed(1).key])) == fixed


@pytest.mark.parametrize(
    ("error", "remedy"),
    [(FULL, "Free some space"), (PermissionError(errno.EACCES, "Permission denied"), "Make that folder writable")],
)
@follows("tasks/store/base.py:make_unwritten_error")
def test_answers_are_kept_again_once_receipts_can_be_written(
    error: OSError, remedy: str, own_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(Store().answers, keyed(1), run=begin())

    def refuse(*_: object) -> None:
        if os.environ["CONTRAPOSE_STORE"] == own_store:
            raise error

    with monkeypatch.context() as broken:
        broken.setattr(Receipts, "_write", refuse)
        with pytest.raises(CutShortError) as refused:
            begin()
        assert refused.value.remedy.startswith(f"{remedy}: stored answers stay. Or name")
        broken.undo()
    assert begin() == "run-2"
    assert len(Store().answers.find([keyed(1).key])) == 1
    name_another(refused.value.remedy, tmp_path, monkeypatch)
    assert begin() == "run"


@pytest.mark.usefixtures("own_store")
@follows("tasks/store/checks.py:_set")
def test_a_check_that_was_taken_over_is_ended_by_the_other_process() -> None:
    announced = {"model": "mock", "revision": "2", "training_run": "t"}
    own, other = (Store().checks(flow_run=name) for name in ("one", "two"))
    own.begin("k" * 64, **announced)
    with connect(os.environ["CONTRAPOSE_STORE"]).begin() as connection:
        connection.execute(text("UPDATE checks SET until = 0"))
    other.begin("k" * 64, **announced)
    with pytest.raises(CheckTakenOverError) as refused:
        own.decide("k" * 64, verdict="promote", decision="{}")
    assert refused.value.remedy == "Nothing is left to do here: the other process ends the check."
    other.decide("k" * 64, verdict="hold", decision="{}")
    assert own.begin("k" * 64, **announced).verdict == "hold"


@pytest.mark.usefixtures("own_store")
@follows("tasks/store/runs.py:resume")
def test_a_run_that_is_no_longer_unfinished_is_begun_anew(capsys: pytest.CaptureFixture[str]) -> None:
    runs, run = Store().runs, begin()
    runs.end(run, "finished")
    with pytest.raises(ConfigError, match="the run is finished") as refused:
        runs.resume(run)
    assert "`contrapose resume`, or start a new run" in refused.value.remedy
    runs.end(begin("other"), "incomplete")
    assert main(["resume"]) == 0
    assert "other" in capsys.readouterr().out
    runs.resume("other")
    assert begin() == "run-2"


@pytest.mark.usefixtures("own_store")
@follows("tasks/store/runs.py:resume")
def test_a_run_goes_on_here_once_the_other_process_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1e9)
    monkeypatch.setattr("contrapose.tasks.store.runs.time", clock)
    runs, run = Store().runs, begin()
    with pytest.raises(RunInProgressError, match="going on in another process") as refused:
        runs.resume(run)
    (seconds,) = re.findall(r"end it; after (\d+) s of silence it counts as ended", refused.value.remedy)
    clock.now += int(seconds)
    runs.resume(run)


OTHER = """
from contrapose.tasks.store import Store
runs = Store().runs
runs.resume("run"); print("resumed", flush=True); input()
runs.confirm("run"); runs.end("run", "finished")
"""


@pytest.mark.usefixtures("own_store")
@follows("tasks/store/runs.py:confirm")
def test_a_run_that_was_taken_over_is_published_by_the_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1e9)
    with monkeypatch.context() as silent:
        silent.setattr("contrapose.tasks.store.runs.time", clock)
        runs, run = Store().runs, begin()
    command = [sys.executable, "-c", OTHER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "resumed\n"
        with pytest.raises(RunInProgressError, match="taken the run over") as refused:
            runs.confirm(run)
        assert refused.value.remedy == "Nothing is left to do here: the other process publishes the run."
        process.communicate("\n", timeout=60)
    row = runs.get(run)
    assert row is not None
    assert (process.returncode, row.state) == (0, "finished")


@pytest.mark.parametrize("named", ["--history", "CONTRAPOSE_HISTORY"])
@follows("tasks/history/reading.py:read_history")
def test_another_history_is_read(named: str, in_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append_run("memory://broken", past_run(), key="x")
    append_run("own", past_run(), key="x")

    def broken(*_: object, **__: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(MemoryFileSystem, "cat_ranges", broken)
    with pytest.raises(ConfigError, match="the history cannot be read") as refused:
        read_past_runs("memory://broken", "runs")
    assert named in refused.value.remedy.partition("Correct it: ")[2]
    monkeypatch.setenv("CONTRAPOSE_HISTORY", "own")
    assert read_past_runs("own" if named == "--history" else None, "runs")[0]


ROOMS = evaluate_model.fn.__globals__
"""Where the flow finds its stages."""


def spoil(monkeypatch: pytest.MonkeyPatch, room: str, act: Callable[[], object]) -> None:
    """Have something happen before a stage of a run."""
    stage = ROOMS[room]

    def spoiled(*inputs: Any) -> Any:
        act()
        return stage(*inputs)

    monkeypatch.setitem(ROOMS, room, spoiled)


def full(*_: object) -> None:
    """Find no room on the disk."""
    raise FULL


RUN = ["run", "--test", "order_bias", "--limit", "3", "--exit-zero"]


@pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
@follows("tasks/tables/table.py:disk_full_error")
def test_a_run_goes_on_once_there_is_room(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as own:
        spoil(own, "evaluate", lambda: own.setattr(tables, "save", full))
        assert main([*RUN, *asking(server.port)]) == 4
    error = capsys.readouterr().err
    assert "there is no room left on the disk" in error
    assert "Make room, and run the same command again to continue: stored answers stay." in error
    asked = len(server.requests)
    assert main([*RUN, *asking(server.port)]) == 0
    assert len(server.requests) == asked > 0


@pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
@follows("tasks/tables/table.py:loss")
def test_a_table_that_is_gone_is_made_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def empty() -> None:
        for path in tables.open_storage().path.glob("*.parquet"):
            path.unlink()

    with monkeypatch.context() as own:
        spoil(own, "evaluate", empty)
        assert main([*RUN, "--model", "mock"]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "Run again, and where that does not help with --refresh" in error
    for option in ([], ["--refresh"]):
        assert main([*RUN, "--model", "mock", *option]) == 0
