from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from time import perf_counter
from typing import Any

import pandas as pd
import pytest
from factories import Held, control, frame, outcome, report, row, summary
from hostile import HOSTILE, hostile_report

from contrapose.tasks.report import html
from contrapose.tasks.report.wording import noise


class Seen(HTMLParser):
    """Elements, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def page_of(**changes: Any) -> str:
    return html.render(report(**changes)).decode()


def island(page: str) -> list[dict[str, Any]]:
    """The data of the page's samples."""
    found = re.search(r'<script type="application/json" id="island">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_hostile_texts_add_no_element_and_no_handler() -> None:
    harmless = Seen(html.render(hostile_report("harmless")).decode())
    for text in HOSTILE:
        page = Seen(html.render(hostile_report(text)).decode())
        assert set(page.tags) <= {*harmless.tags, "ins", "del"}
        assert page.tags.count("script") == 2
        assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("text", HOSTILE)
def test_the_data_of_the_samples_stay_readable_whatever_is_in_them(text: str) -> None:
    assert len(island(html.render(hostile_report(text)).decode())) == 2


def test_the_island_holds_no_sign_that_could_end_it() -> None:
    page = html.render(hostile_report("</script><!--&\u2028")).decode()
    data = page.partition('id="island">')[2].partition("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(data)


def test_the_policy_allows_the_own_style_and_script_alone() -> None:
    page = page_of()
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert text
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in page
    assert "default-src 'none'" in page


def test_the_page_asks_for_nothing_from_the_network() -> None:
    addresses = [value for name, value in Seen(page_of()).attributes if name in ("href", "src", "action", "srcset")]
    assert set(addresses) <= {"#samples", "data:,"}


def test_the_script_never_writes_markup() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", page_of())


def test_toxic_words_are_not_in_the_page() -> None:
    assert not re.search(r"shit|fuck", page_of(), re.IGNORECASE)


def test_toxic_words_are_shown_when_asked_for() -> None:
    assert "what the fuck is this shit?" in page_of(show_toxic=True)


def test_the_counts_of_every_test_are_told() -> None:
    page = page_of()
    assert "40 cases = 2 skipped + 36 scored + 1 unscored + 1 error" in page
    assert "40 cases = 0 skipped + 40 scored + 0 unscored + 0 errors" in page


def test_refused_rows_are_named() -> None:
    assert "<li>summary-007</li><li>summary-031</li>" in page_of()


def test_a_dominant_position_is_told_in_words() -> None:
    assert "Mostly answers A in both orders" in page_of()


def test_twenty_rows_are_there_without_the_script() -> None:
    assert Seen(page_of()).tags.count("tbody") == 21  # and the one of the grid


def test_changed_words_are_set_apart() -> None:
    first = island(page_of())[0]
    assert first["changed"][1::2] == ["not "]
    assert len(first["original"]) == 1


def test_no_asked_case_makes_a_page_too() -> None:
    nothing = outcome(
        scored=0,
        passed=0,
        unscored=0,
        errors=0,
        skipped=40,
        pass_rate=None,
        interval=None,
        figures={},
        scorers={},
    )
    page = page_of(summary=summary(tests=[nothing]), results=pd.DataFrame())
    assert island(page) == []
    assert "No case was put to the model." in page


def test_twenty_thousand_rows_take_seconds() -> None:
    rows = [
        row(sample_id=str(index), original=f"Text {index} is here.", test_case=f"Text {index} is not here.")
        for index in range(20_001)
    ]
    large = replace(report(), results=Held(frame([{**one, "pass": index != 20_000} for index, one in enumerate(rows)])))
    start = perf_counter()
    page = html.render(large).decode()
    assert perf_counter() - start < 20
    shown = island(page)
    assert len(shown) == 20_000
    assert shown[-1]["id"] == "20000"


def with_controls() -> str:
    """A page of one sample with two cases and a control, and of one without."""
    rows = [
        row(case_id="add_negation/negation-001/1"),
        row(case_id="add_negation/negation-001/2"),
        row(case_id="add_negation/negation-001/control", control=True, reason="Only the control says this."),
        row(sample_id="negation-002", case_id="add_negation/negation-002"),
    ]
    return page_of(summary=summary(tests=[outcome(control=control())]), results=frame(rows))


def test_skipped_samples_are_shown_with_their_reason() -> None:
    skipped = pd.DataFrame(
        [
            {
                "test_type": "add_negation",
                "sample_id": f"negation-{number}",
                "original": f"It is never shit {number}.",
                "skip_reason": "existing_negation",
            }
            for number in range(5)
        ]
    )
    page = page_of(skipped=skipped)
    assert "<summary>What was asked: 38 of 40 cases</summary>" in page
    assert '<span class="name">existing_negation</span>' in page
    assert page.count("It is never s***") == 3
    assert '<small>negation-2</small><div class="text" dir="auto">It is never s*** 2.</div>' in page


def test_rare_reasons_of_skips_are_told_in_words() -> None:
    many = {f"reason_{number}": 20 - number for number in range(12)}
    page = page_of(summary=summary(tests=[outcome(skip_reasons=many)]))
    assert "Also: reason_10 10, reason_11 9." in page


def test_the_confidence_of_the_changes_is_counted() -> None:
    page = page_of()
    assert '<span class="name">high</span>' in page
    assert '<span class="count">38</span> <span class="share">100%</span>' in page


def test_controls_are_not_among_the_first_rows() -> None:
    page = with_controls()
    assert "Only the control says this." not in page.partition('id="island"')[0]
    assert [each["control"] for each in island(page)] == [False, False, True, False]


def test_controls_are_shown_by_a_switch_that_is_there_only_with_them() -> None:
    assert "show 1 control row too" in with_controls()
    assert 'id="controls"' not in page_of()


def test_what_the_controls_changed_is_told_on_the_card() -> None:
    assert f"{noise(control()).capitalize()}." in with_controls()


def test_the_cases_of_one_sample_are_numbered() -> None:
    page = with_controls()
    assert [each["number"] for each in island(page)] == ["1", "2", "", ""]
    assert "<small>add_negation · 2</small>" in page


def test_what_the_choices_of_option_order_followed_is_drawn() -> None:
    rows = [
        row(test_type="option_order", rotation=1, letter="A", rotated_letter="A", outcome=found, swapped_result=None)
        for found in ("letter", "letter", "letter", "unparsed")
    ]
    page = page_of(summary=summary(tests=[outcome(test_type="option_order")]), results=frame(rows))
    assert "Always chooses the same letter" in page
    assert '<span class="name">letter</span>' in page
    assert '<table class="grid">' not in page


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_skipped_sample_adds_no_element(text: str) -> None:
    skipped = pd.DataFrame(
        [{"test_type": text, "sample_id": text, "original": text, "skip_reason": text}], dtype=object
    )
    page = Seen(html.render(replace(hostile_report(text), skipped=skipped)).decode())
    assert page.tags.count("script") == 2
    assert set(page.tags) <= {*Seen(page_of(skipped=skipped)).tags, "ins", "del", "small"}
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
