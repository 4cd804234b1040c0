"""What `contrapose view` serves: files below its folder, on this machine alone; and its pages in a browser."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Literal
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from axe_playwright_python.sync_playwright import Axe
from finished import rows_from, write_run
from local_ui import ask as send
from past_runs import past_run, past_test
from playwright.sync_api import Browser, expect
from run_folders import put_refused, put_run

from contrapose.flows.cli.view import choose_folder
from contrapose.flows.serve.guard import Guard, encode_key
from contrapose.flows.serve.report_server import ServedSite, serve_site
from contrapose.flows.serve.view.site import Viewer
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.history.dataset import append_run

RUN = "20260301T083000Z-harbour-a"


def runs_in(where: Path) -> Path:
    """A folder of one run beside a secret."""
    (where / "secret.html").write_text("secret")
    (where / "runs-2").mkdir()
    (where / "runs-2" / "report.html").write_text("secret")
    found = where / "runs"
    files = {
        "report.html": "<p>fine</p>",
        "report.md": "# fine",
        "results.csv": "a",
        "x.svg": "<svg/>",
        ".env": "secret",
    }
    folder = put_run(found, RUN, files=files)
    (folder / ".git").mkdir()
    (folder / ".git" / "config.txt").write_text("secret")
    (folder / "out.html").symlink_to(where / "secret.html")
    (folder / "away").symlink_to(where / "runs-2")
    (folder / "veiled.txt").symlink_to(folder / ".env")
    (folder / "inside.html").symlink_to(folder / "report.html")
    os.mkfifo(folder / "pipe.html")
    return found


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return runs_in(tmp_path)


KEY = "contrapose:of-the-tests"


def serving(runs: Path) -> AbstractContextManager[ServedSite]:
    return serve_site(Viewer(root=runs.resolve(), history=str(runs / "history")), guard=Guard(key=KEY, port=0))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(runs_in(tmp_path_factory.mktemp("served"))) as served:
        yield served.url


def ask(url: str, path: str, *, method: str = "GET") -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers, with the key; the path goes out as it is."""
    return send(url, path, method=method, Authorization=encode_key(KEY))


@pytest.mark.parametrize(
    "path", ["/", "/history", "/?page=1", f"/files/{RUN}/report.html", f"/files/{RUN}/inside.html"]
)
def test_pages_and_reports_are_served(url: str, path: str) -> None:
    status, body, headers = ask(url, path)
    assert status == 200
    assert body
    assert headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        *("/files/../secret.html", "/files/%2e%2e/secret.html", "/files/..%2fsecret.html", "/files/..%5csecret.html"),
        *(f"/files/{RUN}/../../secret.html", f"/files/{RUN}/%2e%2e/%2e%2e/secret.html", "/files//etc/hostname"),
        *(
            "/files/../runs-2/report.html",
            "/files/%2fetc%2fhostname",
            "/files/",
            "/files",
            f"/files/{RUN}",
            f"/files/{RUN}/",
        ),
        *(f"/files/{RUN}/out.html", f"/files/{RUN}/away/report.html", f"/files/{RUN}/veiled.txt"),
        *(f"/files/{RUN}/.env", f"/files/{RUN}/%2eenv", f"/files/{RUN}/.git/config.txt", f"/files/{RUN}/pipe.html"),
        *(
            f"/files/{RUN}/report.html%00.txt",
            f"/files/{RUN}/%ff.html",
            f"/files/{RUN}/{'x' * 5000}",
            f"/files/{RUN}/none.html",
        ),
        *(f"/{RUN}/report.html", "/favicon.ico", "//evil.example/", "http://evil.example/", "*", "/history/x"),
    ],
)
def test_nothing_else_is(url: str, path: str) -> None:
    status, body, _ = ask(url, path)
    assert status == 404
    assert b"secret" not in body


@pytest.mark.parametrize("path", ["/", "/history", "/none", f"/files/{RUN}/report.html", f"/files/{RUN}/report.md"])
def test_every_answer_carries_the_security_headers(url: str, path: str) -> None:
    _, _, headers = ask(url, path)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_the_page_of_a_run_has_an_origin_of_its_own(url: str) -> None:
    headers = ask(url, f"/files/{RUN}/report.html")[2]
    assert headers["content-security-policy"].endswith("; sandbox allow-scripts allow-downloads")
    assert "cross-origin-opener-policy" not in headers
    assert ask(url, "/")[2]["cross-origin-opener-policy"] == "same-origin"


def test_our_own_pages_allow_one_style_sheet_and_no_script(url: str) -> None:
    policy = ask(url, "/")[2]["content-security-policy"]
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert "style-src 'sha256-" in policy


def test_what_a_browser_might_run_is_kept_as_a_file(url: str) -> None:
    for name, kind in (("results.csv", "application/octet-stream"), ("x.svg", "application/octet-stream")):
        _, _, headers = ask(url, f"/files/{RUN}/{name}")
        assert (headers["content-type"], headers["content-disposition"]) == (kind, "attachment")
    assert ask(url, f"/files/{RUN}/report.md")[2]["content-type"] == "text/plain; charset=utf-8"


def test_only_reading_is_allowed(url: str) -> None:
    status, body, headers = ask(url, "/", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 1000
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert ask(url, "/", method=method)[0] == 405


def test_a_run_opens_at_its_report_and_a_refused_one_at_its_evidence(runs: Path) -> None:
    assert choose_folder(str(runs)) == (runs, "/")
    assert choose_folder(str(runs / RUN)) == (runs, f"/files/{RUN}/report.html")
    refused = put_refused(runs, f"{RUN}-refused")
    assert choose_folder(str(refused)) == (runs, f"/files/{RUN}-refused/validation.html")


def test_what_cannot_be_served_is_said(runs: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        choose_folder(str(runs / "none"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with (
            pytest.raises(ConfigError, match="cannot be used"),
            serve_site(lambda _: None, port=taken.getsockname()[1]),
        ):
            pass
    with pytest.raises(ConfigError, match="cannot be used"), serve_site(lambda _: None, port=70_000):
        pass


def test_the_command_tells_its_address_and_ends_with_ctrl_c(runs: Path) -> None:
    command = [sys.executable, "-m", "contrapose.flows.cli", "view", str(runs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            # What it prints is followed as a browser does: to the page, which is then shown for the cookie.
            browser = build_opener(HTTPCookieProcessor())
            assert b"harbour" in browser.open(line.split()[1], timeout=10).read()
            process.send_signal(signal.SIGINT)
            rest, said = process.communicate(timeout=20)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
    assert (process.returncode, rest, said) == (0, "stopped\n", "")


LET_IN = {"Authorization": encode_key(KEY)}
ATTACK = "\"><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Some runs with one hostile text in every place, and their history."""
    runs = tmp_path_factory.mktemp("runs")
    for day, model in enumerate(["hf/example/tiny", "hf/example/tiny", ATTACK, ATTACK]):
        tests = [past_test(pass_rate=0.6 + day / 10), past_test(test_type=ATTACK, verdict="fail")]
        append_run(str(runs / "history"), past_run(day, model=model, tests=tests), key=str(day))
        put_run(
            runs,
            f"2026030{day + 1}T083000Z-harbour-x",
            model={"id": model},
            files={"report.html": ATTACK, "report.md": f"# Report\n\n| a | b |\n|---|--:|\n| {ATTACK} | 1 |\n"},
        )
    wide = f"# Report\n\n| what | {' | '.join('ab')} |\n|---|---|---|\n| prompt | {'long ' * 40} | {'x' * 60} |\n"
    put_run(runs, "20260305T083000Z-harbour-x", files={"report.md": wide})
    with serving(runs) as served:
        yield served.url


def test_the_pages_are_quiet_fit_a_phone_and_load_nothing_else(site: str, browser: Browser) -> None:
    said: list[str] = []
    asked: list[str] = []
    page = browser.new_context(viewport={"width": 390, "height": 800}, extra_http_headers=LET_IN).new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site)
    assert page.title() == "Runs – Contrapose"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="History").click()
    expect(page).to_have_title("History – Contrapose")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("svg.chart").count() == 4
    assert page.locator("h1").evaluate("each => getComputedStyle(each).fontWeight") == "600"
    assert not said
    assert all(each.startswith((site, "data:")) for each in asked)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/history", "/?verdict=fail", "/text/20260301T083000Z-harbour-x/report.md"])
def test_nothing_bars_anybody_from_them(
    site: str, browser: Browser, path: str, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_context(color_scheme=scheme, bypass_csp=True, extra_http_headers=LET_IN).new_page()
    page.goto(site + path)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = Axe().run(page).response["violations"]
    assert not [each for each in found if each["impact"] in ("serious", "critical")]


def test_a_line_is_a_link_and_its_text_is_shown_as_a_page(site: str, browser: Browser) -> None:
    said: list[str] = []
    page = browser.new_context(extra_http_headers=LET_IN).new_page()
    page.on("console", lambda message: said.append(message.text))
    page.goto(site)
    page.locator(".runs tbody tr").last.locator("td").nth(2).click(force=True)
    assert page.url.endswith("/report.html")
    page.go_back()
    said.clear()
    page.get_by_role("link", name="report.md").last.click()
    assert page.title().endswith("/ report.md – Contrapose")
    assert "<script>" in page.locator(".read td").first.inner_text()
    assert page.locator(".read script, .read img").count() == 0
    assert page.locator(".read td.number").evaluate("cell => getComputedStyle(cell).textAlign") == "right"
    assert not said


def test_a_phone_breaks_no_word_of_a_table(site: str, browser: Browser) -> None:
    page = browser.new_context(viewport={"width": 390, "height": 800}, extra_http_headers=LET_IN).new_page()
    page.goto(f"{site}/text/20260305T083000Z-harbour-x/report.md")
    assert page.locator(".read th").first.evaluate("cell => cell.scrollHeight < 40")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_two_ticked_runs_are_compared(browser: Browser, tmp_path: Path) -> None:
    for day, passed in enumerate([[True] * 40, [True] * 20 + [False] * 20], start=1):
        name = f"2026030{day}T083000Z-harbour-x"
        folder = write_run(tmp_path / name, rows_from(passed), model=f"hf/day-{day}")
        summary = json.loads((folder / "summary.json").read_text())
        put_run(tmp_path, name, tests=[{**summary["tests"][0], "pass_rate": 1.0}], model=summary["model"], run_id=name)
    said: list[str] = []
    with serving(tmp_path) as served:
        page = browser.new_context(extra_http_headers=LET_IN).new_page()
        page.on("console", lambda message: said.append(message.text))
        page.goto(served.url)
        for box in page.get_by_role("checkbox").all():
            box.check()
        page.get_by_role("button", name="Compare the ticked runs").click()
        page.wait_for_selector("html.loaded", state="attached")
        assert page.locator("h1 .badge").inner_text() == "worse"
        assert page.locator(".run dd").first.inner_text() == "hf/day-1"
        assert page.locator("#status").inner_text() == "1–20 of 20"
        page.go_back()
        page.select_option("select[name=model]", "hf/day-2")
        page.get_by_role("button", name="Filter").click()
        assert page.locator(".runs tbody tr").count() == 1
        assert "1 run of 2" in page.locator("main").inner_text()
    assert not said
