"""The attacks in every place of a report: nothing of them is more than text."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import pytest
from attacks import ATTACKS, HUGE
from hostile import HOSTILE, everything, hostile_report, rendered, steering
from rich.console import Console
from terminal import printed

from contrapose.tasks.report import csv as results_csv
from contrapose.tasks.report import markdown, summary
from contrapose.tasks.report.task import make_artifact_key, make_verdict_row
from contrapose.tasks.text.cleaning import LONGEST_LINE, escape, make_storable, one_line, show_hidden
from contrapose.tasks.text.masking import make_shower

kinds = pytest.mark.parametrize("kind", ATTACKS)
CELL = re.compile(r"\s*['\"]*\s*[=+@\uff1d\uff0b\uff20]|\s*-(?!\d+(?:\.\d+)?$)")


ELEMENTS = {
    *("b", "p", "strong", "h2", "h3", "table", "thead", "tbody", "tr", "th", "td"),
    *("br", "details", "summary", "ul", "li"),
}
"""Those of a report in Markdown."""


def test_there_are_many_and_each_once() -> None:
    assert len(HOSTILE) == len(set(HOSTILE)) >= 200
    assert all(len(text.encode()) >= 1_000_000 for text in HUGE)


@kinds
def test_no_terminal_is_steered_and_no_line_is_wider(kind: str) -> None:
    for text in ATTACKS[kind]:
        lines = printed(hostile_report(text).summary).split("\n")
        assert not steering("\n".join(lines)), ascii(text)
        assert not [line for line in lines if Console().render_str(line, markup=False, emoji=False).cell_len > 80]


@kinds
def test_an_error_stays_one_line(kind: str) -> None:
    for text in ATTACKS[kind]:
        line = one_line(f"contrapose: {text}")
        assert not steering(line), ascii(text)
        assert "\n" not in line
        assert not re.search(r"::error|##\[|##vso", line)


@kinds
def test_cells_come_back_and_none_is_a_formula(kind: str) -> None:
    content = b"".join(results_csv.render(everything(ATTACKS[kind]))).decode()
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert len(rows) == 2 * len(ATTACKS[kind])
    for text, row in zip(ATTACKS[kind], rows[::2], strict=True):
        assert results_csv.undo_disarming(row["original"]) == make_storable(text), ascii(text)
    assert not [cell for row in rows for cell in row.values() if CELL.match(cell) and not cell.startswith("'")]


@kinds
def test_markdown_holds_no_link_no_image_no_html_and_its_tables_do_not_break(kind: str) -> None:
    ours = set(re.findall(r"<[a-z][^>]*>", rendered(markdown.render(hostile_report("harmless")).decode())))
    assert {re.match("<([a-z0-9]+)", tag)[1] for tag in ours} <= ELEMENTS  # type: ignore[index]
    for text in ATTACKS[kind]:
        page = markdown.render(hostile_report(text)).decode()
        shown = rendered(page)
        assert set(re.findall(r"<[a-z][^>]*>", shown)) <= {*ours, "<br>"}, ascii(text)
        # What hosts turn into links of their own accord, also where a sign is written as an entity.
        assert not re.search(r"@\w|#\d|\w://\w|www\.\w|\bGH-\d", unescape(page), re.IGNORECASE), ascii(text)
        for line in re.findall(r"<tr>(.*?)</tr>", shown, re.DOTALL):
            assert len(re.findall(r"<t[hd]", line)) in (2, 3, 4, 7), ascii(text)


@kinds
def test_artifacts_are_plain_values_under_plain_keys(kind: str) -> None:
    for text in ATTACKS[kind]:
        told = hostile_report(text).summary
        row = make_verdict_row(told["tests"][0], model=text)
        assert json.loads(json.dumps(row)) == row
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", make_artifact_key(text, text))
        assert rendered(escape(text)).count("<") <= 2 + escape(text).count("<br>")


@kinds
def test_cleaning_twice_is_cleaning_once(kind: str) -> None:
    for text in ATTACKS[kind]:
        assert show_hidden(show_hidden(text)) == show_hidden(text)
        assert one_line(show_hidden(text)[:LONGEST_LINE]) == one_line(one_line(show_hidden(text)[:LONGEST_LINE]))
        show_hidden(text).encode()


@kinds
def test_what_people_are_shown_hides_nothing(kind: str) -> None:
    show = make_shower(show_toxic=False)
    for text in ATTACKS[kind]:
        assert not steering(show(text).replace("\t", "")), ascii(text)


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, len(HUGE)))]
)
def test_a_huge_cell_makes_no_huge_report(number: int) -> None:
    text = HUGE[number]
    told = hostile_report(text)
    assert len(printed(hostile_report(text).summary)) < 30 * LONGEST_LINE
    assert len(markdown.render(told)) < 65_536
    assert len(b"".join(results_csv.render(told))) > 1_000_000
    assert json.loads(summary.render(told))
