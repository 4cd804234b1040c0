"""What people read of passages: sentences, tables and rows; nothing of them where there are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from factories import frame, outcome, report, row, summary
from paged import opened, write
from playwright.sync_api import Browser
from terminal import printed

from contrapose.tasks.core.passages import PassageCounts, PassageGroup, PassageSummary
from contrapose.tasks.report import html, markdown
from contrapose.tasks.report.passages import SHOWN, describe_passages, list_passages, tabulate_passages

ALL_HITS = 12


def group(passages: Any, hits: int, cases: int) -> PassageGroup:
    return PassageGroup(
        passages=passages,
        cases=cases,
        hits=hits,
        rate=hits / cases,
        interval=(0.1, 0.9),
        share=hits / ALL_HITS,
        share_interval=(0.2, 0.8),
    )


def counts(*groups: PassageGroup, p: float | None = None, unknown: int = 0) -> PassageCounts:
    return PassageCounts(groups=list(groups), kept=0.75, kept_interval=(0.6, 0.9), unknown=unknown, open=0, p=p)


def retrieved(cases: PassageCounts, control: PassageCounts | None = None, **changes: Any) -> Any:
    return outcome(passages=PassageSummary(hit="changed", cases=cases, control=control), **changes)


BOTH = retrieved(
    counts(group("same", 3, 20), group("other", 9, 20), p=0.08, unknown=1),
    counts(group("same", 1, 30), group("other", 3, 10)),
)


def test_what_happened_is_told_by_the_passages() -> None:
    assert list(describe_passages(BOTH)) == [
        "12 of 40 answers changed: 9 with other passages (retrieval may be the cause) and 3 with the same passages "
        "(retrieval is not the cause)",
        "75% (20.0-80.0%) of those that changed came with other passages",
        "45% of 20 changed with other passages, 15% of 20 with the same (p = 0.080; the difference may be chance)",
        "retrieval noise: 10 of 40 controls got other passages, though the meaning is the same; 3 of 4 changed answers "
        "did",
        "on average 75% of the passages of the first reply also came with the second",
        "1 case did not report the passages of both replies",
    ]


@pytest.mark.parametrize(
    ("groups", "first"),
    [
        ([group("same", 3, 9)], "3 of 9 answers changed: 3 with the same passages (retrieval is not the cause)"),
        ([group("other", 3, 9)], "3 of 9 answers changed: 3 with other passages (retrieval may be the cause)"),
        ([group("same", 0, 9), group("other", 0, 2)], "0 of 11 answers changed; 2 came with other passages"),
        (
            [group("same", 1, 9), group("reordered", 2, 5)],
            "3 of 14 answers changed: 2 with the same ones in another order (retrieval may be the cause) and 1 with "
            "the same passages (retrieval is not the cause)",
        ),
        ([], "no scored case reported the passages of both replies"),
    ],
)
def test_only_what_there_is_is_named(groups: list[PassageGroup], first: str) -> None:
    assert next(describe_passages(retrieved(counts(*groups)))) == first


def test_of_a_difference_beyond_chance_no_chance_is_named() -> None:
    told = list(describe_passages(retrieved(counts(group("same", 3, 20), group("other", 9, 20), p=0.01))))
    assert told[2].endswith("(p = 0.010)")


def test_the_table_sets_the_rates_apart() -> None:
    header, rows = tabulate_passages(BOTH)
    assert header == ("passages", "changed", "rate (95 %)")
    assert rows == [
        ("the same", "3 of 20", "15% (10.0-90.0%)"),
        ("others", "9 of 20", "45% (10.0-90.0%)"),
        ("control: the same", "1 of 30", "3.3% (10.0-90.0%)"),
        ("control: others", "3 of 10", "30% (10.0-90.0%)"),
    ]


def test_without_passages_nothing_is_told() -> None:
    assert list(describe_passages(outcome())) == []
    pages = [b"".join(html.render(report())).decode(), markdown.render(report()).decode()]
    assert not any("etrieval" in page for page in pages)


def test_every_report_tells_it() -> None:
    told = report(summary=summary(tests=[BOTH]))
    pages = [
        b"".join(html.render(told)).decode(),
        markdown.render(told).decode(),
        " ".join(printed(told.summary).split()),
    ]
    for page in pages:
        assert "12 of 40 answers changed: 9 with other passages (retrieval may be the cause) and 3" in page
        assert "etrieval noise: 10 of 40 controls got other passages" in page
    assert "| control: others | 3 of 10 | 30% (10.0-90.0%) |" in pages[1]


def passages(before: list[str] | None, after: list[str] | None) -> list[tuple[str, str]]:
    cells = {"expected_passages": before, "actual_passages": after}
    return list(list_passages({name: None if texts is None else json.dumps(texts) for name, texts in cells.items()}))


def test_in_a_row_those_of_one_reply_alone_come_first() -> None:
    assert passages(["a", "b"], ["b", "c"]) == [
        ("passage, original only", "a"),
        ("passage, changed only", "c"),
        ("passage, both", "b"),
    ]
    assert passages(["a"], None) == [("passage, original", "a")]
    assert passages(None, None) == []


def test_of_many_and_long_passages_a_part_is_shown() -> None:
    shown = passages([f"{number} {'word ' * 1000}" for number in range(100)], [])
    assert len(shown) == SHOWN + 1
    assert shown[-1] == ("further passages", "80, in results.parquet")
    assert max(len(text) for _, text in shown) < 500


ATTACK = "<script>document.title='hacked'</script><img src=x onerror=alert(1)>"


def test_without_a_script_the_passages_are_marked_too() -> None:
    made = row(expected_passages=json.dumps([ATTACK]), actual_passages=json.dumps(["New."]))
    page = b"".join(html.render(report(results=frame([made])))).decode()
    assert "<ins>New.</ins>" in page
    assert "<del>&lt;script&gt;" in page
    assert "<script>document" not in page


def test_a_passage_that_is_markup_is_text_on_the_page(browser: Browser, tmp_path: Path) -> None:
    made = row(
        expected_passages=json.dumps([ATTACK, "Both."]),
        actual_passages=json.dumps(["Both.", "what the fuck"]),
        passages="other",
    )
    file = write(report(results=frame([made]), summary=summary(tests=[BOTH])), tmp_path / "report.html")
    with opened(browser, file) as view:
        details = view.page.locator("#rows details")
        details.locator("summary").click()
        assert details.locator("del").inner_text() == ATTACK
        assert details.locator("ins").inner_text() == "what the f***"
        assert view.page.locator("#rows img, #rows script").count() == 0
        view.page.check("#reveal")
        view.page.locator("#rows details summary").click()
        assert view.page.locator("#rows details ins").inner_text() == "what the fuck"
        assert "hacked" not in view.page.title()
        assert view.faults == []
