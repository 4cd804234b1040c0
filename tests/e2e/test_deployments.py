"""`contrapose ui` as people use it: deployments, runs from the form, alerts, a clean end. Slow: `make test-all`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from local_ui import call

from contrapose.flows.serve.guard import basic
from contrapose.flows.serve.prefect_app import settings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

READY = re.compile(r"ready: (http://127\.0\.0\.1:\d+)")
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
ASKED: dict[str, Any] = {"suite": "quickstart", "model": "mock", "only": ["add_negation", "order_bias"], "limit": 12}


@dataclass(frozen=True, kw_only=True)
class Local:
    """A running `contrapose ui`."""

    process: subprocess.Popen[str]
    folder: Path
    environment: dict[str, str]
    url: str

    @property
    def key(self) -> str:
        return (self.folder / "home" / "ui" / f"{urlsplit(self.url).port}.key").read_text()

    def post(self, path: str, **body: Any) -> Any:
        return call(self.url, self.key, "POST", path, body)

    def deployments(self) -> dict[str, dict[str, Any]]:
        return {each["name"]: each for each in self.post("/deployments/filter")}

    def start(self, **config: Any) -> str:
        on_demand = self.deployments()["on-demand"]["id"]
        made = self.post(f"/deployments/{on_demand}/create_flow_run", parameters={"config": config})
        return str(made["id"])

    def run(self, run: str) -> dict[str, Any]:
        found: dict[str, Any] = call(self.url, self.key, "GET", f"/flow_runs/{run}")
        return found

    def ended(self, run: str) -> dict[str, Any]:
        until(lambda: self.run(run)["state"]["type"] in ENDED)
        return self.run(run)

    def command(self, *arguments: str) -> str:
        environment = {**self.environment, "PREFECT_API_URL": f"{self.url}/api"}
        done = subprocess.run(
            [sys.executable, "-m", "contrapose.flows.cli", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    """A local Prefect in a home of its own, on a port of its own."""
    environment = {
        **os.environ,
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "CONTRAPOSE_HOME": str(tmp_path / "home"),
        "CONTRAPOSE_STORE": f"sqlite:///{tmp_path}/answers.sqlite3",
    }
    environment.pop("PREFECT_LOGGING_LEVEL", None)
    command = [sys.executable, "-m", "contrapose.flows.cli", "ui"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if ready := READY.search(line):
            break
    else:
        pytest.fail("".join(said))
    try:
        yield Local(process=process, folder=tmp_path, environment=environment, url=ready[1])
    finally:
        process.terminate()
        process.wait(90)


def until(true: Callable[[], bool], *, seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(1)


def left_of(home: Path) -> list[str]:
    """Command lines of the processes whose environment names a home."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if str(home).encode() in (each / "environ").read_bytes():
                found.append((each / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def test_the_form_starts_a_run_that_leaves_its_report(local: Local) -> None:
    found = local.deployments()
    assert sorted(found) == ["comparison", "nightly", "on-demand", "retraining-check"]
    assert [each["schedule"]["cron"] for each in found["nightly"]["schedules"]] == ["0 2 * * *"]

    run = local.ended(local.start(**ASKED))
    assert run["state"]["type"] == "COMPLETED", run["state"]["message"]
    artifacts = local.post("/artifacts/filter", artifacts={"flow_run_id": {"any_": [run["id"]]}})
    link = next(each["data"] for each in artifacts if (each["key"] or "").endswith("-link"))
    url = link[link.index("(http") + 1 : link.rindex(")")]
    asked = urllib.request.Request(url, headers={"Authorization": basic(local.key)})
    with urllib.request.urlopen(asked, timeout=10) as reply:
        assert b"order_bias" in reply.read()
    (folder,) = local.folder.glob("runs/[!.]*")
    summary = json.loads((folder / "summary.json").read_text())
    assert [each["test_type"] for each in summary["tests"]] == ["add_negation", "order_bias"]
    until(lambda: bool(events(local, "contrapose.finished")))
    assert events(local, "contrapose.finished")[0]["resource"]["contrapose.verdict"] == summary["verdict"]

    wrong = local.ended(local.start(suite="quickstart", model="opnai/gpt"))
    assert wrong["state"]["type"] == "FAILED"
    assert "unknown provider 'opnai'; expected one of" in wrong["state"]["message"]
    with pytest.raises(AssertionError, match="limit"):
        local.start(suite="quickstart", limit=0)


def events(local: Local, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = local.post("/events/filter", filter={"event": {"name": [name]}})["events"]
    return found


def test_deploying_again_makes_no_duplicates_and_keeps_the_alerts(local: Local, tmp_path: Path) -> None:
    block = (
        "from prefect.blocks.notifications import CustomWebhookNotificationBlock as Block\n"
        "Block(name='team', url='http://127.0.0.1:9/', json_data={'text': '{{subject}}'}).save('team')\n"
    )
    environment = local.environment | settings(local.key, 0) | {"PREFECT_API_URL": f"{local.url}/api"}
    subprocess.run([sys.executable, "-c", block], env=environment, check=True, capture_output=True)
    assert "contrapose-failed: created" in local.command("deploy", "--notify", "custom-webhook/team")
    assert "contrapose-failed: as it is" in local.command("deploy", "--suite", "quickstart", "--model", "mock")
    assert local.deployments()["nightly"]["parameters"]["config"]["model"] == "mock"
    automations = local.post("/automations/filter")
    names = [each["name"] for each in automations]
    assert len(names) == len(set(names))
    failed = next(each for each in automations if each["name"] == "contrapose-failed")
    assert [each["type"] for each in failed["actions"]] == ["send-notification"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_all_that_it_started(local: Local, number: signal.Signals) -> None:
    run = local.start(suite="full", model="mock")
    until(lambda: local.run(run)["state"]["type"] == "RUNNING")
    assert len(left_of(local.folder)) >= 4
    local.process.send_signal(number)
    assert local.process.wait(90) == 0
    assert left_of(local.folder) == []
