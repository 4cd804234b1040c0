"""The header of a table, or the names of its columns where it has none, and the cells of a record under these names."""

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
from contrapose.tasks.load.description import FIELD_NAMES, WORDS, plain_name
from contrapose.tasks.load.opening import refuse_wide
from contrapose.tasks.load.rows import Problem, Row, escaped, shown, structured

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
"""Row number and cells."""


class Header(NamedTuple):
    """The names of columns."""

    names: Sequence[str | None]
    """In their order; None for a column without a name."""
    is_row: bool = False
    """Whether the first record is a row: the file has no header."""


def table_rows(
    records: Iterator[Record], data: DataSettings, *, exact: bool = False, notes: Sequence[str] = ()
) -> Iterator[Row]:
    """Rows of a table under the names of its columns.

    Args:
        records: all of them, the header too.
        data: source and columns.
        exact: a record may have no more cells than the header, not even empty ones.
        notes: what people should know about how the file is read.

    Raises:
        DataError: there is no header.
    """
    head = list(islice(records, HEAD))
    if not head:
        return
    header = read_header(head, data)
    if header.is_row:
        names = ", ".join(filter(None, header.names))
        notes = [*notes, f"the file has no header: its columns are read as {names}"]
    records = chain(head if header.is_row else head[1:], records)
    rows = filter(None, (row_of(number, cells, header.names, exact=exact) for number, cells in records))
    yield from (replace(row, notes=tuple(notes)) for row in islice(rows, 1))
    yield from rows


def read_header(head: Sequence[Record], data: DataSettings) -> Header:
    """The names of columns, from the first records of a table.

    Raises:
        DataError: the first record is no header, has no names or a name twice, or has too many.
    """
    number, first = head[0]
    refuse_wide(len(first), data.source)
    records = [first, *(cells for _, cells in head[1:] if any(cell is not None for cell in cells))]
    where = f"{escaped(data.source)}, row {number}"
    known = _names_of_choices(records) or _names_of_answer_lists(records)
    in_settings = _named_in_settings(first, data)
    # A letter that the settings name may also be the right answer of the first row.
    if known and in_settings <= {*ascii_uppercase}:
        return Header(known, is_row=True)
    if not in_settings:
        _refuse_row(records, where)
    names = _distinct_names(first, where)
    if _have_row_names(records[1:], len(names)):
        return Header([None, *names])
    return Header([*names, None] if _end_in_separators(records[1:], len(names)) else names)


def row_of(number: int, cells: Cells, names: Sequence[str | None], *, exact: bool = False) -> Row | None:
    """A record under its column names; None for an empty one."""
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


def _distinct_names(cells: Cells, where: str) -> list[str | None]:
    names = [None if cell is None or not str(cell).strip() else str(cell).strip() for cell in cells]
    twice = next((name for name, count in Counter(filter(None, names)).items() if count > 1), None)
    if twice is None and any(names):
        return names
    observed = "the header holds no column names" if twice is None else f"two columns are called {shown(twice)}"
    raise DataError(observed, expected="a header of distinct column names", remedy="Correct the header.", where=where)


def _named_in_settings(cells: Cells, data: DataSettings) -> set[str]:
    """Those of some cells that the settings name as columns."""
    parts = {part.strip() for columns in data.columns.values() for part in columns.split(",")}
    named = parts | {*data.columns.values(), data.slice_by, data.cluster_by}
    return {cell.strip() for cell in cells if isinstance(cell, str) and cell.strip() in named}


def _have_row_names(records: Sequence[Cells], width: int) -> bool:
    """Whether each record has one cell more than the header: R numbers rows and does not name their column."""
    return bool(records) and all(len(cells) == width + 1 for cells in records) and _are_counted(records)


def _end_in_separators(records: Sequence[Cells], width: int) -> bool:
    """Whether each record has one cell more than the header, and nothing in it."""
    return bool(records) and all(len(cells) == width + 1 and cells[-1] is None for cells in records)


def _are_counted(records: Sequence[Cells]) -> bool:
    """Whether the first cells of records are rising numbers."""
    if not all(isinstance(cells[0], str) and cells[0].isascii() and cells[0].isdigit() for cells in records):
        return False
    numbers = [cells[0] for cells in records]
    # Compared as texts of equal length: a number of a million digits is no number for Python.
    return all((len(one), one) < (len(other), other) for one, other in pairwise(numbers))


def _names_of_choices(records: Sequence[Cells]) -> list[str | None] | None:
    """Column names of MMLU's own files: a question, its options, and the letter of the right one in every record."""
    if not _end_in_letters(records):
        return None
    index: list[str | None] = [None] if _are_counted(records) else []
    texts = [list(cells[len(index) : -1]) for cells in records]
    letters = ascii_uppercase[: len(texts[0]) - 1]
    if len(letters) < 2 or any(cells[-1] not in letters for cells in records) or not _begin_with_questions(texts):
        return None
    return [*index, "question", *letters, "answer"]


def _end_in_letters(records: Sequence[Cells]) -> bool:
    """Whether records have equally many cells, four at least, and each ends in the letter of an option.

    Of a single record the other cells are texts: it may also be a header without rows.
    """
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


def _begin_with_questions(texts: Sequence[Sequence[Any]]) -> bool:
    """Whether texts are a question and short options, and the question is not the second one, as behind a subject."""
    if 2 * sum(_are_words(cells[0]) for cells in texts) <= len(texts):
        return False
    lengths = [[len(cell or "") for cell in column] for column in zip(*texts, strict=True)]
    if any(max(column) > LONGEST_OPTION for column in lengths[1:]):
        return False
    second, others = lengths[1], lengths[2:]
    asked = sum(str(cells[1]).endswith("?") for cells in texts)
    return 2 * asked <= len(texts) and sum(second) <= 3 * max(map(sum, others))


def _are_words(cell: Any) -> bool:
    """Whether a cell holds several words, unlike an id; Chinese words have no blanks between them."""
    return isinstance(cell, str) and (" " in cell.strip() or not cell.isascii())


def _names_of_answer_lists(records: Sequence[Cells]) -> list[str | None] | None:
    """Column names of DPR's own files: a question and a list of accepted answers in every record."""
    listed = all(len(cells) == 2 and cells[0] and not _is_list(cells[0]) and _is_list(cells[1]) for cells in records)
    return ["question", "answers"] if listed else None


def _is_list(cell: Any) -> bool:
    return isinstance(cell, str) and cell.startswith("[") and isinstance(structured(cell), list)


def _repeated_value(records: Sequence[Cells]) -> Any:
    """A value of the first record that stands below itself as well; None where there is none, as below a header."""
    first, *others = records
    others = [cells for cells in others if list(cells) != list(first)]
    columns = zip(first, zip(*others, strict=False), strict=False)
    return next((cell for cell, below in columns if cell is not None and cell in below), None)


def _refuse_row(records: Sequence[Cells], where: str) -> None:
    """Stop where the first record plainly is a row.

    Raises:
        DataError: it is.
    """
    place = 1 if len(records[0]) > 1 and _are_counted(records) else 0
    first = str(records[0][place] or "").strip()
    below = [str(cells[place] or "").strip() for cells in records[1:] if len(cells) > place]
    if len(first) > LONGEST_NAME:
        why = f"it begins with a text of {len(first):,} characters"
    elif first.endswith("?") and 2 * sum(text.endswith("?") for text in below) > len(below):
        why = f"it begins with {shown(first)}, and the rows below begin with questions too"
    elif _end_in_letters(records):
        why = f"it ends in the letter {records[0][-1]}, as the rows below do"
    elif any(_is_list(cell) for cell in records[0]):
        why = f"it holds {shown(next(cell for cell in records[0] if _is_list(cell)))}"
    elif any(plain_name(str(cell)) in FIELD_NAMES for cell in records[0]):
        return
    elif (repeated := _repeated_value(records)) is not None:
        why = f"it holds {shown(repeated)}, as rows below do"
    elif len(first.split()) >= WORDS and below and 2 * len(first) >= median(map(len, below)):
        why = f"it begins with {shown(first)}, and the rows below begin with texts too"
    else:
        return
    raise DataError(
        f"the first row seems to be data, not a header: {why}",
        expected="a header with a name for each column",
        remedy="Add a first row with names, such as question and answer; if this row is the header, "
        "name one of its columns: --set data.columns.text=COLUMN.",
        where=where,
    )
