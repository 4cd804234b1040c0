"""The rows that are on the page without its script too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from contrapose.tasks.report.base import Results
from contrapose.tasks.report.diff import Segments, mark
from contrapose.tasks.report.html.island import numbers, without_langtest
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.rows import Row, read_rows, tested

FIRST_ROWS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRow:
    """A row with its changed words set apart."""

    row: Row
    number: str
    """Which of its sample's cases it is; empty where a sample has one."""
    original: Segments
    changed: Segments


def first_rows(
    results: Results, figures: pd.DataFrame, places: Sequence[int], show: Show, *, show_langtest: bool
) -> list[FirstRow]:
    """The first of the rows at `places` that are no controls, masked."""
    counted = figures.index[figures.index.isin(places)].intersection(tested(figures).index)
    rows = without_langtest(results.at(counted[:FIRST_ROWS].tolist()), show_langtest=show_langtest)
    return [_marked(row, number) for row, number in zip(read_rows(rows, show), numbers(rows), strict=True)]


def _marked(row: Row, number: str) -> FirstRow:
    marked = mark(row.original, row.changed)
    return FirstRow(row=row, number=number, original=marked.original, changed=marked.changed)
