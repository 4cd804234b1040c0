"""How many rows a test took, and what was left out, in every report."""

from __future__ import annotations

import json
from typing import Any

import pytest
from factories import outcome, report, summary
from terminal import printed

from contrapose.tasks.core.outcome import DataSummary, LeftOut, LeftOutRow, Summary
from contrapose.tasks.report import html, markdown
from contrapose.tasks.report import summary as plain
from contrapose.tasks.report.console import print_verdict
from contrapose.tasks.report.rows import left_out, taken

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
    assert taken(samples, rows, **{"limited_by": None, "left_out": None, **options}) == words


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
    (found,) = left_out(tests)
    assert found.title.startswith("own.csv (add_negation, antonym): ")
    assert list(found.lines())[-1] == "and 3 more"
