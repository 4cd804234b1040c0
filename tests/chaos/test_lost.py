"""What is lost during a run of a deployment: its worker, its process, the server. `make chaos`."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from databases import whole_postgres
from fake_endpoint import Endpoint
from prefect_house import House, house, processes_of, until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1200)]

ROWS = 120
LOST_SECONDS = 45
"""A process gives a sign of life every 30 seconds; the automation's own five minutes are long for a test."""
ON_THEIR_WAY = 12
"""Answers at the most that a killed process had asked for, four at a time, and not yet kept."""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def prefect(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    if request.param == "sqlite":
        with house(folder) as built:
            yield built
    else:
        with whole_postgres() as url, house(folder, database=url) as built:
            yield built


def asked(server: Endpoint, folder: Path, model: str = "some") -> dict[str, Any]:
    """A configuration that asks an endpoint about samples of our own."""
    rows = "".join(json.dumps({"text": f"Is {row} an odd number in {folder.name}?"}) + "\n" for row in range(ROWS))
    (folder / "questions.jsonl").write_text(rows)
    return {
        "model": f"openai/{model}",
        "model_args": {"base_url": f"http://127.0.0.1:{server.port}/v1", "concurrency": 4},
        "data": str(folder / "questions.jsonl"),
        "only": ["add_toxic_words"],
    }


def results(house: House, flow_run: str) -> Any:
    """The rows of the run that a flow run made, without what was measured."""
    name = house.call("GET", f"/flow_runs/{flow_run}")["labels"]["contrapose.run"]
    table = pq.read_table(house.folder / "runs" / name / "results.parquet")
    return table.drop_columns("model").to_pylist()


def finished(house: House, flow_run: str) -> dict[str, Any]:
    """The state of a flow run that did not crash in the end."""
    until(lambda: house.state(flow_run)["type"] in ("COMPLETED", "FAILED", "CANCELLED"), seconds=400)
    return house.state(flow_run)


def process_of(house: House) -> int:
    """The process of the only flow run."""
    (found,) = (each for each, words in processes_of(house.folder).items() if "prefect.engine" in words)
    return found


def test_a_run_whose_worker_and_process_are_killed_goes_on_by_itself(
    prefect: House, server: Endpoint, tmp_path: Path
) -> None:
    prefect.within("contrapose-lost", LOST_SECONDS)
    undisturbed = prefect.run_of("on-demand", config=asked(server, tmp_path))
    assert finished(prefect, undisturbed)["type"] == "COMPLETED"
    before = len(server.bodies)

    server.delay = 1.0
    run = prefect.run_of("on-demand", config=asked(server, tmp_path, "other"))
    until(lambda: len(server.bodies) > before + 40)
    process = process_of(prefect)
    prefect.kill("worker")
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    server.delay = 0.0
    prefect.start("worker")
    assert finished(prefect, run)["type"] == "COMPLETED"
    assert "Crashed" in prefect.states(run)
    assert before <= len(server.bodies) - before <= before + ON_THEIR_WAY
    assert results(prefect, run) == results(prefect, undisturbed)


def test_a_run_whose_worker_alone_is_killed_comes_to_its_end(prefect: House, server: Endpoint, tmp_path: Path) -> None:
    prefect.within("contrapose-lost", LOST_SECONDS)
    server.delay = 0.2
    run = prefect.run_of("on-demand", config=asked(server, tmp_path))
    until(lambda: len(server.bodies) > 40)
    prefect.kill("worker", with_children=False)
    prefect.start("worker")
    assert finished(prefect, run)["type"] == "COMPLETED"
    assert len(results(prefect, run)) == ROWS
    assert len(server.bodies) <= 2 * ROWS + ON_THEIR_WAY


@pytest.mark.parametrize("away", [2, 20], ids=["a moment", "a while"])
def test_the_server_is_killed_during_a_run_and_started_again(
    prefect: House, server: Endpoint, tmp_path: Path, away: int
) -> None:
    server.delay = 0.4
    run = prefect.run_of("on-demand", config=asked(server, tmp_path))
    until(lambda: len(server.bodies) > 40)
    prefect.kill("server")
    time.sleep(away)
    prefect.start("server")
    assert finished(prefect, run)["type"] == "COMPLETED"
    assert len(results(prefect, run)) == ROWS
    assert max(server.asked.values()) == 1


def test_a_schedule_fires(prefect: House, server: Endpoint, tmp_path: Path) -> None:
    nightly = prefect.deployment("nightly")["id"]
    prefect.call("PATCH", f"/deployments/{nightly}", {"parameters": {"config": asked(server, tmp_path)}})
    every = {"schedule": {"interval": 15}, "active": True, "slug": "seconds"}
    (made,) = prefect.call("POST", f"/deployments/{nightly}/schedules", [every])
    completed = {"state": {"type": {"any_": ["COMPLETED"]}}}
    wanted = {"deployments": {"id": {"any_": [nightly]}}, "flow_runs": completed}
    try:
        run, *_ = until(lambda: prefect.call("POST", "/flow_runs/filter", wanted))
    finally:
        prefect.call("DELETE", f"/deployments/{nightly}/schedules/{made['id']}")
    assert run["auto_scheduled"]
    assert len(results(prefect, run["id"])) == ROWS
    assert max(server.asked.values()) == 1
