"""The samples of the page, as data that its script reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from contrapose.tasks.report.base import Results
from contrapose.tasks.report.diff import Segments, mark
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.rows import Row, name_of, outcomes, read_rows, tested

MOST_ROWS = 20_000
"""Rows on one page; a browser grows slow beyond. Controls are left out first, then passed rows."""

# In a script element these could end it, or open a comment in it; in old script they end a line.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row with its changed words set apart."""

    row: Row
    number: str
    """Which of its sample's cases it is; empty where a sample has one."""
    original: Segments
    changed: Segments


def page_rows(results: Results, show: Show, *, show_langtest: bool = False) -> list[PageRow]:
    """The rows of the page, in the order of the results."""
    fitting = results.at(_fitting(results.figures))
    if not show_langtest:
        fitting = fitting.drop(columns=[name for name in fitting if str(name).startswith("langtest_")])
    numbers = fitting.reindex(columns=["test_type", "sample_id", "case_id"]).itertuples(index=False, name=None)
    return [_marked(row, _number(*ids)) for row, ids in zip(read_rows(fitting, show), numbers, strict=True)]


def to_island(rows: list[PageRow]) -> str:
    """JSON that can stand inside a script element: no sign in it can end that element."""
    return json.dumps(list(map(_plain, rows)), ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


def _marked(row: Row, number: str) -> PageRow:
    marked = mark(row.original, row.changed)
    return PageRow(row=row, number="" if row.control else number, original=marked.original, changed=marked.changed)


def _number(test: object, sample: object, case: object) -> str:
    """What a case id adds to test and sample: `2` of `option_order/question-7/2`."""
    beyond = f"{test}/{sample}/"
    return name_of(case.removeprefix(beyond)) if isinstance(case, str) and case.startswith(beyond) else ""


def _fitting(results: pd.DataFrame) -> list[int]:
    """Places of the rows that fit on the page."""
    if len(results) <= MOST_ROWS:
        return list(range(len(results)))
    dispensable = (outcomes(results) == "pass").astype(int).mask(~results.index.isin(tested(results).index), 2)
    return sorted(dispensable.to_numpy().argsort(kind="stable")[:MOST_ROWS].tolist())


def _plain(page_row: PageRow) -> dict[str, object]:
    return dict(_fields(page_row))


def _fields(page_row: PageRow) -> Iterator[tuple[str, object]]:
    row = page_row.row
    yield "number", page_row.number
    for name in ("test", "id", "outcome", "control", "score", "before", "after", "reason", "details"):
        yield name, getattr(row, name)
    yield "original", page_row.original
    yield "changed", page_row.changed
