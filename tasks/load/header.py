"""Find the column names of a table, from its header or without one, and assign the cells of each record to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from statistics import median
from string import ascii_uppercase
from typing import Any, NamedTuple

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.description import FIELD_NAMES, WORDS, normalise_name
from contrapose.tasks.load.opening import refuse_wide
from contrapose.tasks.load.rows import Problem, Row, escape, parse_literal, quote

HEAD = 100
"""Records that are compared with the first one, to see whether it is a header."""
LONGEST_NAME = 200
"""Characters of a column name; a longer one is a text."""
LONGEST_OPTION = 5_000
"""Characters of an option in a file without a header."""
MOST_OPTIONS = 10

Cells = Sequence[Any]
"""The cells of a record; None for an empty one."""
Record = tuple[int, Cells]


class Header(NamedTuple):
    """The column names of a table, and whether its first record is a row."""

    names: Sequence[str | None]
    """In their order; None for a column without a name."""
    is_row: bool = False
    """Whether the first record is a row: the file has no header."""


def yield_table_rows(
    records: Iterator[Record], data: DataSettings, *, exact: bool = False, notes: Sequence[str] = ()
) -> Iterator[Row]:
    """Yield the rows of a table by column name, or raise DataError if the columns have no names.

    `exact`: a record may have no more cells than the header, not even empty ones.
    """
    head = list(islice(records, HEAD))
    if not head:
        return
    header = _read_header(head, data)
    if header.is_row:
        names = ", ".join(filter(None, header.names))
        notes = [*notes, f"the file has no header: its columns are read as {names}"]
    records = chain(head if header.is_row else head[1:], records)
    rows = filter(None, (_read_record(number, cells, header.names, exact=exact) for number, cells in records))
    yield from (replace(row, notes=tuple(notes)) for row in islice(rows, 1))
    yield from rows


def _read_header(head: Sequence[Record], data: DataSettings) -> Header:
    """Return the column names from the first records of a table, or raise DataError."""
    number, first = head[0]
    refuse_wide(len(first), data.source)
    records = [first, *(cells for _, cells in head[1:] if any(cell is not None for cell in cells))]
    below = records[1:]
    where = f"{escape(data.source)}, row {number}"
    known = _find_mmlu_names(records)
    if known is None and all(
        len(cells) == 2 and cells[0] and not _is_list(cells[0]) and _is_list(cells[1]) for cells in records
    ):
        # DPR's own files: a question and a list of accepted answers in every record.
        known = ["question", "answers"]
    named = {part.strip() for columns in data.columns.values() for part in columns.split(",")}
    named |= {*data.columns.values(), *filter(None, (data.slice_by, data.cluster_by))}
    in_settings = {cell.strip() for cell in first if isinstance(cell, str)} & named
    # A letter that the settings name may also be the right answer of the first row.
    if known and in_settings <= {*ascii_uppercase}:
        return Header(known, is_row=True)
    if not in_settings:
        _refuse_row(records, where)
    names = [None if cell is None or not str(cell).strip() else str(cell).strip() for cell in first]
    twice = next((name for name, count in Counter(filter(None, names)).items() if count > 1), None)
    if twice is not None or not any(names):
        observed = "the header holds no column names" if twice is None else f"two columns are called {quote(twice)}"
        remedy = "Correct the header."
        raise DataError(observed, expected="a header of distinct column names", remedy=remedy, where=where)
    if not below or any(len(cells) != len(names) + 1 for cells in below):
        return Header(names)
    if _are_counted(below):
        # R numbers rows and does not name their column.
        return Header([None, *names])
    return Header([*names, None] if all(cells[-1] is None for cells in below) else names)


def _read_record(number: int, cells: Cells, names: Sequence[str | None], *, exact: bool) -> Row | None:
    """Return a record by column name, or None if it is empty."""
    surplus = cells[len(names) :]
    if (exact and surplus) or any(cell is not None for cell in surplus):
        problem = Problem(
            f"{len(cells)} fields",
            f"{len(names)} fields, as in the header",
            remedy="Put quotes around a text that holds the separator" if exact else "Correct that row",
        )
        return Row(number=number, problem=problem)
    if all(cell is None for cell in cells):
        return None
    padded = [*cells, *[None] * (len(names) - len(cells))]
    pairs = zip(names, padded, strict=False)
    return Row(number=number, values={name: cell for name, cell in pairs if name is not None})


def _are_counted(records: Sequence[Cells]) -> bool:
    """Return whether the first cells of the records are rising numbers."""
    numbers = [cells[0] for cells in records]
    if not all(isinstance(number, str) and number.isascii() and number.isdigit() for number in numbers):
        return False
    # Compared as texts of equal length: a number of a million digits is no number for Python.
    return all((len(one), one) < (len(other), other) for one, other in pairwise(numbers))


def _find_mmlu_names(records: Sequence[Cells]) -> list[str | None] | None:
    """Return the column names of MMLU's own files (question, options, right letter), or None for other files."""
    if not _end_in_letters(records):
        return None
    index: list[str | None] = [None] if _are_counted(records) else []
    texts = [list(cells[len(index) : -1]) for cells in records]
    letters = ascii_uppercase[: len(texts[0]) - 1]
    if len(letters) < 2 or any(cells[-1] not in letters for cells in records):
        return None
    lengths = [[len(cell or "") for cell in column] for column in zip(*texts, strict=True)]
    begin_with_words = 2 * sum(_are_words(cells[0]) for cells in texts) > len(texts)
    if not begin_with_words or any(max(column) > LONGEST_OPTION for column in lengths[1:]):
        return None
    # A question in the second column stands behind a subject.
    asked_second = 2 * sum(str(cells[1]).endswith("?") for cells in texts) > len(texts)
    if asked_second or sum(lengths[1]) > 3 * max(map(sum, lengths[2:])):
        return None
    return [*index, "question", *letters, "answer"]


def _end_in_letters(records: Sequence[Cells]) -> bool:
    """Return whether all records have the same number of cells, at least four, and end in the letter of an option."""
    width, letters = len(records[0]), ascii_uppercase[:MOST_OPTIONS]
    if not 4 <= width <= MOST_OPTIONS + 3 or any(len(cells) != width for cells in records):
        return False
    if len(records) == 1 and not all(_are_words(cell) for cell in records[0][:-1]):
        return False
    # A header of letters names the options.
    header = [str(cell).strip().upper() for cell in records[0]]
    return "".join(header[-2:]) not in ascii_uppercase and all(
        isinstance(cells[-1], str) and len(cells[-1]) == 1 and cells[-1] in letters for cells in records
    )


def _are_words(cell: Any) -> bool:
    """Return whether a cell holds several words, unlike an id; Chinese words have no blanks between them."""
    return isinstance(cell, str) and (" " in cell.strip() or not cell.isascii())


def _is_list(cell: Any) -> bool:
    """Return whether a cell holds the text of a list."""
    return isinstance(cell, str) and cell.startswith("[") and isinstance(parse_literal(cell), list)


def _refuse_row(records: Sequence[Cells], where: str) -> None:
    """Raise DataError if the first record is plainly a row, not a header."""
    header = records[0]
    place = 1 if len(header) > 1 and _are_counted(records) else 0
    first = str(header[place] or "").strip()
    below = [str(cells[place] or "").strip() for cells in records[1:] if len(cells) > place]
    lists = [cell for cell in header if _is_list(cell)]
    others = zip(*(cells for cells in records[1:] if list(cells) != list(header)), strict=False)
    repeated = [cell for cell, column in zip(header, others, strict=False) if cell is not None and cell in column]
    if len(first) > LONGEST_NAME:
        why = f"it begins with a text of {len(first):,} characters"
    elif first.endswith("?") and 2 * sum(text.endswith("?") for text in below) > len(below):
        why = f"it begins with {quote(first)}, and rows below are questions too"
    elif _end_in_letters(records):
        why = f"it ends in the letter {header[-1]}, as the rows below do"
    elif lists:
        why = f"it holds {quote(lists[0])}"
    elif any(normalise_name(str(cell)) in FIELD_NAMES for cell in header):
        return
    elif repeated:
        why = f"it holds {quote(repeated[0])}, as rows below do"
    elif len(first.split()) >= WORDS and below and 2 * len(first) >= median(map(len, below)):
        why = f"it begins with {quote(first)}, and rows below are texts too"
    else:
        return
    raise DataError(
        f"the first row looks like data: {why}",
        expected="a header of column names",
        remedy="Add a first row with names, such as question and answer. If this row is the header, "
        "name one of its columns: --set data.columns.text=COLUMN.",
        where=where,
    )
