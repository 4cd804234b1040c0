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
from factories import frame, outcome, report, row, summary
from hostile import HOSTILE, hostile_report

from contrapose.tasks.report import html


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
    large = replace(report(), results=frame([{**one, "pass": index != 20_000} for index, one in enumerate(rows)]))
    start = perf_counter()
    page = html.render(large).decode()
    assert perf_counter() - start < 20
    shown = island(page)
    assert len(shown) == 20_000
    assert shown[-1]["id"] == "20000"
