"""Runs in a database: how they are called, and which of them are unfinished."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sqlalchemy import update

from contrapose.tasks.errors import ConfigError
from contrapose.tasks.infer.store import open_runs
from contrapose.tasks.infer.store.owner import new_owner
from contrapose.tasks.infer.store.schema import RUNS

pytestmark = pytest.mark.usefixtures("store")


def test_two_runs_of_one_name_have_ids_of_their_own() -> None:
    runs = open_runs()
    assert [runs.begin("run", config="{}", folder=".") for _ in range(3)] == ["run", "run-2", "run-3"]


def test_a_run_is_unfinished_until_it_ends() -> None:
    runs = open_runs()
    run = runs.begin("run", config='{"seed": 1}', folder="/work")
    (row,) = runs.unfinished()
    assert (row.id, row.config, row.folder, row.state) == (run, '{"seed": 1}', "/work", "running")
    runs.end(run, "incomplete")
    assert [row.state for row in runs.unfinished()] == ["incomplete"]
    runs.end(run, "finished")
    assert runs.unfinished() == []


def test_a_finished_run_supersedes_silent_ones_that_asked_for_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = open_runs()
    old, other = runs.begin("old", config="{}", folder="."), runs.begin("other", config='{"seed": 1}', folder=".")
    new = runs.begin("new", config="{}", folder=".")
    runs.end(new, "finished")
    assert {row.id for row in runs.unfinished()} == {old, other}
    monkeypatch.setattr("contrapose.tasks.infer.store.runs.ALIVE_SECONDS", -1)
    runs.end(new, "finished")
    assert [row.id for row in runs.unfinished()] == [other]


def test_an_unknown_run_is_none() -> None:
    assert open_runs().get("nobody") is None


def test_a_run_that_is_going_on_is_not_taken_over() -> None:
    runs = open_runs()
    run = runs.begin("run", config="{}", folder=".")
    with pytest.raises(ConfigError, match="another process"):
        runs.again(run)


def test_a_run_whose_process_has_ended_is_taken_over_at_once() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    runs = open_runs()
    run = runs.begin("run", config="{}", folder=".")
    machine = new_owner().rsplit(":", 2)[0]
    with runs.engine.begin() as connection:
        connection.execute(update(RUNS).values(owner=f"{machine}:{ended.pid}:0"))
    runs.again(run)
    row = runs.get(run)
    assert row is not None
    assert row.owner.startswith(machine)
    assert not row.owner.endswith(":0")
