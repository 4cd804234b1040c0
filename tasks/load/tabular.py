"""Tables: CSV, TSV, Parquet and Excel files."""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

import pyarrow.parquet as pq

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_CLAIMED_ROWS, MOST_DOCUMENT, MOST_LINE, MOST_SHEET_ROWS
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.columns import refuse_wide, to_decode
from contrapose.tasks.load.header import header, row_of
from contrapose.tasks.load.opening import failure, library_error, not_utf8, opened, refuse_bomb
from contrapose.tasks.load.reading import format_of
from contrapose.tasks.load.rows import Problem, Row, escaped, listed, shown


def read_csv(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a comma-separated file in UTF-8 with a header; semicolons or tabs where these part it.

    Spreadsheet programs of many countries write semicolons, and call the file .csv all the same.

    Raises:
        DataError: it is not UTF-8, or has NUL bytes or a quote that is never closed.
    """
    return _read(file, data.source, ",;\t")


def read_tsv(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a tab-separated file; otherwise as `read_csv`."""
    return _read(file, data.source, "\t,;")


def _read(file: IO[bytes], source: str, separators: str) -> Iterator[Row]:
    # Left to the garbage collector, it would let go of the file only after that is closed, and complain.
    with closing(_records(file, source, separators)) as records:
        first = next(records, None)
        if first is None:
            return
        names = header(first, source)
        for number, cells in enumerate(records, start=2):
            row = _too_long(number, cells, names) or row_of(number, cells, names)
            if row is not None:
                yield row


def _records(file: IO[bytes], source: str, separators: str) -> Generator[list[str | None]]:
    """Cells of every record, the header among them."""
    lines = _Lines(file=io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), source=source)
    read = iter(lines)
    # A text may be longer than the parser's own limit; what is too long is told with its row.
    csv.field_size_limit(sys.maxsize)
    try:
        first = next(read, "")
        parser = csv.reader(chain(filter(None, [first]), read), delimiter=_separator(first, separators))
        for number, cells in enumerate(parser, start=1):
            if lines.ended:
                raise DataError(
                    "a quote is never closed",
                    expected="an even number of quotes",
                    remedy="Close the quote, or double a quote that belongs to the text.",
                    where=f"{escaped(source)}, row {number}",
                )
            lines.taken = 0
            yield [cell or None for cell in cells]
    except UnicodeDecodeError as error:
        # Reading it again tells the place; the piece that was met cannot.
        raise not_utf8(file, source) from error
    finally:
        lines.file.detach()


def _separator(header: str, separators: str) -> str:
    """The first separator that parts the header into several names; the usual one where none does."""
    parted = (separator for separator in separators if len(next(csv.reader([header], delimiter=separator), [])) > 1)
    return next(parted, separators[0])


@dataclass(slots=True, kw_only=True)
class _Lines:
    """Lines of a file; the parser asks for one more than there are only where a quote was left open."""

    file: io.TextIOWrapper
    source: str
    number: int = 0
    taken: int = 0
    """Characters since the last record; a quote that is never closed must not fill the memory."""
    ended: bool = False

    def __iter__(self) -> Iterator[str]:
        for line in iter(lambda: self.file.readline(MOST_LINE), ""):
            self.number += 1
            self.taken += len(line)
            if "\0" in line:
                # The parser would take a NUL for a part of the text.
                raise self._failure("the file holds a NUL byte", "text", "Save the file as UTF-8 text.")
            if self.taken >= MOST_LINE:
                remedy = "Look for a quote that is not closed, or for line ends that are missing."
                raise self._failure(f"a record of {MOST_LINE:,} characters or more", "records that are shorter", remedy)
            yield line
        self.ended = True

    def _failure(self, observed: str, expected: str, remedy: str) -> DataError:
        where = f"{escaped(self.source)}, line {self.number}"
        return DataError(observed, expected=expected, remedy=remedy, where=where)


def _too_long(number: int, cells: Sequence[object], names: Sequence[object]) -> Row | None:
    """A record with more fields than the header, empty ones too: a text that holds the separator lacks its quotes."""
    if len(cells) <= len(names):
        return None
    problem = Problem(
        f"{len(cells)} fields",
        f"{len(names)} fields, as in the header",
        remedy="Put quotes around a text that holds the separator",
    )
    return Row(number=number, problem=problem)


def read_excel(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a sheet, numbered as in the sheet.

    A number in a cell is read as its text: Excel makes a number of every 42 that people type.

    Raises:
        DataError: the file is damaged or no .xlsx, or there is no such sheet.
    """
    records = _sheet_records(file, data)
    names = header(next(records, []), data.source)
    for number, cells in enumerate(records, start=2):
        row = row_of(number, cells, names)
        if row is not None:
            yield row


def _sheet_records(file: IO[bytes], data: DataSettings) -> Iterator[list[Any]]:
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
        raise failure(
            data.source, f"the file cannot be read ({library_error(error)})", expected="an .xlsx file"
        ) from error


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


BATCH = 128
"""Rows that are decoded at once: few, since a text that is stored once may be that of every row."""


def read_parquet(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a Parquet file, counted from 1; columns that no sample has are None, whatever they hold.

    Raises:
        DataError: it is damaged, not Parquet, or says of itself what cannot be.
    """
    number = 0
    # Wrong metadata surface as whatever pyarrow, a calendar or a list of time zones stumbles over.
    try:
        table = pq.ParquetFile(file)
        _refuse_claims(table.metadata, file.seek(0, io.SEEK_END), data.source)
        names: list[str] = table.schema_arrow.names
        refuse_wide(len(names), data.source)
        blank, wanted = dict.fromkeys(names), to_decode(table.schema_arrow, data)
        for batch in table.iter_batches(batch_size=BATCH, columns=wanted):
            for values in batch.to_pylist():
                number += 1
                yield Row(number=number, values={**blank, **values})
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise failure(data.source, f"the file cannot be read ({library_error(error)})", expected="Parquet") from error


def _refuse_claims(metadata: pq.FileMetaData, size: int, source: str) -> None:
    """Stop where a file of so many bytes says that it holds more than it can."""
    rows = metadata.num_rows
    if rows > max(MOST_CLAIMED_ROWS, size):
        raise failure(source, f"{rows:,} rows in {size:,} bytes", expected="a byte for each row at least")
    unpacked = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
    refuse_bomb(source, packed=size, unpacked=unpacked)


READERS: dict[str, Callable[[IO[bytes], DataSettings], Iterator[Row]]] = {
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "xlsx": read_excel,
}


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Rows of a table.

    Raises:
        DataError: the file cannot be read as what it should be.
    """
    with opened(data.source) as file:
        yield from READERS[format_of(data)](file, data)
