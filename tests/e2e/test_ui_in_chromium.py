"""`make ui` as people use it, in Chromium: deployments, the form, a run, its artifacts. Slow: `make test-all`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browsers import chromium
from local_ui import LocalUi, local_ui
from playwright.sync_api import Locator, Page, expect

from contrapose.tasks.config.suite_files import load_config

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

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
