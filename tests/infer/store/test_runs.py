"""Runs in a database: how they are called, and which of them are unfinished."""

from __future__ import annotations

import pytest

from contrapose.tasks.infer.store import open_runs

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
