"""Alerts reach a webhook: a run that fails, one that no worker takes, one that hangs, one whose verdict is bad."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fake_endpoint import serving
from prefect_house import House, house, until
from receiver import Receiver, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

BLOCK = """
from prefect.blocks.notifications import CustomWebhookNotificationBlock as Block
Block(name="team", url="{url}", json_data={{"subject": "{{{{subject}}}}", "body": "{{{{body}}}}"}}).save("team")
"""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture(scope="module")
def prefect(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[House]:
    late = {
        "PREFECT_SERVER_SERVICES_LATE_RUNS_AFTER_SECONDS": "4",
        "PREFECT_SERVER_SERVICES_LATE_RUNS_LOOP_SECONDS": "2",
    }
    with house(tmp_path_factory.mktemp("house"), **late) as built:
        built.python(BLOCK.format(url=receiver.url))
        built.contrapose("deploy", "--notify", "custom-webhook/team")
        yield built


def told(receiver: Receiver, name: str, words: str) -> dict[str, Any]:
    """The first alert whose subject holds a name and some words."""

    def found() -> dict[str, Any] | None:
        alerts = [json.loads(body) for body in receiver.bodies]
        return next((each for each in alerts if name in each["subject"] and words in each["subject"]), None)

    alert = until(found)
    assert alert is not None
    return alert


def test_a_run_that_fails(prefect: House, receiver: Receiver) -> None:
    run = prefect.run_of("on-demand", config={"suite": "quickstart", "model": "opnai/gpt"})
    assert prefect.ended(run)["type"] == "FAILED"
    name = prefect.call("GET", f"/flow_runs/{run}")["name"]
    assert "unknown provider 'opnai'" in told(receiver, name, "failed")["body"]


def test_a_bad_verdict(prefect: House, receiver: Receiver) -> None:
    with serving() as endpoint:
        endpoint.always = "status 500"
        url = f"http://127.0.0.1:{endpoint.port}/v1"
        config = {"suite": "quickstart", "model": "openai/none", "model_args": {"base_url": url}, "limit": 4}
        run = prefect.run_of("on-demand", config=config)
        assert prefect.ended(run)["type"] == "COMPLETED"
    assert "quickstart on openai/none: incomplete" in told(receiver, "quickstart on openai/none", "incomplete")["body"]


def test_a_candidate_that_nothing_tells_apart(prefect: House, receiver: Receiver) -> None:
    about = {"prefect.resource.id": "contrapose.model.mock", "prefect.resource.name": "mock"}
    told_of = {"id": str(uuid4()), "occurred": datetime.now(UTC).isoformat(), "event": "model.retrained"}
    prefect.call("POST", "/events", [{**told_of, "resource": about, "payload": {"model": "mock"}}])
    assert "revision: neither" in told(receiver, "mock", "insufficient evidence")["body"]


def test_a_run_that_hangs_is_cancelled(prefect: House, receiver: Receiver, tmp_path: Path) -> None:
    prefect.within("contrapose-stuck", 15)
    with serving() as endpoint:
        endpoint.delay = 60
        (tmp_path / "one.jsonl").write_text('{"text": "Is this the end?"}\n')
        config = {
            "model": "openai/slow",
            "model_args": {"base_url": f"http://127.0.0.1:{endpoint.port}/v1"},
            "data": str(tmp_path / "one.jsonl"),
            "only": ["add_toxic_words"],
        }
        run = prefect.run_of("on-demand", config=config)
        assert prefect.ended(run)["type"] == "CANCELLED"
    # Its suite is the deployed one, since it named none.
    told(receiver, "quickstart on openai/slow", "stuck")


def test_a_run_that_no_worker_takes(prefect: House, receiver: Receiver) -> None:
    prefect.kill("worker")
    run = prefect.run_of("on-demand", config={"suite": "quickstart", "model": "mock"})
    name = prefect.call("GET", f"/flow_runs/{run}")["name"]
    assert "Either no worker is running" in told(receiver, name, "late")["body"]
