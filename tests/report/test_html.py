from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest
from factories import control, frame, outcome, report, row, summary
from hostile import HOSTILE, hostile_report

from contrapose.tasks.core.history_records import Change, History, PastRun, PastTest
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.records import Call, Calls
from contrapose.tasks.report import html
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.html import sample_data as packing
from contrapose.tasks.text.wording import noise


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
    return written(report(**changes))


def written(told: Report) -> str:
    return b"".join(html.render(told)).decode()


def unpacked(packed: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def columns(page: str) -> dict[str, Any]:
    """What the page's script knows of every row."""
    found = re.search(r'<script type="text/plain" id="columns">(.*?)</script>', page)
    assert found
    return unpacked(found[1])


def island(page: str) -> list[list[Any]]:
    """The texts of the page's samples: original, changed, before, after, reason, then names and texts of details."""
    names = columns(page)["names"]
    return [
        [names[index] if place >= 5 and place % 2 else block["texts"][index] for place, index in enumerate(row)]
        for packed in re.findall(r'<script type="text/plain" class="texts">(.*?)</script>', page)
        for block in [unpacked(packed)]
        for row in block["rows"]
    ]


SOME = HOSTILE[::25]


@pytest.mark.parametrize("texts", [SOME, pytest.param(HOSTILE, marks=pytest.mark.slow)], ids=["some", "all"])
def test_hostile_texts_add_no_element_and_no_handler(texts: Sequence[str]) -> None:
    harmless = Seen(written(hostile_report("harmless")))
    for text in texts:
        written_page = written(hostile_report(text))
        page = Seen(written_page)
        assert set(page.tags) <= {*harmless.tags, "ins", "del", "wbr"}
        assert page.tags.count("script") == harmless.tags.count("script")
        assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
        assert len(island(written_page)) == 2


def test_the_data_hold_no_sign_that_could_end_their_element() -> None:
    page = written(hostile_report("</script><!--&\u2028"))
    for packed in re.findall(r'<script type="text/plain"[^>]*>([^<]*)</script>', page):
        assert re.fullmatch(r"[A-Za-z0-9+/=]*", packed)


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
    assert set(addresses) <= {
        "#samples",
        "data:,",
        "validation.html",
        "#decides-title",
        "#tests-title",
        "#test-1",
        "#test-2",
        "#test-3",
    }


def test_the_script_never_writes_markup() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", page_of())


def test_toxic_words_are_nowhere_but_in_the_packed_data() -> None:
    page = page_of()
    assert not re.search(r"shit|fuck", page, re.IGNORECASE)
    assert "hold them as they are" in page
    swearing = next(row for row in island(page) if row[0].startswith("The report"))
    assert swearing[1][1::2] == ["shit", "fucking"]


def test_toxic_words_are_shown_when_asked_for() -> None:
    page = page_of(show_toxic=True)
    assert any("what the fuck is this shit?" in row[3] for row in island(page))
    assert 'id="reveal"' not in page


def test_the_counts_of_every_test_are_told() -> None:
    page = page_of()
    assert "40 cases = 2 skipped + 36 scored + 1 unscored + 1 error" in page
    assert "40 cases = 0 skipped + 40 scored + 0 unscored + 0 errors" in page


def test_refused_rows_are_named() -> None:
    assert "<li>summary-007</li><li>summary-031</li>" in page_of()


def test_a_dominant_position_is_told_in_words() -> None:
    assert "mostly answers A in both orders" in page_of()


def test_twenty_rows_are_there_without_the_script() -> None:
    samples = page_of().partition('id="samples"')[2]
    assert Seen(samples).tags.count("tbody") == 20


def test_changed_words_are_set_apart() -> None:
    samples = page_of().partition('id="samples"')[2]
    assert "proud" in samples
    assert re.search(r"are <ins>not </ins>", samples)


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


def test_beyond_the_most_rows_passed_ones_are_left_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOST_ROWS", 3)
    rows = [row(sample_id=str(number), **{"pass": number not in (1, 3)}) for number in range(5)]
    page = page_of(results=frame(rows))
    assert columns(page)["id"] == ["0", "1", "3"]
    assert "This page holds 3 of 5 rows" in page


def test_texts_that_do_not_fit_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "BLOCK", 2)
    monkeypatch.setattr(packing, "MOST_BYTES", 1)
    page = page_of(results=frame([row(sample_id=str(number)) for number in range(5)]))
    assert len(island(page)) == 2
    assert len(columns(page)["id"]) == 5
    assert "The texts of 3 rows did not fit" in page


def test_long_ids_are_told_apart() -> None:
    rows = [row(sample_id=f"{'folder/' * 40}{number}") for number in range(3)]
    assert len(set(columns(page_of(results=frame(rows)))["id"])) == 3


def test_a_huge_cell_is_cut_and_told() -> None:
    text = "word " * 200_000
    page = page_of(results=frame([row(original=text, test_case=text + "not", reason=text)]))
    assert len(page) < 200_000
    assert "more characters)" in island(page)[0][0]


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
    assert "<summary>What was perturbed: 38 of 40 cases</summary>" in page
    assert '<span class="name">negated already</span>' in page
    assert "existing_negation" not in page
    assert page.count("It is never s***") == 3
    assert '<small>negation-2</small><div class="text" dir="auto">It is never s*** 2.</div>' in page


def test_rare_reasons_of_skips_are_counted_together() -> None:
    many = {f"reason_{number}": 20 - number for number in range(12)}
    page = page_of(summary=summary(tests=[outcome(skip_reasons=many)]))
    assert '<span class="name">reason 9</span>' in page
    assert '<span class="name">for 2 other reasons</span>' in page
    assert '<span class="count">19</span>' in page


def test_card_says_first_that_most_rows_are_not_in_english() -> None:
    told = "17 of 20 rows are not in English. No case could be scored."
    page = page_of(summary=summary(tests=[outcome(samples=20, skip_reasons={"not_english": 17}, reason=told)]))
    assert '<p class="first">17 of 20 rows are not in English.</p>' in page
    assert "<p>No case could be scored.</p>" in page
    assert "17 of 20 rows are not in English. No case could be scored." in page, "the overview says it too"


def test_the_confidence_of_the_changes_is_counted() -> None:
    page = page_of()
    assert '<span class="name">high</span>' in page
    assert '<span class="count">38</span> <span class="share">100%</span>' in page


def test_controls_are_not_among_the_first_rows() -> None:
    page = with_controls()
    assert "Only the control says this." not in page
    assert columns(page)["control"] == "0010"


def test_controls_are_shown_by_a_switch_that_is_there_only_with_them() -> None:
    assert "show 1 control row too" in with_controls()
    assert 'id="controls"' not in page_of()


def test_what_the_controls_changed_is_told_on_the_card() -> None:
    assert f"{noise(control()).capitalize()}." in with_controls()


def test_the_cases_of_one_sample_are_numbered() -> None:
    page = with_controls()
    assert columns(page)["number"] == ["1", "2", "", ""]
    assert "<small>add_negation · 2</small>" in page


def test_what_the_choices_of_option_order_followed_is_drawn() -> None:
    rows = [
        row(test_type="option_order", rotation=1, letter="A", rotated_letter="A", outcome=found, swapped_result=None)
        for found in ("letter", "letter", "letter", "unparsed")
    ]
    page = page_of(summary=summary(tests=[outcome(test_type="option_order")]), results=frame(rows))
    assert "Among the 3 of 4 pairs with a choice each time, always chooses the same letter" in page
    assert '<span class="name">letter</span>' in page
    assert '<table class="grid">' not in page


def test_the_reasons_of_cases_without_a_score_are_counted() -> None:
    page = page_of()
    assert "Why cases have no score" in page
    assert "Why cases have no answer" in page
    assert '<span class="name">timeout after 3 tries</span>' in page


def test_bad_words_are_told_by_tier() -> None:
    rows = [row(test_type="add_toxic_words", added_slur=0, added_strong=2, added_sexual=0, added_mild=1)] * 3
    page = page_of(summary=summary(tests=[outcome(test_type="add_toxic_words")]), results=frame(rows))
    assert re.search(r'<th scope="row">strong</th><td class="number">\+6</td>', page)
    assert re.search(r'<th scope="row">slur</th><td class="number">0</td>', page)


def test_answers_that_changed_are_counted_by_kind_of_text() -> None:
    texts = ("Is it blue?", "It is blue.", "It is", "True or false: It is blue.", "Is it red?")
    rows = [row(original=text, answer_changed=text.endswith("?"), **{"pass": True}) for text in texts]
    page = page_of(summary=summary(tests=[outcome()]), results=frame(rows))
    shown = re.findall(r'<span class="name">([^<]*)</span>.*?<span class="count">([^<]*)</span>', page)
    assert ("question", "2 of 2") in shown
    assert ("statement", "0 of 1") in shown
    assert ("unfinished", "0 of 1") in shown
    assert ("true or false", "0 of 1") in shown


def test_the_calls_that_took_most_are_told_masked() -> None:
    call = Call(prompt="What the fuck is it?", seconds=0.25, prompt_tokens=6, completion_tokens=1, cost=0.0123)
    page = page_of(calls=Calls(slowest=(call,)))
    assert "What the f*** is it?" in page
    assert "250 ms" in page
    assert "Dearest calls" not in page


def test_without_a_past_nothing_is_told_of_it() -> None:
    assert not re.search("Since the last|Over the runs|Calls that took", page_of())


def test_what_changed_since_the_last_green_run_is_told() -> None:
    page = page_of(history=past_of(summary(), changes=(Change(facet="library", name="torch", before="2", after="3"),)))
    assert "Since the last run that passed" in page
    assert '<td class="key">library</td><th scope="row">torch</th><td>2</td><td>3</td>' in page
    assert '<td class="number">90%</td><td class="number">75%</td><td class="number">-15.0 points</td>' in page
    assert page.count("Over the runs of this suite") == 3


def test_a_difference_without_a_cause_is_called_chance() -> None:
    assert "what differs is chance" in page_of(history=past_of(summary()))


def past_of(now: Summary, *, changes: tuple[Change, ...] = ()) -> History:
    """A green run before this one."""

    def run(run_id: str, rate: float | None) -> PastRun:
        tests = [
            PastTest(
                test_type=test["test_type"],
                verdict=test["verdict"],
                pass_rate=rate or test["pass_rate"],
                interval=test["interval"],
                min_pass_rate=test["min_pass_rate"],
                scored=test["scored"],
            )
            for test in now["tests"]
        ]
        model, started = now["model"]["id"], "2026-11-20T08:00:00+00:00"
        return PastRun(
            run_id=run_id, suite="quickstart", model=model, started=started, verdict="pass", tests=tests, made_of={}
        )

    before = run("earlier", 0.9)
    return History(runs=(before, run(now["run_id"], None)), green=before, previous=before, changes=changes)


def test_how_letters_were_asked_for_is_told() -> None:
    assert "held to a letter" not in page_of()
    asked = summary()
    asked["model"]["constrained"] = "json_schema"
    assert "held to a letter by a JSON schema" in written(report(summary=asked))


def test_the_card_shows_how_the_choices_were_read() -> None:
    read = {"read_by_letter": 0.8, "read_by_asked": 0.15, "unread": 0.05}
    page = page_of(summary=summary(tests=[outcome(figures=read)]))
    assert "How the choices were read" in page
    assert '<span class="name">asking back</span>' in page
    assert "read by asked" not in page
    assert "How the choices were read" not in page_of()
