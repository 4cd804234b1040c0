"""The samples of the page, as data that its script reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from contrapose.tasks.report.html.diff import Segments, mark
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.rows import Row, outcomes, read_rows

MOST_ROWS = 20_000
"""Rows on one page; a browser grows slow beyond. Passed rows are left out first."""

# In a script element these could end it, or open a comment in it; in old script they end a line.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row with its changed words set apart."""

    row: Row
    original: Segments
    changed: Segments


def page_rows(results: pd.DataFrame, show: Show) -> list[PageRow]:
    """The rows of the page, in the order of the results."""
    return [_marked(row) for row in read_rows(_fitting(results), show)]


def to_island(rows: list[PageRow]) -> str:
    """JSON that can stand inside a script element: no sign in it can end that element."""
    return json.dumps(list(map(_plain, rows)), ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


def _marked(row: Row) -> PageRow:
    marked = mark(row.original, row.changed)
    return PageRow(row=row, original=marked.original, changed=marked.changed)


def _fitting(results: pd.DataFrame) -> pd.DataFrame:
    if len(results) <= MOST_ROWS:
        return results
    passed = (outcomes(results) == "pass").to_numpy()
    kept = sorted(passed.argsort(kind="stable")[:MOST_ROWS])
    return results.iloc[kept]


def _plain(page_row: PageRow) -> dict[str, object]:
    return dict(_fields(page_row))


def _fields(page_row: PageRow) -> Iterator[tuple[str, object]]:
    row = page_row.row
    for name in ("test", "id", "outcome", "score", "before", "after", "reason", "details"):
        yield name, getattr(row, name)
    yield "original", page_row.original
    yield "changed", page_row.changed
