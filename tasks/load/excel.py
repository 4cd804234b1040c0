"""Excel, one sheet of it: values as they were last computed, never formulas."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import IO, Any

from contrapose.tasks.bounds import MOST_DOCUMENT, MOST_SHEET_ROWS
from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.errors import DataError
from contrapose.tasks.load.headers import header, row_of
from contrapose.tasks.load.opening import failure, refuse_bomb, told
from contrapose.tasks.load.rows import Row, listed, shown


def read(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a sheet, numbered as in the sheet.

    A number in a cell is read as its text: Excel makes a number of every 42 that people type.

    Raises:
        DataError: the file is damaged or no .xlsx, or there is no such sheet.
    """
    records = _records(file, data)
    names = header(next(records, []), data.source)
    for number, cells in enumerate(records, start=2):
        row = row_of(number, cells, names)
        if row is not None:
            yield row


def _records(file: IO[bytes], data: DataSettings) -> Iterator[list[Any]]:
    import openpyxl

    try:
        _refuse_unpacked(file, data.source)
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        sheet = _sheet(book, data)
        # Some programs store a wrong size, and rows beyond it would be lost.
        sheet.reset_dimensions()
        for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
            # A row's own number may be any, and all rows before it are made up.
            if number > MOST_SHEET_ROWS:
                raise failure(
                    data.source, f"row {number:,} or a later one", expected=f"at most {MOST_SHEET_ROWS:,} rows"
                )
            yield [_text(cell) for cell in cells]
    except DataError:
        raise
    # A damaged file surfaces as whatever openpyxl, its zip or its XML reader stumbles over.
    except Exception as error:
        raise failure(data.source, f"the file cannot be read ({told(error)})", expected="an .xlsx file") from error


def _refuse_unpacked(file: IO[bytes], source: str) -> None:
    """Stop where the parts of a book say that they are bombs, or too large; none yields more than it says."""
    with zipfile.ZipFile(file) as book:
        sizes = [(part.compress_size, part.file_size) for part in book.infolist()]
    for packed, unpacked in sizes:
        refuse_bomb(source, packed=packed, unpacked=unpacked)
    if (total := sum(unpacked for _, unpacked in sizes)) > MOST_DOCUMENT:
        raise failure(
            source,
            f"a book of {total:,} bytes, unpacked",
            expected=f"at most {MOST_DOCUMENT:,}",
            remedy="Save it as CSV or Parquet, which are read row by row.",
        )
    file.seek(0)


def _sheet(book: Any, data: DataSettings) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    wanted = data.sheet or next(iter(sheets), "")
    if wanted not in sheets:
        raise failure(
            data.source,
            f"there is no sheet {shown(wanted)}",
            expected=f"one of {listed(list(sheets))}",
            remedy="Correct sheet.",
        )
    return sheets[wanted]


def _text(cell: Any) -> Any:
    """A number as its text, 42.0 as 42; an empty text as null; everything else as it is."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None if cell == "" else cell
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if whole else str(cell)
