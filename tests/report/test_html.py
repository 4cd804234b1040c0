from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from factories import control, frame, outcome, report, row, summary
from hostile import HOSTILE, Seen, everything
from past_runs import past_run, past_test

from contrapose.tasks.core.history_records import Change, History, PastRun
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.records import Call, Calls
from contrapose.tasks.report import html
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.html import sample_data as packing
from contrapose.tasks.text.wording import describe_changes_by_noise


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


@pytest.fixture(scope="module")
def plain() -> str:
    """The page of the realistic report."""
    return page_of()


def test_page_neither_loads_nor_writes_markup(plain: str) -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", plain)
    addresses = {value for name, value in Seen(plain).attributes if name in ("href", "src", "action", "srcset")}
    own = {"#samples", "data:,", "validation.html", "#decides-title", "#tests-title"}
    assert addresses <= {*own, "#test-1", "#test-2", "#test-3"}
    assert "default-src 'none'" in plain
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", plain, re.DOTALL)
        assert text
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in plain


def test_toxic_words_are_in_the_packed_data_alone_unless_asked_for(plain: str) -> None:
    assert not re.search(r"shit|fuck", plain, re.IGNORECASE)
    assert "reveal toxic words" in plain
    swearing = next(row for row in island(plain) if row[0].startswith("The report"))
    assert swearing[1][1::2] == ["shit", "fucking"]
    shown = page_of(show_toxic=True)
    assert any("what the fuck is this shit?" in row[3] for row in island(shown))
    assert 'id="reveal"' not in shown


def test_cards_and_first_rows_show_counts_reasons_and_changes(plain: str) -> None:
    texts = (
        "40 cases = 2 skipped + 36 scored + 1 unscored + 1 error",
        "40 cases: all scored",
        "<li>summary-007</li><li>summary-031</li>",
        "mostly answers A in both orders",
        "are <ins>not </ins>",
        '<span class="name">high</span>',
        '<span class="count">38</span> <span class="share">100%</span>',
        "Why cases have no score",
        "Why cases have no answer",
        '<span class="name">timeout after 3 tries</span>',
    )
    assert [text for text in texts if text not in plain] == []
    samples = plain.partition('id="samples"')[2]
    assert Seen(samples).tags.count("tbody") == 20
    assert "proud" in samples


def test_page_without_a_past_or_replies_to_read_does_not_mention_them(plain: str) -> None:
    nothing = "Since the last|Over the runs|Slowest calls|limited to a letter|How the choices were read"
    assert not re.search(nothing, plain)


CALL = Call(prompt="What the fuck is it?", seconds=0.25, prompt_tokens=6, completion_tokens=1, cost=0.0123)
NOT_ENGLISH = "17 of 20 rows are not in English. No case could be scored."
READ = {"read_by_letter": 0.8, "read_by_asked": 0.15, "unread": 0.05}
TOXIC = row(test_type="add_toxic_words", added_slur=0, added_strong=2, added_sexual=0, added_mild=1)
ORDERS = [
    row(test_type="option_order", rotation=1, letter="A", rotated_letter="A", outcome=found, swapped_result=None)
    for found in ("letter", "letter", "letter", "unparsed")
]


@pytest.mark.parametrize(
    ("changes", "others", "texts", "absent"),
    [
        pytest.param(
            {"tests": [outcome(skip_reasons={f"reason_{number}": 20 - number for number in range(12)})]},
            {},
            [f'<span class="name">{name}</span>' for name in ("reason 9", "for 2 other reasons")],
            "reason 10",
            id="rare reasons of skips together",
        ),
        pytest.param(
            {"tests": [outcome(samples=20, skip_reasons={"not_english": 17}, reason=NOT_ENGLISH)]},
            {},
            ['<p class="first">17 of 20 rows are not in English.</p>', "<p>No case could be scored.</p>", NOT_ENGLISH],
            "limited to",
            id="first that most rows are not in English",
        ),
        pytest.param(
            {"tests": [outcome(test_type="option_order")]},
            {"results": frame(ORDERS)},
            ["Among the 3 of 4 pairs with a choice each time, always chooses the same letter", ">letter</span>"],
            '<table class="grid">',
            id="choices of option order",
        ),
        pytest.param(
            {"tests": [outcome(test_type="add_toxic_words")]},
            {"results": frame([TOXIC] * 3)},
            [f'<th scope="row">{tier}</th><td class="number">{n}</td>' for tier, n in (("strong", "+6"), ("slur", 0))],
            "&minus;6",
            id="bad words by tier",
        ),
        pytest.param(
            {"tests": [outcome(figures=READ)]},
            {},
            ["How the choices were read", '<span class="name">asking back</span>'],
            "read by asked",
            id="steps of reading",
        ),
        pytest.param(
            {"model": {**summary()["model"], "constrained": "json_schema"}},
            {},
            ["limited to a letter by a JSON schema"],
            "free:",
            id="constraint on letters",
        ),
        pytest.param(
            {},
            {"calls": Calls(slowest=(CALL,))},
            ["What the f*** is it?", "250 ms"],
            "By cost",
            id="slowest calls, masked",
        ),
    ],
)
def test_page_shows(changes: dict[str, Any], others: dict[str, Any], texts: list[str], absent: str) -> None:
    page = page_of(summary=summary(**changes), **others)
    assert [text for text in texts if text not in page] == []
    assert absent not in page.partition("<script>")[0].partition("</style>")[2]


def test_answers_that_changed_are_counted_by_kind_of_text() -> None:
    texts = ("Is it blue?", "It is blue.", "It is", "True or false: It is blue.", "Is it red?")
    rows = [row(original=text, answer_changed=text.endswith("?"), **{"pass": True}) for text in texts]
    page = page_of(summary=summary(tests=[outcome()]), results=frame(rows))
    shown = re.findall(r'<span class="name">([^<]*)</span>.*?<span class="count">([^<]*)</span>', page)
    kinds = {("question", "2 of 2"), ("statement", "0 of 1"), ("unfinished", "0 of 1"), ("true or false", "0 of 1")}
    assert kinds <= set(shown)


def test_controls_are_counted_numbered_and_shown_by_a_switch_only(plain: str) -> None:
    rows = [
        row(case_id="add_negation/negation-001/1"),
        row(case_id="add_negation/negation-001/2"),
        row(case_id="add_negation/negation-001/control", control=True, reason="Only the control says this."),
        row(sample_id="negation-002", case_id="add_negation/negation-002"),
    ]
    page = page_of(summary=summary(tests=[outcome(control=control())]), results=frame(rows))
    assert "Only the control says this." not in page
    assert (columns(page)["control"], columns(page)["number"]) == ("0010", ["1", "2", "", ""])
    assert "<small>add_negation · 2</small>" in page
    assert f"{describe_changes_by_noise(control()).capitalize()}." in page
    assert "show 1 control row too" in page
    assert 'id="controls"' not in plain


@pytest.mark.parametrize("texts", [HOSTILE[::25], pytest.param(HOSTILE, marks=pytest.mark.slow)], ids=["some", "all"])
def test_hostile_texts_add_no_element_and_no_handler(texts: Sequence[str]) -> None:
    harmless = Seen(written(everything(["harmless"])))
    shown = written(everything(texts))
    page = Seen(shown)
    assert set(page.tags) <= {*harmless.tags, "ins", "del", "wbr"}
    assert page.tags.count("script") == harmless.tags.count("script")
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
    assert len(island(shown)) == 2 * len(texts)


def test_no_asked_case_makes_a_page_too() -> None:
    none = dict.fromkeys(("scored", "passed", "unscored", "errors"), 0) | dict.fromkeys(("pass_rate", "interval"))
    nothing = outcome(skipped=40, figures={}, scorers={}, **none)
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


def test_skipped_samples_are_shown_with_their_reason() -> None:
    texts = [f"It is never shit {number}." for number in range(5)]
    names = ("test_type", "sample_id", "original", "skip_reason")
    rows = [("add_negation", f"negation-{number}", text, "existing_negation") for number, text in enumerate(texts)]
    page = page_of(skipped=pd.DataFrame(rows, columns=names))
    assert "<summary>Changed prompts: 38 of 40 cases</summary>" in page
    assert '<span class="name">negated already</span>' in page
    assert "existing_negation" not in page
    assert page.count("It is never s***") == 3
    assert '<small>negation-2</small><div class="text" dir="auto">It is never s*** 2.</div>' in page


def test_what_changed_since_the_last_green_run_is_told() -> None:
    page = page_of(history=past_of(summary(), changes=(Change(facet="library", name="torch", before="2", after="3"),)))
    assert "Since the last run that passed" in page
    assert '<td class="key">library</td><th scope="row">torch</th><td>2</td><td>3</td>' in page
    assert '<td class="number">90%</td><td class="number">75%</td><td class="number">-15.0 points</td>' in page
    assert page.count("Over the runs of this suite") == 3
    assert "any difference is chance" in page_of(history=past_of(summary()))


def past_of(now: Summary, *, changes: tuple[Change, ...] = ()) -> History:
    """A green run before this one."""

    def run(run_id: str, rate: float | None) -> PastRun:
        names = ("test_type", "verdict", "pass_rate", "interval", "min_pass_rate", "scored")
        tests = [past_test(**{name: test[name] for name in names}) for test in now["tests"]]  # type: ignore[literal-required]
        tests = [test | {"pass_rate": rate or test["pass_rate"]} for test in tests]  # type: ignore[misc]
        named = {"suite": "quickstart", "model": now["model"]["id"], "started": "2026-11-20T08:00:00+00:00"}
        return past_run(run_id=run_id, verdict="pass", tests=tests, **named)

    before = run("earlier", 0.9)
    return History(runs=(before, run(now["run_id"], None)), green=before, previous=before, changes=changes)
