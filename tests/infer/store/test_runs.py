"""Runs in a database: how they are called, and which of them are unfinished."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
from sqlalchemy import update

from contrapose.tasks.errors import ConfigError
from contrapose.tasks.infer.store import open_runs
from contrapose.tasks.infer.store.owner import new_owner
from contrapose.tasks.infer.store.runs import GoingOnError, State
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


def test_an_unknown_run_is_not_taken_up_again() -> None:
    with pytest.raises(ConfigError, match="no such run"):
        open_runs().again("nobody")


@pytest.mark.parametrize("state", ["finished", "superseded"])
def test_a_run_that_came_to_its_end_is_not_taken_up_again(state: State) -> None:
    runs = open_runs()
    run = runs.begin("run", config="{}", folder=".")
    runs.end(run, state)
    with pytest.raises(ConfigError, match=f"the run is {state}"):
        runs.again(run, retried=True)
    assert not runs.take_over(run)
    row = runs.get(run)
    assert row is not None
    assert row.state == state


def seen(run: str) -> float:
    row = open_runs().get(run)
    assert row is not None
    return row.seen


def become_silent(run: str, *, longest: float = 10) -> None:
    """Forget a run's last sign of life, and leave it a while for another one."""
    with open_runs().engine.begin() as connection:
        connection.execute(update(RUNS).where(RUNS.c.id == run).values(seen=1.0))
    end = time.monotonic() + longest
    while seen(run) == 1.0 and time.monotonic() < end:
        time.sleep(0.02)


@pytest.fixture
def quick_pulse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.infer.store.runs.PULSE_SECONDS", 0.05)


@pytest.mark.usefixtures("quick_pulse")
def test_a_living_run_is_not_taken_over_however_long_it_writes_nothing() -> None:
    runs = open_runs()
    run = runs.begin("run", config="{}", folder=".")
    with runs.alive(run):
        become_silent(run)
        with pytest.raises(GoingOnError):
            runs.again(run)


@pytest.mark.usefixtures("quick_pulse")
def test_the_signs_of_life_end_with_a_run_that_fails() -> None:
    runs = open_runs()
    run = runs.begin("run", config="{}", folder=".")
    with pytest.raises(RuntimeError), runs.alive(run):
        raise RuntimeError("a wall")
    # The last sign may come just after the end.
    for each in threading.enumerate():
        if each.name == "contrapose-pulse":
            each.join(10)
    become_silent(run, longest=0.5)
    assert seen(run) == 1.0
    runs.again(run)


@pytest.mark.usefixtures("quick_pulse")
def test_a_run_that_was_taken_over_is_not_kept_alive_by_who_had_it() -> None:
    runs = open_runs()
    run = runs.begin("run", config="{}", folder=".")
    with runs.alive(run):
        runs.again(run, retried=True)
        become_silent(run, longest=0.5)
        assert seen(run) == 1.0
