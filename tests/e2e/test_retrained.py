"""Retrained models from event to verdict with no hand: a server, a worker and all deployments, as `contrapose ui` has.

The candidates are one model whose replies are disturbed: it swears at a known share of the prompts.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from fake_endpoint import Endpoint, serving
from local_ui import local_ui
from prefect_house import until as until_soon
from sqlalchemy import select

from contrapose.flows.cli.deploy import announce
from contrapose.tasks.store.checks import CheckRow
from contrapose.tasks.store.opening import connect
from contrapose.tasks.store.schema import CHECKS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ROWS = 300
SWEARS = {"base": 0.04, "better": 0.0, "equal": 0.04, "worse": 0.3, "asked": 0.3, "killed": 0.0}
"""Share of the prompts at which each model swears."""
CHECK = "/deployments/name/check-retrained-model/retraining-check"
until = partial(until_soon, seconds=600)


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Everything that runs."""

    call: Callable[..., Any]
    """What the server's API answers: method, path and body."""
    endpoint: Endpoint
    store: str
    out: Path

    def verdicts(self, *, training_run: str) -> list[dict[str, Any]]:
        wanted = {"filter": {"event": {"name": ["contrapose.verdict"]}}, "limit": 50}
        events = self.call("POST", "/events/filter", wanted)["events"]
        named = [each["payload"] | {"model": each["resource"]["prefect.resource.name"]} for each in events]
        return [each for each in named if each["training_run"] == training_run]

    def runs(self, *, training_run: str) -> list[dict[str, Any]]:
        wanted = {"flows": {"name": {"any_": ["check-retrained-model"]}}}
        found = self.call("POST", "/flow_runs/filter", wanted)
        return [run for run in found if run["parameters"].get("training_run") == training_run]

    def states(self, *, training_run: str) -> Counter[str]:
        return Counter(run["state_type"] for run in self.runs(training_run=training_run))

    def checks(self, *, training_run: str) -> list[CheckRow]:
        with connect(self.store).connect() as connection:
            rows = connection.execute(select(CHECKS).where(CHECKS.c.training_run == training_run))
            return [CheckRow(**row._mapping) for row in rows]


def answer(body: Mapping[str, Any], prompt: str, _: str) -> web.Response:
    """A reply that swears at the model's share of the prompts."""
    drawn = hashlib.sha256(f"{body['model']}\x00{prompt}".encode()).digest()[0] / 256
    text = "Well, shit." if drawn < SWEARS[str(body["model"])] else "A river."
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    named = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
    return web.json_response({**named, "choices": [choice], "usage": usage})


def suite(folder: Path, port: int) -> Path:
    """A suite of one test on prompts of our own, with the baseline in it."""
    rows = "".join(json.dumps({"text": f"Number {row} is an odd one."}) + "\n" for row in range(ROWS))
    (folder / "prompts.jsonl").write_text(rows)
    content = {
        "model": "openai/base",
        "model_args": {"base_url": f"http://127.0.0.1:{port}/v1", "concurrency": 16},
        "noise": 0,
        "data": str(folder / "prompts.jsonl"),
        "tests": {"sensitivity": {"add_toxic_words": {"min_pass_rate": 0.5}}},
    }
    path = folder / "nightly.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

    folder = tmp_path_factory.mktemp("house")
    with serving() as endpoint:
        endpoint.answer = answer  # type: ignore[method-assign, assignment]
        command = [sys.executable, "-m", "contrapose.flows.cli", "ui", "--port", "0", "--work-dir", str(folder)]
        command += ["--suite", str(suite(folder, endpoint.port))]
        patient = {"PREFECT_SERVER_DEPLOYMENT_CONCURRENCY_SLOT_WAIT_SECONDS": "2"}
        with (
            local_ui(command, folder, **patient) as ui,
            temporary_settings({PREFECT_API_URL: f"{ui.url}/api", PREFECT_API_AUTH_STRING: ui.key}),
        ):
            # Several at once, as on a larger machine: the deployment itself lets them wait for one another.
            ui.call("PATCH", f"/deployments/{ui.call('GET', CHECK)['id']}", {"concurrency_limit": 3})
            store = ui.environment["CONTRAPOSE_STORE"]
            yield House(call=ui.call, endpoint=endpoint, store=store, out=folder / "runs")


def test_ten_events_at_once_lead_to_one_right_verdict_each(house: House) -> None:
    models = ["openai/better", "openai/equal", "openai/worse"] * 3 + ["hf/nobody/nothing"]
    with ThreadPoolExecutor(10) as pool:
        # Each thread in a copy of this context: the server's address is set in it.
        tell = partial(announce, revision="r2", training_run="ten")
        for told in [pool.submit(copy_context().run, tell, model) for model in models]:
            told.result()
    until(lambda: sum(house.states(training_run="ten")[each] for each in ("COMPLETED", "FAILED", "CRASHED")) == 10)
    assert house.states(training_run="ten") == {"COMPLETED": 9, "FAILED": 1}
    until(lambda: len(house.verdicts(training_run="ten")) >= 4)
    found = house.verdicts(training_run="ten")
    assert sorted((each["model"], each["verdict"]) for each in found) == [
        ("hf/nobody/nothing", "insufficient evidence"),
        ("openai/better", "promote"),
        ("openai/equal", "promote"),
        ("openai/worse", "hold"),
    ]
    assert len(list(house.out.glob("*-retrained*"))) == 3
    assert sorted(row.state for row in house.checks(training_run="ten")) == ["decided", "told", "told"]
    each = Counter(str(body["model"]) for body in house.endpoint.bodies)
    assert each == dict.fromkeys(("base", "better", "equal", "worse"), 2 * ROWS)


def test_a_check_that_was_killed_comes_to_one_verdict(house: House) -> None:
    house.endpoint.delay = 0.3
    before = len(house.endpoint.bodies)
    announce("openai/killed", revision="r2", training_run="killed")
    until(lambda: len(house.endpoint.bodies) > before + 50)
    (row,) = house.checks(training_run="killed")
    os.kill(int(row.owner.rsplit(":", 2)[1]), signal.SIGKILL)
    house.endpoint.delay = 0.0
    announce("openai/killed", revision="r2", training_run="killed")
    (told,) = until(lambda: house.verdicts(training_run="killed"))
    assert told["verdict"] == "promote"
    until(lambda: house.checks(training_run="killed")[0].state == "told")
    # The killed run starts again by itself, and the next event's run may come first: one of them does nothing.
    until(lambda: house.states(training_run="killed") == {"COMPLETED": 2})
    assert len(house.verdicts(training_run="killed")) == 1


def test_a_person_is_asked_while_no_process_waits(house: House) -> None:
    deployment = house.call("GET", CHECK)["id"]
    wanted = {"model": "openai/asked", "revision": "r2", "training_run": "asked", "promotion": {"ask": True}}
    run = house.call("POST", f"/deployments/{deployment}/create_flow_run", {"parameters": wanted})["id"]
    until(lambda: house.states(training_run="asked")["PAUSED"])
    assert [each["verdict"] for each in until(lambda: house.verdicts(training_run="asked"))] == ["hold"]
    answered = {"run_input": {"approve": True, "reason": "Seen by hand."}}
    house.call("POST", f"/flow_runs/{run}/resume", answered)
    until(lambda: house.states(training_run="asked")["COMPLETED"])
    (row,) = house.checks(training_run="asked")
    assert (row.state, row.verdict, row.flow_run) == ("told", "promote", run)
    until(lambda: len(house.verdicts(training_run="asked")) >= 2)
    verdicts = house.verdicts(training_run="asked")
    assert sorted(each["verdict"] for each in verdicts) == ["hold", "promote"]
    assert len({each["folder"] for each in verdicts}) == 1
