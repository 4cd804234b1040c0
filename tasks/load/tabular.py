"""Tables: CSV, TSV, Parquet and Excel files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_CLAIMED_ROWS, MOST_DOCUMENT, MOST_SHEET_ROWS
from contrapose.tasks.core.errors import DataError, meant
from contrapose.tasks.load.delimited import read_delimited
from contrapose.tasks.load.header import Record, table_rows
from contrapose.tasks.load.opening import failure, library_error, opened, opened_text, refuse_bomb, refuse_wide
from contrapose.tasks.load.reading import format_of
from contrapose.tasks.load.rows import Row, listed, shown

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

SEPARATORS = {"csv": ",;\t|", "tsv": "\t,;|"}
"""What may separate fields, the likeliest first; spreadsheets of many countries write semicolons into a .csv."""
BATCH = 128
"""Rows that are decoded at once: few, since a text that is stored once may be that of every row."""
SEARCHED = 1_000
"""Rows of a sheet that are searched for a value."""


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Rows of a table.

    Raises:
        DataError: the file cannot be read as what it should be.
    """
    name = format_of(data)
    if name in SEPARATORS:
        with opened_text(data.source) as file:
            yield from read_delimited(file, data, SEPARATORS[name])
    else:
        with opened(data.source) as file:
            yield from _read_excel(file, data) if name == "xlsx" else _read_parquet(file, data)


def _read_excel(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a sheet, numbered as in the sheet.

    A number in a cell is read as its text: Excel makes a number of every 42 that people type.

    Raises:
        DataError: the file is damaged or no .xlsx, or there is no such sheet.
    """
    with _excel_failures(data.source):
        sheets = _book(file, data.source).worksheets
        sheet = _chosen_sheet(sheets, data)
        others = ", ".join(_described(other) for other in sheets if other is not sheet)
    is_open = others and data.sheet is None
    notes = [f"sheet {shown(sheet.title)} is read; the workbook also has {others}"] if is_open else []
    with closing(_sheet_records(sheet, data)) as records:
        yield from table_rows(records, data, notes=notes)


def _sheet_records(sheet: Any, data: DataSettings) -> Generator[Record]:
    """Row number and cells of every row of a sheet that is not empty."""
    with _excel_failures(data.source):
        for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
            # A row's own number may be any, and all rows before it are made up.
            if number > MOST_SHEET_ROWS:
                raise failure(
                    data.source, f"row {number:,} or a later one", expected=f"at most {MOST_SHEET_ROWS:,} rows"
                )
            texts = [_text(cell) for cell in cells]
            if any(text is not None for text in texts):
                yield number, texts


@contextmanager
def _excel_failures(source: str) -> Iterator[None]:
    """Turn whatever openpyxl, its zip or its XML reader raises for a damaged file into one error."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        raise failure(source, f"the file cannot be read ({library_error(error)})", expected="an .xlsx file") from error


def _book(file: IO[bytes], source: str) -> Any:
    import openpyxl

    _refuse_unpacked(file, source)
    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    for sheet in book.worksheets:
        # Some programs store a wrong size, and rows beyond it would be lost.
        sheet.reset_dimensions()
    return book


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


def _chosen_sheet(sheets: Sequence[Any], data: DataSettings) -> Any:
    """The sheet that the settings name, or else the first that is not hidden and holds something.

    Raises:
        DataError: there is no such sheet, or only hidden ones hold something.
    """
    titles = [sheet.title for sheet in sheets]
    if data.sheet is not None:
        if data.sheet not in titles:
            remedy = meant(data.sheet, titles, otherwise="Correct sheet.")
            raise failure(
                data.source,
                f"there is no sheet {shown(data.sheet)}",
                expected=f"one of {listed(titles)}",
                remedy=remedy,
            )
        return sheets[titles.index(data.sheet)]
    visible = [sheet for sheet in sheets if sheet.sheet_state == "visible"]
    chosen = next(filter(_has_values, visible), None) or next(iter(visible), None)
    hidden = [sheet.title for sheet in sheets if sheet not in visible and _has_values(sheet)]
    if chosen is None or (hidden and not _has_values(chosen)):
        raise failure(
            data.source,
            f"only hidden sheets hold something: {listed(hidden)}",
            expected="rows in a sheet that is not hidden",
            remedy="Set sheet, or show that sheet in Excel.",
        )
    return chosen


def _has_values(sheet: Any) -> bool:
    with closing(sheet.iter_rows(values_only=True)) as rows:
        return any(cell not in (None, "") for cells in islice(rows, SEARCHED) for cell in cells)


def _described(sheet: Any) -> str:
    """A sheet that is not read, and whether it is hidden or empty."""
    state = "" if sheet.sheet_state == "visible" else " (hidden)"
    return f"{shown(sheet.title)}{state or ('' if _has_values(sheet) else ' (empty)')}"


def _text(cell: Any) -> Any:
    """A number as its text, 42.0 as 42; an empty text as null; everything else as it is."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None if cell == "" else cell
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if whole else str(cell)


def _read_parquet(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a Parquet file, counted from 1; columns that no sample has are None, whatever they hold.

    Raises:
        DataError: it is damaged, not Parquet, or says of itself what cannot be.
    """
    from pyarrow.parquet import ParquetFile

    number = 0
    # Wrong metadata surface as whatever pyarrow, a calendar or a list of time zones stumbles over.
    try:
        table = ParquetFile(file)
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


def to_decode(schema: pa.Schema, data: DataSettings) -> list[str]:
    """Columns of an Arrow table whose values are read: texts, numbers, truth values, lists and objects of these.

    Images, sounds and times are no part of a question, and some cannot be decoded; those that a setting names are read
    all the same.
    """
    named = {part.strip().partition(".")[0] for columns in data.columns.values() for part in columns.split(",")}
    named |= {data.slice_by or "", data.cluster_by or "", *data.columns.values()}
    return [field.name for field in schema if data.every_column or field.name in named or _is_plain(field.type)]


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _is_plain(kind.value_type)
    if pa.types.is_struct(kind):
        return all(_is_plain(kind.field(place).type) for place in range(kind.num_fields))
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return bool(text or number or pa.types.is_null(kind))


def _refuse_claims(metadata: FileMetaData, size: int, source: str) -> None:
    """Stop where a file of so many bytes says that it holds more than it can."""
    rows = metadata.num_rows
    if rows > max(MOST_CLAIMED_ROWS, size):
        raise failure(source, f"{rows:,} rows in {size:,} bytes", expected="a byte for each row at least")
    unpacked = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
    refuse_bomb(source, packed=size, unpacked=unpacked)
