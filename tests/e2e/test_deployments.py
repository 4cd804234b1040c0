"""`contrapose ui` as people use it: deployments, the form, alerts, a clean end, and Chromium. Slow: `make test-all`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browsers import chromium
from local_ui import LocalUi, local_ui
from newest_run import summary_of
from playwright.sync_api import Locator, Page, expect
from prefect_house import ENDED, processes_of, until

from contrapose.flows.serve.guard import encode_key
from contrapose.flows.serve.prefect_app import make_server_settings
from contrapose.tasks.config.suite_files import load_config

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

CLI = (sys.executable, "-m", "contrapose.flows.cli")
ASKED: dict[str, Any] = {"suite": "quickstart", "model": "mock", "only": ["add_negation", "order_bias"], "limit": 12}


class Local:
    """A running `contrapose ui` in a folder."""

    def __init__(self, ui: LocalUi, folder: Path) -> None:
        self.ui, self.folder = ui, folder

    def post(self, path: str, **body: Any) -> Any:
        return self.ui.call("POST", path, body)

    def deployments(self) -> dict[str, dict[str, Any]]:
        return {each["name"]: each for each in self.post("/deployments/filter")}

    def start(self, deployment: str = "on-demand", **config: Any) -> str:
        own = self.deployments()[deployment]["id"]
        return str(self.post(f"/deployments/{own}/create_flow_run", parameters={"config": config})["id"])

    def state(self, run: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ui.call("GET", f"/flow_runs/{run}")["state"]
        return found

    def ended(self, run: str) -> dict[str, Any]:
        until(lambda: self.state(run)["type"] in ENDED)
        return self.state(run)

    def output_of(self, *words: str) -> str:
        own = self.ui.environment | make_server_settings(self.ui.key, 0) | {"PREFECT_API_URL": f"{self.ui.url}/api"}
        done = subprocess.run(words, cwd=self.folder, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def events(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.post("/events/filter", filter={"event": {"name": [name]}})["events"]
        return found


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    with local_ui([*CLI, "ui", "--work-dir", str(tmp_path)], tmp_path) as ui:
        yield Local(ui, tmp_path)


def test_the_form_starts_a_run_that_leaves_its_report(local: Local) -> None:
    found = local.deployments()
    assert sorted(found) == ["certificate", "comparison", "nightly", "on-demand", "retraining-check"]
    assert [each["schedule"]["cron"] for each in found["nightly"]["schedules"]] == ["0 2 * * *"]

    run = local.start(**ASKED)
    state = local.ended(run)
    assert state["type"] == "COMPLETED", state["message"]
    artifacts = local.post("/artifacts/filter", artifacts={"flow_run_id": {"any_": [run]}})
    link = next(each["data"] for each in artifacts if (each["key"] or "").endswith("-link"))
    url = link[link.index("(http") + 1 : link.rindex(")")]
    asked = urllib.request.Request(url, headers={"Authorization": encode_key(local.ui.key)})
    with urllib.request.urlopen(asked, timeout=10) as reply:
        assert b"order_bias" in reply.read()
    summary = summary_of(local.folder / "runs")
    assert [each["test_type"] for each in summary["tests"]] == ["add_negation", "order_bias"]
    (event,) = until(lambda: local.events("contrapose.finished"))
    assert event["resource"]["contrapose.verdict"] == summary["verdict"]

    certified = local.ended(local.start("certificate", suite="certify", model="mock", limit=6, output="certified"))
    assert certified["type"] == "COMPLETED", certified["message"]
    (page,) = (local.folder / "certified").glob("[!.]*/certificate.html")
    assert "position of equal answers" in page.read_text(encoding="utf-8")

    wrong = local.ended(local.start(suite="quickstart", model="opnai/gpt"))
    assert wrong["type"] == "FAILED"
    assert "unknown provider 'opnai'; expected one of" in wrong["message"]
    with pytest.raises(AssertionError, match="limit"):
        local.start(suite="quickstart", limit=0)


def test_deploying_again_makes_no_duplicates_and_keeps_the_alerts(local: Local) -> None:
    block = (
        "from prefect.blocks.notifications import CustomWebhookNotificationBlock as Block\n"
        "Block(name='team', url='http://127.0.0.1:9/', json_data={'text': '{{subject}}'}).save('team')\n"
    )
    local.output_of(sys.executable, "-c", block)
    assert "contrapose-failed: created" in local.output_of(*CLI, "deploy", "--notify", "custom-webhook/team")
    again = local.output_of(*CLI, "deploy", "--suite", "quickstart", "--model", "mock")
    assert "contrapose-failed: as it is" in again
    assert local.deployments()["nightly"]["parameters"]["config"]["model"] == "mock"
    automations = local.post("/automations/filter")
    names = [each["name"] for each in automations]
    assert len(names) == len(set(names))
    failed = next(each for each in automations if each["name"] == "contrapose-failed")
    assert [each["type"] for each in failed["actions"]] == ["send-notification"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_all_that_it_started(local: Local, number: signal.Signals) -> None:
    run = local.start(suite="full", model="mock")
    until(lambda: local.state(run)["type"] == "RUNNING")
    assert len(processes_of(local.folder)) >= 4
    local.ui.process.send_signal(number)
    assert local.ui.process.wait(90) == 0
    assert processes_of(local.folder) == {}


PATIENCE = 240_000


@pytest.fixture
def page() -> Iterator[Page]:
    with chromium(whole=True) as browser:
        yield browser.new_page(viewport={"width": 1280, "height": 900})


@pytest.fixture
def ui(tmp_path: Path) -> Iterator[LocalUi]:
    """`make ui` in a home of its own."""
    with local_ui(["make", "ui", f"WORK_DIR={tmp_path}"], tmp_path) as found:
        yield found


def field(page: Page, name: str) -> Locator:
    """The first input of the form whose label is this."""
    labelled = f'.p-label__header .schema-form-property__label:text-is("{name} (Optional)")'
    return page.locator(f".schema-form-property:has(> {labelled})").first.locator("textarea, input").first


def test_a_run_is_started_from_the_form_and_leaves_its_artifacts(page: Page, ui: LocalUi, tmp_path: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    # The printed address lets the browser in, once.
    page.goto(ui.link)
    page.goto(f"{ui.url}/deployments")
    for name in ("nightly", "on-demand", "retraining-check", "comparison"):
        expect(page.get_by_role("link", name=name, exact=True).first).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Not Ready")).to_have_count(0)

    page.get_by_role("link", name="on-demand", exact=True).first.click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("Custom run").click()
    field(page, "Model").fill("mock")
    field(page, "Limit").fill("12")
    # The long part is closed until somebody opens it.
    expect(page.get_by_text("Seed (Optional)")).to_have_count(0)
    page.get_by_text("All settings", exact=True).click()
    expect(page.get_by_text("Seed (Optional)")).to_be_visible()
    with page.expect_response(re.compile("create_flow_run")) as created:
        page.get_by_role("button", name="Submit").click()
    # The page of the deployment lists what goes on, and leaves out states whose names are not Prefect's own.
    page.goto(f"{ui.url}/runs/flow-run/{created.value.json()['id']}")
    # Its own page follows it to its end.
    expect(
        page.locator(".page-heading").get_by_text(re.compile("^(Passed gate|Failed gate|Inconclusive)$"))
    ).to_be_visible(timeout=PATIENCE)
    page.locator("#artifacts").click()
    # A card below the window is not built before somebody scrolls.
    page.get_by_role("heading", name="Task runs").hover()
    page.mouse.wheel(0, 1000)
    for name in ("verdicts", "report", "link", "chart"):
        expect(page.get_by_text(f"contrapose-quickstart-mock-{name}")).to_be_visible(timeout=30_000)
    page.get_by_text("contrapose-quickstart-mock-link").click()
    link = page.get_by_role("link", name="report.html").first
    expect(link).to_be_visible()
    page.goto(str(link.get_attribute("href")))
    expect(page.get_by_text("add_negation").first).to_be_visible()
    (folder,) = (tmp_path / "runs").glob("*-quickstart-mock")
    # What nobody touched is the suite's.
    config = json.loads((folder / "manifest.json").read_text())["config"]
    suite, _ = load_config("quickstart", {"model": "mock", "limit": 12})
    assert config == suite.model_dump(mode="json")
    # No telemetry, not from Prefect's pages either.
    assert {urlsplit(url).hostname for url in asked if url.startswith("http")} == {"127.0.0.1"}
