"""The pages of `contrapose view` in a browser: readable by everybody, quiet, and without any request elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from finished import rows_from, write_run
from past_runs import past_run, past_test
from playwright.sync_api import Browser, expect
from run_folders import put_run

from contrapose.flows.serve.guard import Guard, basic
from contrapose.flows.serve.report_server import serving_site
from contrapose.flows.serve.view.site import Viewer
from contrapose.tasks.history.dataset import append

KEY = "contrapose:of-the-tests"
LET_IN = {"Authorization": basic(KEY)}
ATTACK = "\"><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Some runs with one hostile text in every place, and their history."""
    runs = tmp_path_factory.mktemp("runs")
    for day, model in enumerate(["hf/example/tiny", "hf/example/tiny", ATTACK, ATTACK]):
        tests = [past_test(pass_rate=0.6 + day / 10), past_test(test_type=ATTACK, verdict="fail")]
        append(str(runs / "history"), past_run(day, model=model, tests=tests), key=str(day))
        put_run(
            runs,
            f"2026030{day + 1}T083000Z-harbour-x",
            model={"id": model},
            files={"report.html": ATTACK, "report.md": f"# Report\n\n| a | b |\n|---|--:|\n| {ATTACK} | 1 |\n"},
        )
    wide = f"# Report\n\n| what | {' | '.join('ab')} |\n|---|---|---|\n| prompt | {'long ' * 40} | {'x' * 60} |\n"
    put_run(runs, "20260305T083000Z-harbour-x", files={"report.md": wide})
    with serving_site(
        Viewer(root=runs.resolve(), history=str(runs / "history")), guard=Guard(key=KEY, port=0)
    ) as served:
        yield served.url


def test_the_pages_are_quiet_fit_a_phone_and_load_nothing_else(url: str, browser: Browser) -> None:
    said: list[str] = []
    asked: list[str] = []
    page = browser.new_context(viewport={"width": 390, "height": 800}, extra_http_headers=LET_IN).new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    assert page.title() == "Runs – Contrapose"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="History").click()
    expect(page).to_have_title("History – Contrapose")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("svg.chart").count() == 4
    assert page.locator("h1").evaluate("each => getComputedStyle(each).fontWeight") == "600"
    assert not said
    assert all(each.startswith((url, "data:")) for each in asked)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/history", "/?verdict=fail", "/text/20260301T083000Z-harbour-x/report.md"])
def test_nothing_bars_anybody_from_them(
    url: str, browser: Browser, path: str, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_context(color_scheme=scheme, bypass_csp=True, extra_http_headers=LET_IN).new_page()
    page.goto(url + path)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = Axe().run(page).response["violations"]
    assert not [each for each in found if each["impact"] in ("serious", "critical")]


def test_a_line_is_a_link_and_its_text_is_shown_as_a_page(url: str, browser: Browser) -> None:
    said: list[str] = []
    page = browser.new_context(extra_http_headers=LET_IN).new_page()
    page.on("console", lambda message: said.append(message.text))
    page.goto(url)
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


def test_a_phone_breaks_no_word_of_a_table(url: str, browser: Browser) -> None:
    page = browser.new_context(viewport={"width": 390, "height": 800}, extra_http_headers=LET_IN).new_page()
    page.goto(f"{url}/text/20260305T083000Z-harbour-x/report.md")
    assert page.locator(".read th").first.evaluate("cell => cell.scrollHeight < 40")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_two_ticked_runs_are_compared(browser: Browser, tmp_path: Path) -> None:
    for day, passed in enumerate([[True] * 40, [True] * 20 + [False] * 20], start=1):
        name = f"2026030{day}T083000Z-harbour-x"
        folder = write_run(tmp_path / name, rows_from(passed), model=f"hf/day-{day}")
        summary = json.loads((folder / "summary.json").read_text())
        put_run(tmp_path, name, tests=[{**summary["tests"][0], "pass_rate": 1.0}], model=summary["model"], run_id=name)
    said: list[str] = []
    with serving_site(
        Viewer(root=tmp_path.resolve(), history=str(tmp_path / "history")), guard=Guard(key=KEY, port=0)
    ) as served:
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
