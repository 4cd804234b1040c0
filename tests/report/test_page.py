"""The page in a browser: it works from disk alone, for hands, keyboards and screen readers."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from factories import control, frame, outcome, report, row, summary
from hostile import HOSTILE, HUGE, everything, hostile_report
from paged import GLOBALS, Opened, opened, write
from playwright.sync_api import Browser, expect

from contrapose.tasks.report.base import Report, SentPrompts
from contrapose.tasks.report.html import sample_data
from contrapose.tasks.text.cleaning import show_hidden
from contrapose.tasks.text.diff import mark_differences

SAMPLES = 120

WORDS = "the sky is blue isn't eats does not eat eating 中文字 x\ny “quoted” f*** can't é ß 😀 shit shitty 12 1,000 ."


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 samples of two tests and a control; in every tenth reply a toxic word."""
    rows = [
        row(
            sample_id=f"sample-{number}",
            test_type="add_negation" if number % 2 else "add_toxic_words",
            original=f"Number {number} is here.",
            test_case=f"Number {number} is not here.",
            actual_result="This is shit." if number % 10 == 0 else f"Reply {number}.",
            eval_score=np.nan if number == 7 else float((number * 37) % SAMPLES),
            reason="Told.",
            **{"pass": None if number == 7 else number % 3 > 0},
        )
        for number in range(SAMPLES)
    ]
    rows.append(row(sample_id="twin", control=True, case_id="add_negation/twin/control"))
    tests = [outcome(control=control()), outcome(test_type="add_toxic_words")]
    found = report(results=frame(rows), summary=summary(tests=tests))
    return write(found, tmp_path_factory.mktemp("page") / "report.html")


def test_search_filters_sorting_and_pages_work_without_a_network(browser: Browser, page: Path) -> None:
    with opened(browser, page) as found:
        view = found.page
        assert found.status() == "1–50 of 120"
        assert set(view.locator("#rows .what .pill").all_inner_texts()[:40]) == {"fail"}
        view.select_option("#sort", "run")
        view.fill("#search", "NOT  number 11")
        expect(view.locator("#status")).to_have_text("1–11 of 11")
        assert found.ids() == ["sample-11", *(f"sample-{number}" for number in range(110, 120))]
        view.fill("#search", "sample-7")
        expect(view.locator("#status")).to_have_text("1–11 of 11")
        view.fill("#search", "nowhere")
        expect(view.locator("#rows")).to_contain_text("No sample matches.")
        view.fill("#search", "")
        view.select_option("#outcome", "unscored")
        assert found.ids() == ["sample-7"]
        view.select_option("#outcome", "")
        view.select_option("#test", "add_negation")
        assert found.status() == "1–50 of 60"
        view.select_option("#test", "")
        view.select_option("#sort", "high")
        assert found.page.locator("#rows .score").nth(1).inner_text() == "119"
        view.select_option("#sort", "id")
        assert found.ids()[:3] == ["sample-0", "sample-1", "sample-2"]
        view.select_option("#sort", "outcome")
        assert set(view.locator("#rows .what .pill").all_inner_texts()[:40]) == {"fail"}
        view.check("#controls")
        assert found.status() == "1–50 of 121"
        view.click("#test-2 a.jump")
        assert view.input_value("#test") == "add_toxic_words"
        assert found.status() == "1–50 of 60"
        assert found.faults == []


def test_rows_without_a_score_stand_last_in_both_directions(browser: Browser, page: Path) -> None:
    with opened(browser, page) as found:
        for sort in ("low", "high"):
            found.page.select_option("#sort", sort)
            found.page.click("nav [data-page=last]")
            assert found.ids()[-1] == "sample-7"


def test_pages_turn_by_keyboard_and_keep_the_focus(browser: Browser, page: Path) -> None:
    with opened(browser, page) as found:
        found.page.focus("nav [data-page=next]")
        for key, status in (
            ("Enter", "51–100 of 120"),
            ("ArrowRight", "101–120 of 120"),
            ("ArrowRight", "101–120 of 120"),
            ("Home", "1–50 of 120"),
            ("ArrowLeft", "1–50 of 120"),
            ("End", "101–120 of 120"),
        ):
            found.page.keyboard.press(key)
            assert found.status() == status
            assert found.page.evaluate("document.activeElement.dataset.page") == "next"
        assert found.page.get_attribute("nav [data-page=next]", "aria-disabled") == "true"


def test_toxic_words_are_revealed_by_the_switch_alone(browser: Browser, page: Path) -> None:
    with opened(browser, page) as found:
        body = found.page.locator("body")
        found.page.fill("#search", "shit")
        expect(found.page.locator("#status")).to_have_text("1–12 of 12")
        assert "shit" not in body.inner_text()
        assert "This is s***." in body.inner_text()
        found.page.check("#reveal")
        assert "This is shit." in body.inner_text()
        found.page.uncheck("#reveal")
        assert "shit" not in body.inner_text()
        assert found.faults == []


def test_the_address_keeps_what_is_shown(browser: Browser, page: Path) -> None:
    with opened(browser, page) as found:
        view = found.page
        view.select_option("#test", "add_negation")
        view.select_option("#outcome", "pass")
        view.select_option("#sort", "high")
        view.keyboard.press("Escape")
        view.locator("#samples").focus()
        view.keyboard.press("j")
        view.keyboard.press("j")
        view.fill("#search", "")
        address, ids = view.url, found.ids()
        assert address.endswith(
            f"#samples?test=add_negation&outcome=pass&sort=high&sample={int(current(found)[7:]) + 1}"
        )
        shown = current(found)
        view.goto("about:blank")
        view.goto(address)
        view.wait_for_selector("html.loaded", state="attached")
        assert found.ids() == ids
        assert current(found) == shown
        assert view.input_value("#sort") == "high"
        assert [fault for fault in found.faults if "about:blank" not in fault and "#samples" not in fault] == []


def test_an_address_that_names_nothing_there_is_passed_over(browser: Browser, page: Path) -> None:
    with opened(browser, page) as found:
        found.page.evaluate("location.hash = '#samples?test=<b>&outcome=x&sort=y&sample=-3&sample=999999'")
        expect(found.page.locator("#status")).to_have_text("1–50 of 120")
        assert found.page.input_value("#sort") == "outcome"
        assert found.faults == []


def test_keys_move_between_samples_but_not_while_one_types(browser: Browser, page: Path) -> None:
    with opened(browser, page) as found:
        view, ids = found.page, found.ids()
        for key, place in (("j", 0), ("j", 1), ("k", 0), ("k", 0)):
            view.keyboard.press(key)
            assert current(found) == ids[place]
        for _ in range(50):
            view.keyboard.press("j")
        assert found.status() == "51–100 of 120"
        assert current(found) == found.ids()[0]
        view.focus("#search")
        view.keyboard.press("j")
        assert view.input_value("#search") == "j"
        assert found.faults == []


def test_a_sample_is_copied_as_markdown_masked(browser: Browser, tmp_path: Path) -> None:
    rows = [row(actual_result="``` <b>shit</b>", options="A. yes\nB. no")]
    with opened(browser, write(report(results=frame(rows)), tmp_path / "report.html")) as found:
        view = found.page
        view.evaluate("navigator.clipboard.writeText = async (text) => { document.title = text; }")
        view.click("#rows .copy")
        expect(view.locator("#rows .copy")).to_have_text("Copied")
        copied = view.evaluate("document.querySelector('title').textContent")
        assert "**reply to the changed prompt**\n\n````\n``` <b>s***</b>\n````" in copied
        assert "**options**\n\n```\nA. yes\nB. no\n```" in copied
        assert view.locator("#rows .context").inner_text() == "options\nA. yes\nB. no"
        assert found.faults == []


def test_the_clearest_failure_stands_above_the_fold(browser: Browser, page: Path) -> None:
    with opened(browser, page, viewport={"width": 1280, "height": 900}) as found:
        box = found.page.locator(".hero .happened").first.bounding_box()
        assert box is not None
        assert box["y"] < 500
        assert found.page.locator(".hero ins").first.inner_text().strip() == "not"


def current(found: Opened) -> str:
    """Id of the sample that the keys have reached."""
    return found.page.locator("#rows .current .who > span").inner_text()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1280),
        ("dark", 390),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("dark", 1280), ("light", 390))),
    ],
)
def test_axe_finds_nothing_serious(
    browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    file = write(told(), tmp_path / "report.html")
    with opened(browser, file, scheme=scheme, viewport={"width": width, "height": 900}) as found:
        found.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        violations = Axe().run(found.page).response["violations"]
        grave = [
            (each["id"], each["nodes"][0]["html"]) for each in violations if each["impact"] in ("serious", "critical")
        ]
        assert grave == []
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width


def test_exactly_what_was_sent_is_shown_on_request_masked(browser: Browser, tmp_path: Path) -> None:
    rows = [row(sample_id="one", original="Shit is blue.", test_case="Shit is not blue.", case_id="one"), row()]
    sent = SentPrompts(case_id="one", original="Say:\nShit is blue.\nA. yes", changed="Another text.")
    one = report(
        results=frame(rows),
        summary=summary(tests=[outcome()]),
        prompts=lambda: iter([sent]),
        before_prompts=(("system", "Be no shit."),),
    )
    with opened(browser, write(one, tmp_path / "report.html")) as found:
        view = found.page
        shown = view.locator("#rows .sent")
        assert shown.count() == 1
        expect(shown.locator("dl").first).to_be_hidden()
        shown.locator("summary").click()
        texts = shown.locator("dd").all_text_contents()
        assert shown.locator("dt").all_text_contents() == ["system", "user", "user, changed"]
        assert texts == ["Be no s***.", "Say:\nS*** is blue.\nA. yes", "Another text."]
        view.check("#reveal")
        assert view.locator("#rows .sent dd").all_text_contents()[1] == sent.original
        assert found.faults == []


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_verdict_and_the_clearest_failure_are_saved_as_a_picture(
    browser: Browser, tmp_path: Path, kind: str
) -> None:
    rows = [row(actual_result="<b>shit</b> & more", **{"pass": False})]
    file = write(report(results=frame(rows), summary=summary(tests=[outcome()])), tmp_path / "report.html")
    with opened(browser, file) as found:
        with found.page.expect_download() as saved:
            found.page.click(f"[data-share={kind}]")
        content = saved.value.path().read_bytes()
        assert found.faults == []
    if kind == "png":
        assert content.startswith(b"\x89PNG")
    else:
        assert b"&lt;b&gt;s***&lt;/b&gt; &amp; more" in content


def test_a_figure_is_explained_where_it_stands(browser: Browser, page: Path) -> None:
    with opened(browser, page, viewport={"width": 390, "height": 800}, has_touch=True) as found:
        view = found.page
        term = view.locator("#test-1 .figure .term", has_text="pass rate")
        text = view.locator(f"#{term.get_attribute('popovertarget')}")
        expect(text).to_be_hidden()
        term.focus()
        view.keyboard.press("Enter")
        expect(text).to_be_visible()
        box = text.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        view.keyboard.press("Escape")
        expect(text).to_be_hidden()
        term.tap()
        expect(text).to_contain_text("Share of the scored cases that passed.")
        assert found.faults == []


def test_no_figure_of_a_card_is_without_an_explanation(browser: Browser, tmp_path: Path) -> None:
    test = outcome(figures={"choice_changed": 0.5, "mean_eval_score_loss": 0.3})
    file = write(report(summary=summary(tests=[test])), tmp_path / "report.html")
    with opened(browser, file) as found:
        names = found.page.locator("#test-1 .counts dt, #test-1 .folds > details:first-child dt")
        assert names.count() == 8
        assert names.locator(".term").count() == 8


def test_without_script_the_first_rows_are_there_masked(browser: Browser, page: Path) -> None:
    context = browser.new_context(offline=True, java_script_enabled=False)
    view = context.new_page()
    view.goto(page.as_uri())
    assert view.locator("#rows .who").count() == 20
    assert view.locator("noscript").is_visible()
    assert "shit" not in view.locator("body").inner_text()
    context.close()


def test_the_page_marks_what_was_changed(browser: Browser, tmp_path: Path) -> None:
    rng = random.Random(0)
    words = WORDS.split(" ")
    pairs = [("", "x"), ("a", "a"), ("The cat eats.", "The cat does not eat."), ("can", "cannot"), ("a b", "b a")]
    while len(pairs) < 50:
        left = [rng.choice(words) for _ in range(rng.randint(1, 30))]
        right = [word for word in left if rng.random() > 0.15]
        for _ in range(rng.randint(0, 4)):
            right.insert(rng.randint(0, len(right)), rng.choice(words))
        pairs.append((" ".join(left), " ".join(right)))
    rows = [row(sample_id=f"{at}", original=one, test_case=other) for at, (one, other) in enumerate(pairs)]
    with opened(browser, write(report(results=frame(rows)), tmp_path / "report.html")) as found:
        found.page.check("#reveal")
        cells = ("td.original", "td.changed")
        pieces = "(nodes) => nodes.map((node) => [...node.childNodes].map((part) => [part.nodeName, part.textContent]))"
        shown = [found.page.eval_on_selector_all(f"#rows {cell} > .text", pieces) for cell in cells]
    assert len(shown[0]) == len(pairs)
    for (one, other), *sides in zip(pairs, *shown, strict=True):
        marked = mark_differences(show_hidden(one), show_hidden(other))
        for side, segments, name in zip(sides, marked, ("DEL", "INS"), strict=True):
            assert side == [[name if at % 2 else "#text", text] for at, text in enumerate(segments)]


@pytest.mark.parametrize(
    "texts", [HOSTILE[::12], pytest.param([*HOSTILE, *HUGE], marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_nothing_hostile_runs_and_nothing_breaks(browser: Browser, tmp_path: Path, texts: Sequence[str]) -> None:
    """Every attack as a test of its own, in every text of its card, and in every text of its rows."""
    file = write(everything(texts), tmp_path / "report.html")
    calm = write(report(), tmp_path / "calm.html")
    with opened(browser, calm) as harmless:
        names = harmless.page.evaluate(GLOBALS)
    with opened(browser, file) as found:
        view = found.page
        assert view.locator(".card").count() == len(texts)
        while True:
            if view.locator("#reveal").is_checked():
                view.click("nav [data-page=next]")
            view.check("#reveal")
            view.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
            if view.get_attribute("nav [data-page=next]", "aria-disabled") == "true":
                break
        assert view.locator("main img, main iframe, main script, main a[href^=http], main [style]").count() == 0
        assert view.evaluate(GLOBALS) == names
        assert view.evaluate("document.documentElement.scrollWidth <= innerWidth")
        view.fill("#search", "<script")
        expect(view.locator("#status")).to_contain_text(re.compile(r"of \d+$"))
        assert found.faults == []


def test_prompts_of_calls_are_not_squeezed_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, write(told(), tmp_path / "report.html"), viewport={"width": 390, "height": 800}) as found:
        prompt = found.page.locator(".calls .text").first.bounding_box()
        assert prompt is not None
        assert prompt["width"] > 300
        assert found.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def told() -> Report:
    """A report with everything that one can have, and a few rows of each test."""
    full = hostile_report("harmless")
    rows = report().results.rows.iloc[::12].reset_index(drop=True)  # type: ignore[attr-defined]
    return report(results=rows, history=full.history, calls=full.calls, skipped=full.skipped)


def test_rows_whose_texts_did_not_fit_are_found_by_their_ids(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_data, "BLOCK", 2)
    monkeypatch.setattr(sample_data, "MOST_BYTES", 1)
    file = write(report(), tmp_path / "report.html")
    with opened(browser, file) as found:
        found.page.fill("#search", "summary-003")
        expect(found.page.locator("#status")).to_have_text("1–1 of 1")
        assert "This text did not fit on the page." in found.page.locator("#rows").inner_text()
        found.page.fill("#search", "people")
        expect(found.page.locator("#status")).to_have_text("1–2 of 2")
        assert found.faults == []
