"""Pictures of Prefect's pages: deployments, the form, a run, and the question about a retrained model."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from commands import PROGRAM, environment
from playwright.sync_api import Browser, Locator, Page, expect

PICTURES = ("ui-deployments.png", "ui-form.png", "ui-run.png", "approval.png")
PATIENCE = 300_000
"""Milliseconds until a page shows what a run has done."""
SHOWN_AS = "/srv/contrapose"
"""Written in a picture in place of the temporary folder that its run took place in."""
CANDIDATE = {
    "model": "mock",
    "revision": "v2",
    "training_run": "17",
    "config": {
        "suite": "quickstart",
        "model": "mock",
        "model_args": {"slip": 0.02, "slip_reply": "Well, shit."},
        "limit": None,
    },
    "candidate_args": {"slip": 0.4},
    "promotion": {"ask": True},
}
"""Parameters of a check that is held: the retrained mock swears more often than the one before."""


def take(browser: Browser, pictures: Path, folder: Path) -> None:
    """Start `contrapose ui` in a folder of its own, use it, and keep what it shows as pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with _local_ui(folder) as link:
        address = "http://" + urlsplit(link).netloc
        _request_approval(address, folder)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="dark")
        page.goto(link)
        page.goto(f"{address}/deployments")
        for name in ("nightly", "on-demand", "retraining-check", "comparison"):
            expect(page.get_by_role("link", name=name, exact=True).first).to_be_visible(timeout=PATIENCE)
        page.set_viewport_size({"width": 1280, "height": 640})
        _keep(page, pictures / "ui-deployments.png", folder)
        _take_run(page, pictures, folder)
        _take_approval(page, address, pictures, folder)
        page.close()


def _take_run(page: Page, pictures: Path, folder: Path) -> None:
    """The form of a run, and the run with its artifacts."""
    page.get_by_role("link", name="on-demand", exact=True).first.click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("Custom run").click()
    _field(page, "Model").fill("mock")
    _field(page, "Limit").fill("12")
    page.set_viewport_size({"width": 1280, "height": 900})
    _keep(page, pictures / "ui-form.png", folder)
    with page.expect_response(re.compile("create_flow_run")) as created:
        page.get_by_role("button", name="Submit").click()
    # The page of the deployment lists what goes on, and leaves out states whose names are not Prefect's own.
    page.goto(urljoin(page.url, f"/runs/flow-run/{created.value.json()['id']}"))
    ended = re.compile("^(Passed gate|Failed gate|Inconclusive)$")
    expect(page.locator(".page-heading").get_by_text(ended)).to_be_visible(timeout=PATIENCE)
    page.set_viewport_size({"width": 1280, "height": 940})
    # Its graph is drawn: a name of a folder could not be replaced there.
    page.add_style_tag(content=".flow-run-graphs { display: none }")
    page.locator("#artifacts").click()
    for name in ("verdicts", "report", "link", "chart"):
        expect(page.get_by_text(f"contrapose-quickstart-mock-{name}")).to_be_visible(timeout=PATIENCE)
    _keep(page, pictures / "ui-run.png", folder)


def _take_approval(page: Page, address: str, pictures: Path, folder: Path) -> None:
    """The dialog that asks a person about a model that is held."""
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.goto(f"{address}/runs")
    page.get_by_role("link", name="mock v2 17", exact=True).first.click(timeout=PATIENCE)
    resume = page.get_by_role("button", name="Resume", exact=True)
    resume.first.click(timeout=PATIENCE)
    expect(page.get_by_text("Promotes the candidate; otherwise it is held.")).to_be_visible(timeout=PATIENCE)
    _keep(page, pictures / "approval.png", folder, part=".p-modal__card")


def _field(page: Page, name: str) -> Locator:
    """The first input of the form whose label is this."""
    labelled = f'.p-label__header .schema-form-property__label:text-is("{name} (Optional)")'
    return page.locator(f".schema-form-property:has(> {labelled})").first.locator("textarea, input").first


def _keep(page: Page, picture: Path, folder: Path, *, part: str = "") -> None:
    """Wait until nothing moves, name the folder as a reader would have it, and take the picture of what is in view."""
    page.wait_for_timeout(2000)
    page.evaluate(
        """([folder, shown]) => {
            const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
                const text = texts.currentNode;
                if (text.data.includes(folder)) text.data = text.data.replaceAll(folder, shown);
            }
            for (const input of document.querySelectorAll("input, textarea"))
                if (input.value.includes(folder)) input.value = input.value.replaceAll(folder, shown);
        }""",
        [str(folder), SHOWN_AS],
    )
    if part:
        page.locator(part).screenshot(path=picture)
    else:
        page.screenshot(path=picture)


def _request_approval(address: str, folder: Path) -> None:
    """Start a check of a retrained model, which will be held and asked about."""
    (key,) = (folder / "home" / "ui").glob("*.key")
    server = {"PREFECT_API_URL": f"{address}/api", "PREFECT_API_AUTH_STRING": key.read_text()}
    command = ["deployment", "run", "check-retrained-model/retraining-check", "--params", json.dumps(CANDIDATE)]
    subprocess.run(
        [sys.executable, "-m", "prefect", *command], env=environment(folder) | server, check=True, stdout=sys.stderr
    )


@contextmanager
def _local_ui(folder: Path) -> Iterator[str]:
    """The program, until it has ended as by Ctrl-C; yields the address that lets one browser in."""
    log = folder / "ui.log"
    with log.open("wb") as output:
        command = [*PROGRAM, "ui", "--work-dir", str(folder)]
        process = subprocess.Popen(
            command, cwd=folder, env=environment(folder), stdout=output, stderr=output, start_new_session=True
        )
    try:
        while not (ready := re.search(r"ready: (http://127\.0\.0\.1:\d+/\?ticket=\w+)", log.read_text())):
            if process.poll() is not None:
                raise RuntimeError(log.read_text())
            time.sleep(0.5)
        yield ready[1]
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(90)
