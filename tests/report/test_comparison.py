"""A comparison in terminal, Markdown, JSON and in a browser: whole, narrow, and safe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from attacks import ATTACKS, HOSTILE, HUGE, steering
from axe_playwright_python.sync_playwright import Axe
from factories import row
from paged import GLOBALS, Opened, opened
from playwright.sync_api import Browser, expect
from terminal import printed as in_terminal

from contrapose.tasks.core.comparison import (
    ComparedRate,
    Comparison,
    Contender,
    Contest,
    Difference,
    Flip,
    FlipCount,
    Flips,
    Pair,
    RankedModel,
    Standing,
    Verdict,
)
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.report.comparison_markdown import render
from contrapose.tasks.report.comparison_page import render as render_page
from contrapose.tasks.report.comparison_page import write_comparison
from contrapose.tasks.report.console import print_comparison


def compared(text: str = "mock", *, test: str = "order_bias", **changes: Any) -> Comparison:
    """Two models in one test: the baseline, and one that cannot be told apart from it."""
    rate, verdict = ComparedRate(value=0.8, interval=(0.652, 0.895)), Verdict.__args__[3]  # type: ignore[attr-defined]
    found = Difference(
        value=-0.05, interval=(-0.165, 0.042), bounds=(-0.14, 0.017), p=0.5, adjusted=0.5, method="exact McNemar test"
    )
    pair = Pair(
        first="embedded",
        second=text,
        cases=40,
        clusters=40,
        only_first=3,
        only_second=1,
        neither=0,
        rates=(rate, rate),
        difference=found,
        extremes=(-0.2, 0.1),
        verdict=verdict,
        reason="With 95 % confidence the difference is between -16.5 points and +4.2 points.",
    )
    names = (text, "embedded")
    base = Comparison(
        schema_version=1,
        verdict=verdict,
        reason=f"Cannot tell: embedded in {test}.",
        baseline=text,
        margin=0.05,
        models=[
            Contender(name=name, model=name, revision=text, run_id=text, folder=text, verdict="fail") for name in names
        ],
        leaderboard=[RankedModel(name=name, rank=1, mean_rank=1.5, ranks={test: 1}) for name in names],
        tests=[
            Contest(
                test_type=test,
                cases=44,
                common=40,
                standings=[Standing(name=name, rank=1, asked=44, scored=40, rate=rate, gate=0.7) for name in names],
                pairs=[pair],
            )
        ],
        warnings=[text],
    )
    return Comparison(**{**base, **changes})


def printed(comparison: Comparison, **options: Any) -> str:
    return in_terminal(comparison, show=print_comparison, **options)


def test_the_terminal_shows_rates_differences_and_verdicts() -> None:
    text = printed(compared())
    assert "CANNOT TELL  Cannot tell: embedded in order_bias." in text
    assert "80 [65.2, 89.5]" in text
    assert "-5 [-16.5, +4.2]   CANNOT TELL" in text
    assert "order_bias: 44 cases, 40 scored for every model" in text


def test_cases_that_were_not_scored_for_both_are_told() -> None:
    told = (
        "3 cases scored for embedded alone, 1 case scored for mock alone; these could move the difference to between "
        "-20 and +10 points"
    )
    assert told in " ".join(printed(compared()).split())
    assert told in render(compared()).decode()


def test_it_fits_eighty_columns() -> None:
    long = compared("openai/an-organisation/a-model-with-a-rather-long-name", test="a_probe_with_a_rather_long_name")
    lines = printed(Comparison(**{**long, "models": []})).splitlines()
    assert max(map(len, lines)) <= 80


def test_a_terminal_without_unicode_shows_it_too() -> None:
    assert "CANNOT TELL" in printed(compared("modèle"), encoding="ascii").replace("─", "-")


@pytest.mark.parametrize("kind", ATTACKS)
def test_hostile_texts_steer_no_terminal(kind: str) -> None:
    for text in ATTACKS[kind]:
        found = printed(compared(text, test=text))
        assert not steering(found)


@pytest.mark.parametrize("kind", ATTACKS)
def test_hostile_texts_are_text_in_markdown(kind: str) -> None:
    for text in ATTACKS[kind]:
        found = render(compared(text, test=text)).decode()
        for mark in ("<script", "<img", "<svg", "](", "![", "<b>", "`", "@someone", "#123", "https://"):
            assert mark not in found
        assert "\x1b" not in found


def test_the_markdown_says_what_its_words_mean() -> None:
    text = render(compared()).decode()
    assert "The margin is 5 points." in text
    for verdict in ("better", "not worse", "worse", "cannot tell"):
        assert f"- {verdict}: " in text


def test_both_files_are_written_and_written_again(tmp_path: Path) -> None:
    for _ in range(2):
        write_comparison(tmp_path / "new", compared(), Flips())
    assert json.loads((tmp_path / "new" / "comparison.json").read_text())["baseline"] == "mock"
    assert (tmp_path / "new" / "comparison.md").read_bytes() == render(compared())


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="--out"):
        write_comparison(tmp_path / "file", compared(), Flips())


def flip(name: str, *, test: str = "order_bias", lost: bool = True, said: str = "Yes.", **columns: Any) -> Flip:
    texts = {"original": "The sky is blue.", "test_case": "The sky is not blue.", **columns}
    sides = (
        row(sample_id=name, case_id=name, test_type=test, actual_result=f"baseline {said}", **texts),
        row(sample_id=name, case_id=name, test_type=test, actual_result=f"model {said}", **texts),
    )
    return Flip(test=test, model="embedded", lost=lost, rows=sides)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 lost and 10 gained of one test, 10 lost of another; in one reply a toxic word."""
    shown = [
        *(flip(f"sample-{number}") for number in range(60)),
        *(flip(f"sample-{number}", lost=False) for number in range(60, 70)),
        *(flip(f"sample-{number}", test="option_order", said="shit") for number in range(70, 80)),
    ]
    base, other = compared(), compared(test="option_order")
    counts = {("order_bias", "embedded"): FlipCount(60, 10), ("option_order", "embedded"): FlipCount(12, 0)}
    both = Comparison(**{**base, "tests": [*base["tests"], *other["tests"]]})
    file = tmp_path_factory.mktemp("page") / "comparison.html"
    file.write_bytes(render_page(both, Flips(shown=shown, counts=counts)))
    return file


def current(opened_page: Opened) -> str:
    return opened_page.page.locator("#rows .current .who > span").first.inner_text()


def test_the_matrix_shows_rate_gate_difference_and_what_flipped(browser: Browser, page: Path) -> None:
    with opened(browser, page) as shown:
        text = shown.page.locator(".matrix").inner_text()
        for part in ("80%", "gate 70%", "65.2-89.5%", "-5 [-16.5, +4.2] points", "cannot tell", "60 lost", "10 gained"):
            assert part in text
        assert shown.page.locator(".matrix .meter").count() == 4
        assert "This page shows 80 of them" in shown.page.locator("#flips").inner_text()
        assert shown.faults == []


def test_cases_are_filtered_by_test_direction_and_words_and_the_address_keeps_it(browser: Browser, page: Path) -> None:
    with opened(browser, page) as shown:
        view = shown.page
        assert shown.status() == "1–50 of 80"
        view.select_option("#direction", "gained")
        assert shown.status() == "1–10 of 10"
        assert set(view.locator("#rows .who .pill").all_inner_texts()) == {"gained"}
        view.select_option("#direction", "")
        view.select_option("#test", label="option_order")
        assert shown.ids() == [f"sample-{number}" for number in range(70, 80)]
        view.fill("#search", "SAMPLE-7")
        expect(view.locator("#status")).to_have_text("1–10 of 10")
        view.fill("#search", "sample-77")
        expect(view.locator("#status")).to_have_text("1–1 of 1")
        address = view.url
        assert address.endswith("#flips?search=sample-77&test=option_order")
        view.goto("about:blank")
        view.goto(address)
        view.wait_for_selector("html.loaded", state="attached")
        assert shown.ids() == ["sample-77"]
        view.fill("#search", "nowhere")
        expect(view.locator("#rows")).to_contain_text("No case matches.")


def test_a_link_of_the_matrix_leads_to_its_cases(browser: Browser, page: Path) -> None:
    with opened(browser, page) as shown:
        shown.page.get_by_role("link", name="10 gained").click()
        expect(shown.page.locator("#status")).to_have_text("1–10 of 10")
        assert shown.page.input_value("#direction") == "gained"
        assert shown.faults == []


def test_keys_move_between_cases_and_pages(browser: Browser, page: Path) -> None:
    with opened(browser, page) as shown:
        view = shown.page
        for key, name in (("j", "sample-0"), ("j", "sample-1"), ("k", "sample-0"), ("k", "sample-0")):
            view.keyboard.press(key)
            assert current(shown) == name
        assert view.url.endswith("#flips?case=1")
        view.get_by_role("button", name="Next").click()
        assert shown.status() == "51–80 of 80"
        view.keyboard.press("j")
        assert current(shown) == "sample-50"
        assert shown.faults == []


def test_both_models_stand_side_by_side_with_the_change_marked(browser: Browser, page: Path) -> None:
    with opened(browser, page) as shown:
        case = shown.page.locator("#rows tbody").first
        assert case.locator("ins").inner_text().strip() == "not"
        assert "baseline Yes." in case.locator(".before").inner_text()
        assert "model Yes." in case.locator(".after").inner_text()
        assert case.locator(".before .pill").inner_text() == "pass"
        assert case.locator(".after .pill").inner_text() == "fail"


def test_toxic_words_are_revealed_by_the_switch_alone(browser: Browser, page: Path) -> None:
    with opened(browser, page) as shown:
        shown.page.select_option("#test", label="option_order")
        body = shown.page.locator("body")
        assert "shit" not in body.inner_text()
        assert "model s***" in body.inner_text()
        shown.page.check("#reveal")
        assert "model shit" in body.inner_text()


def test_the_first_cases_are_there_without_a_script(browser: Browser, page: Path) -> None:
    context = browser.new_context(offline=True, java_script_enabled=False)
    view = context.new_page()
    view.goto(page.as_uri())
    assert view.locator("#rows tbody").count() == 20
    assert view.locator("noscript").count() == 1
    context.close()


@pytest.mark.parametrize(
    "texts", [HOSTILE[::32], pytest.param([*HOSTILE, *HUGE], marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_nothing_hostile_runs_and_nothing_breaks(browser: Browser, tmp_path: Path, texts: Sequence[str]) -> None:
    file = tmp_path / "comparison.html"
    file.write_bytes(render_page(compared(), Flips()))
    with opened(browser, file) as shown:
        names = shown.page.evaluate(GLOBALS)
        for text in texts:
            columns = {**dict.fromkeys(("original", "test_case", "expected_result", "reason", "options"), text)}
            case = flip(text, test=text, said=text, **columns)
            flips = Flips(shown=[case], counts={(text, "embedded"): FlipCount(1, 0)})
            file.write_bytes(render_page(compared(text, test=text), flips))
            shown.page.reload()
            shown.page.wait_for_selector("html.loaded", state="attached")
            assert shown.page.locator("#rows tbody").count() == 1, ascii(text[:100])
            assert shown.faults == [], ascii(text[:100])
            assert shown.page.evaluate(GLOBALS) == names, ascii(text[:100])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_bars_anybody_from_it(
    browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    shown_flips = [flip("one"), flip("two", lost=False, said="shit")]
    counts = {("order_bias", "embedded"): FlipCount(1, 1)}
    (tmp_path / "comparison.html").write_bytes(render_page(compared(), Flips(shown=shown_flips, counts=counts)))
    with opened(browser, tmp_path / "comparison.html", scheme=scheme, bypass_csp=True) as shown:
        shown.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        broken = Axe().run(shown.page).response["violations"]
        assert not [rule for rule in broken if rule["impact"] in ("serious", "critical")]


def test_it_fits_a_phone(browser: Browser, page: Path) -> None:
    with opened(browser, page, viewport={"width": 390, "height": 800}) as shown:
        assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
