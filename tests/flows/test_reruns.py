"""A flow run that starts once more goes on with the run that it began."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from contrapose.flows import corridor
from contrapose.flows.reruns import STARTS, begun
from contrapose.tasks.errors import ContraposeError
from contrapose.tasks.infer.store import open_runs
from contrapose.tasks.infer.store.engine import connect
from contrapose.tasks.infer.store.runs import RunRow
from contrapose.tasks.infer.store.schema import RUNS

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


def runs(store: str) -> list[RunRow]:
    with connect(store).connect() as connection:
        return [RunRow(**row._mapping) for row in connection.execute(select(RUNS))]


def failing_once(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """The evaluate room fails when it is entered first."""
    errors, room = [error], corridor.evaluate

    def evaluate(*args: Any) -> Any:
        if errors:
            raise errors.pop()
        return room(*args)

    monkeypatch.setattr(corridor, "evaluate", evaluate)


def quick() -> Any:
    from contrapose.tasks.config_file import load_config

    return load_config("quickstart")[0].model_copy(update={"model": "mock", "limit": 4})


def test_a_retry_goes_on_with_the_same_run(own_store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from contrapose.flows.evaluate_model import evaluate_model

    failing_once(monkeypatch, ContraposeError("a wall", expected="none", remedy="Mend it."))
    published = evaluate_model.with_options(retries=1)(quick())
    (row,) = runs(own_store)
    assert (row.id, row.state) == (published["run"], "finished")
    assert published["summary"]["usage"]["calls"] == row.answers > 0
    assert [each.name for each in Path("runs").iterdir() if each.name == row.id] == [row.id]


def test_a_run_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from contrapose.flows.evaluate_model import evaluate_model

    entered: list[int] = []

    def never(*_: Any) -> None:
        entered.append(1)
        raise RuntimeError("the machine is too small")

    monkeypatch.setattr(corridor, "evaluate", never)
    with pytest.raises(ContraposeError, match=f"started {STARTS + 1} times, and never came to its end"):
        evaluate_model.with_options(retries=STARTS)(quick())
    assert len(entered) == STARTS


def test_outside_of_a_flow_nothing_was_begun() -> None:
    assert begun(open_runs()) is None
