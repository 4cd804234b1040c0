"""The terminal; and how many rows a test took, in every report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from factories import control, outcome, report, summary
from terminal import printed

from contrapose.tasks.core.outcome import DataSummary, LeftOut, LeftOutRow, Outcome, Summary
from contrapose.tasks.report import html, markdown
from contrapose.tasks.report import summary as plain
from contrapose.tasks.report.console import print_verdict
from contrapose.tasks.report.rows import format_rows, list_unused


def unpadded(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.mark.parametrize("width", [80, 60, 40])
def test_it_fits_the_terminal(width: int) -> None:
    large = outcome(test_type="a_probe_with_a_rather_long_name", cases=20_000, scored=19_998, refused=["x" * 300] * 30)
    text = printed(summary(tests=[large, outcome(verdict="incomplete")]), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "75%" in text
    assert ("scored" in text.split("\n")[3]) == (width == 80)


def test_verdict_comes_first_and_is_coloured_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(summary())
    assert text.startswith("\nFAIL  Failed a gate: order_bias.\n")
    assert ("36/40" in text, "58.9-86.2%" in text, "\x1b" in text) == (True, True, False)
    assert "\x1b[1;31mFAIL" in printed(summary(), colour=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in printed(summary(), colour=True)


UNSCORED = outcome(unscored=3, unscored_reasons={"The reply is empty.": 2, "The loss is not finite": 1})


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (UNSCORED, "3 cases could not be scored: The reply is empty …."),
        (outcome(refused=["summary-007", "summary-031"]), "Refused summary-007, summary-031."),
        (outcome(), "Skipped: 1 negated already; 1 asking in a way that leaves the end of the subject unclear."),
        (outcome(samples=20, skip_reasons={"not_english": 9}), "Skipped: 9 not in English."),
        (outcome(control=control()), "Control: 3 of 48 answers (6.2%) also changed when only the wording changed."),
        (
            outcome(test_type="option_order", figures={"outcome_unparsed": 4}),
            "4 of 37 pairs have no readable choice in at least one order; the verdict does not depend on them.",
        ),
    ],
    ids=["unscored", "refused", "skipped", "few foreign rows", "noise", "pairs without a choice"],
)
def test_notes_on_a_test_say(test: Outcome, words: str) -> None:
    text = " ".join(printed(summary(tests=[test])).split())
    assert words in text
    assert "rows are not in English" not in text


def test_the_first_screen_has_the_sentences_that_matter_most() -> None:
    """What could not be scored is always among them, with both replies of one such case."""
    many = outcome(
        unscored=3,
        unscored_reasons={"No option could be read.": 3},
        unscored_example=("I see two shit options", ""),
        refused=["summary-007"],
        control=control(),
    )
    short, all_ = (printed(summary(tests=[many]), explain=explain) for explain in (False, True))
    assert 'No option could be read. For example: "I see two s*** options" and (empty).' in " ".join(short.split())
    assert ("summary-007" in short, "summary-007" in all_) == (False, True)
    assert ("--explain" in short, "--explain" in all_) == (True, False)


def test_test_without_notes_is_in_the_table_only() -> None:
    whole = {"skip_reasons": {}, "unscored": 0, "errors": 0, "coverage": 1.0, "gate": None}
    text = printed(summary(tests=[outcome(verdict="pass", reason="It is fine.", **whole)]))
    assert "It is fine" not in text
    assert "Noise" not in text


@pytest.mark.parametrize(("verdict", "lead"), [("inconclusive", True), ("pass", False), ("fail", False)])
def test_first_line_of_a_test_says_that_most_rows_are_not_in_english(verdict: str, lead: bool) -> None:
    foreign = "17 of 20 rows are not in English"
    reason = f"{foreign}. It is odd." if lead else "It is odd."
    one = outcome(verdict=verdict, samples=20, skip_reasons={"not_english": 17, "empty": 1}, reason=reason)
    text = printed(summary(tests=[one]))
    assert re.search(rf"^add_negation: {verdict.upper()} .*; {foreign}$", unpadded(text), re.MULTILINE)
    assert f"add_negation. {foreign}." in " ".join(unpadded(text).splitlines()[1:3])
    assert " ".join(text.split()).count(foreign) == 2
    assert ("It is odd." in text) == (verdict != "pass")


@pytest.mark.parametrize(("show_toxic", "word"), [(False, "s***"), (True, "shit")])
def test_toxic_words_are_masked_unless_they_are_asked_for(show_toxic: bool, word: str) -> None:
    refused = outcome(verdict="pass", refused=["sample shit"], skip_reasons={"no shit": 2}, skipped=2)
    text = printed(summary(tests=[refused], warnings=["The shit is odd."]), show_toxic=show_toxic)
    assert text.count(word) == 3
    assert ("shit" in text) == show_toxic


def test_each_further_rate_is_explained_below_the_table() -> None:
    gate = {"name": "contrast_rate", "wanted": 0.5, "rate": 0.4, "rows": 20, "open": 0, "interval": (0.2, 0.6)}
    one = outcome(gates=[{**outcome()["gates"][0], **gate}])
    text = " ".join(printed(summary(tests=[one])).split())
    assert "contrast rate: share of answers that changed with the meaning, not the wording" in text
    assert "pass rate:" not in text


FOLDER = "/home/someone/a folder/" + "x" * 100
MARKUP = "[/bold] [link=https://evil.example]x[/link] :boom:"
FOREIGN = summary(tests=[outcome(refused=["樣本"])])


@pytest.mark.parametrize(
    ("shown", "part"),
    [
        (lambda: printed(summary(), folder=FOLDER), f"Report: {FOLDER}/report.html\n"),
        (lambda: printed(summary(reason=MARKUP)), MARKUP),
        (lambda: printed(FOREIGN, encoding="ascii"), r"Refused \u6a23\u672c"),
    ],
    ids=["a folder that can be copied", "markup as text", "escapes where only ASCII is known"],
)
def test_texts_are_printed_whole(shown: Callable[[], str], part: str) -> None:
    assert part in shown()


BAD = LeftOut(
    count=23, rows=[LeftOutRow(row=each, column="text", why=f"'shit {each}' is odd") for each in range(2, 22)]
)
CUT = DataSummary(source="own.csv", sha256="3f" * 32, rows=10_000, limited_by="suite")
HOLED = DataSummary(source="own.csv", sha256="3f" * 32, rows=40, left_out=BAD)


def told(data: DataSummary, **changes: Any) -> Summary:
    return summary(tests=[outcome(data=data, **changes)])


@pytest.mark.parametrize(
    ("samples", "rows", "options", "words"),
    [
        (40, 10_000, {"limited_by": "suite"}, "40 of 10,000 rows (limit of the suite)"),
        (40, 10_000, {"limited_by": "test"}, "40 of 10,000 rows (limit of the test)"),
        (40, 10_000, {"limited_by": "given", "left_out": BAD}, "40 of 10,023 rows (your limit; 23 left out)"),
        (40, 40, {"left_out": BAD}, "40 of 63 rows (23 left out)"),
        (10_000, 10_000, {}, "all 10,000 rows"),
        (30, 30, {"limited_by": "suite"}, "all 30 rows"),
        (1, 1, {}, "1 row"),
    ],
)
def test_it_is_said_how_many_rows_were_taken(samples: int, rows: int, options: dict[str, Any], words: str) -> None:
    assert format_rows(samples, rows, **{"limited_by": None, "left_out": None, **options}) == words


def test_the_verdicts_line_says_what_a_limit_cut() -> None:
    words = "40 of 10,000 rows (limit of the suite)"
    assert f"add_negation: INCONCLUSIVE on {words}\n" in printed(told(CUT))
    assert f"Judged: add_negation {words}." in printed(told(CUT), show=print_verdict)
    assert f"| ❔ inconclusive on {words} |" in markdown.render(report(summary=told(CUT))).decode()
    assert f"Judged on {words}." in b"".join(html.render(report(summary=told(CUT)))).decode()
    assert json.loads(plain.to_json(told(CUT)))["tests"][0]["data"]["limited_by"] == "suite"


def test_whole_data_are_called_whole() -> None:
    assert "add_negation: INCONCLUSIVE on all 40 rows\n" in printed(summary(tests=[outcome()]))
    assert "Judged" not in printed(summary(tests=[outcome()]), show=print_verdict)


def test_the_first_rows_that_were_left_out_are_listed_and_masked() -> None:
    title = "own.csv (add_negation): 23 of 63 rows cannot be used and were left out"
    terminal = printed(told(HOLED))
    pages = markdown.render(report(summary=told(HOLED))).decode(), b"".join(html.render(report(summary=told(HOLED))))
    for text in (terminal, pages[0].replace("\\", ""), pages[1].decode()):
        assert title in " ".join(text.split())
        assert "and 3 more" in text
        assert "shit 2" not in text
    assert "  row 2: 's*** 2' is odd\n" in terminal
    assert "'shit 2' is odd" in printed(told(HOLED), show_toxic=True)


def test_tests_of_one_source_share_its_list() -> None:
    tests = [outcome(data=HOLED), outcome(test_type="antonym", data=HOLED), outcome(test_type="typo")]
    (found,) = list_unused(tests)
    assert found.title.startswith("own.csv (add_negation, antonym): ")
    assert list(found.lines())[-1] == "and 3 more"
