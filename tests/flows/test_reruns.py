"""A flow run that starts once more goes on with the run that it began."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration.options import select_tests
from contrapose.flows.run_lifecycle import STARTS, begin_run, find_earlier_start
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.store import Store
from contrapose.tasks.store.opening import connect
from contrapose.tasks.store.runs import RunInProgressError, RunRow
from contrapose.tasks.store.schema import RUNS

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

CORRIDOR = evaluate_model.fn.__globals__
"""Where the flow finds its stages."""


def runs(store: str) -> list[RunRow]:
    with connect(store).connect() as connection:
        return [RunRow(**row._mapping) for row in connection.execute(select(RUNS))]


def failing_once(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """The evaluate stage fails when it is entered first."""
    errors, room = [error], CORRIDOR["evaluate"]

    def evaluate(*args: Any) -> Any:
        if errors:
            raise errors.pop()
        return room(*args)

    monkeypatch.setitem(CORRIDOR, "evaluate", evaluate)


def quick() -> Any:
    return select_tests(load_config("quickstart", {"model": "mock", "limit": 4})[0], ["order_bias"])


@pytest.mark.slow
def test_a_retry_goes_on_with_the_same_run(own_store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failing_once(monkeypatch, ContraposeError("a wall", expected="none", remedy="Mend it."))
    published = evaluate_model.with_options(retries=1)(quick())
    (row,) = runs(own_store)
    assert (row.id, row.state) == (published["run"], "finished")
    assert published["summary"]["usage"]["calls"] == row.answers > 0
    assert [each.name for each in Path("runs").iterdir() if each.name == row.id] == [row.id]


@pytest.mark.slow
def test_a_run_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[int] = []

    def never(*_: Any) -> None:
        entered.append(1)
        raise RuntimeError("the machine is too small")

    monkeypatch.setitem(CORRIDOR, "evaluate", never)
    with pytest.raises(ContraposeError, match=f"started {STARTS + 1} times, and never came to its end"):
        evaluate_model.with_options(retries=STARTS)(quick())
    assert len(entered) == STARTS


def test_outside_of_a_flow_nothing_was_begun() -> None:
    assert find_earlier_start(Store().runs) is None


def test_a_run_that_another_process_took_over_meanwhile_is_not_published(
    own_store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = CORRIDOR["evaluate"]

    def suspended(run: Any, trials: Any) -> Any:
        with connect(own_store).begin() as connection:
            connection.execute(update(RUNS).values(owner="another:1:0"))
        return room(run, trials)

    monkeypatch.setitem(CORRIDOR, "evaluate", suspended)
    with pytest.raises(RunInProgressError, match="another process has taken the run over"):
        evaluate_model(quick())
    assert not list(Path().glob("runs/*"))
    assert [row.state for row in runs(own_store)] == ["running"]


def test_a_finished_run_cannot_be_resumed(own_store: str) -> None:
    run = begin_run(quick()).id
    Store().runs.end(run, "finished")
    with pytest.raises(ConfigError, match="the run is finished"):
        begin_run(quick(), resumed=run)
    assert [row.state for row in runs(own_store)] == ["finished"]


def test_a_run_cannot_be_resumed_with_another_configuration() -> None:
    run = begin_run(quick()).id
    Store().runs.end(run, "incomplete")
    other = quick().model_copy(update={"seed": 5, "suite": "other", "max_calls": 1})
    with pytest.raises(ConfigError, match="not the run's own: suite, seed;"):
        begin_run(other, resumed=run)
    assert begin_run(quick().model_copy(update={"max_calls": 10**6}), resumed=run).id == run


def test_an_unknown_run_cannot_be_resumed() -> None:
    with pytest.raises(ConfigError, match="no such run"):
        begin_run(quick(), resumed="nobody")
