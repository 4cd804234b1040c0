"""Read tables: CSV, TSV, Parquet and Excel files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import IO, Any

import pyarrow as pa

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_CLAIMED_ROWS, MOST_DOCUMENT, MOST_SHEET_ROWS
from contrapose.tasks.core.errors import DataError, suggest_name
from contrapose.tasks.load.delimited import read_delimited
from contrapose.tasks.load.header import Record, yield_table_rows
from contrapose.tasks.load.opening import library_error, open_source, open_text, refuse_bomb, refuse_wide, source_error
from contrapose.tasks.load.rows import Row, quote, quote_all
from contrapose.tasks.load.source_reader import detect_format

SEPARATORS = {"csv": ",;\t|", "tsv": "\t,;|"}
"""Signs that may separate fields, the likeliest first; spreadsheets of many countries write semicolons into a .csv."""
BATCH = 128
"""Rows that are decoded at once: few, since a text that is stored once may be that of every row."""
SEARCHED = 1_000
"""Rows of a sheet that are searched for a value."""


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Yield the rows of a table, or raise DataError."""
    name = detect_format(data)
    if name in SEPARATORS:
        with open_text(data.source) as file:
            yield from read_delimited(file, data, SEPARATORS[name])
    else:
        with open_source(data.source) as file:
            yield from _read_excel(file, data) if name == "xlsx" else _read_parquet(file, data)


def _read_excel(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Yield the rows of a sheet, numbered as in the sheet; numbers become texts, because people may have typed them."""
    with _excel_errors(data.source):
        sheets = _open_book(file, data.source).worksheets
        sheet = _choose_sheet(sheets, data)
        others = []
        for other in sheets:
            state = " (hidden)" if other.sheet_state != "visible" else "" if _has_values(other) else " (empty)"
            others += [] if other is sheet else [f"{quote(other.title)}{state}"]
    is_open = others and data.sheet is None
    notes = [f"sheet {quote(sheet.title)} is read; the workbook also has {', '.join(others)}"] if is_open else []
    with closing(_sheet_records(sheet, data)) as records:
        yield from yield_table_rows(records, data, notes=notes)


def _sheet_records(sheet: Any, data: DataSettings) -> Generator[Record]:
    """Yield row number and cells of every row of a sheet that is not empty."""

    def read_cell(cell: Any) -> Any:
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            return None if cell == "" else cell
        return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)

    with _excel_errors(data.source):
        for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
            # A row's own number may be any, and all rows before it are made up.
            if number > MOST_SHEET_ROWS:
                expected = f"at most {MOST_SHEET_ROWS:,} rows"
                raise source_error(data.source, f"row {number:,} or a later one", expected=expected)
            texts = [read_cell(cell) for cell in cells]
            if any(text is not None for text in texts):
                yield number, texts


@contextmanager
def _excel_errors(source: str) -> Iterator[None]:
    """Turn any error of openpyxl or of its zip and XML readers about a damaged file into one DataError."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        observed = f"the file cannot be read ({library_error(error)})"
        raise source_error(source, observed, expected="an .xlsx file") from error


def _open_book(file: IO[bytes], source: str) -> Any:
    """Open a workbook, or raise DataError if its parts are zip bombs or too large."""
    import openpyxl

    with zipfile.ZipFile(file) as packed_book:
        sizes = [(part.compress_size, part.file_size) for part in packed_book.infolist()]
    for packed, unpacked in sizes:
        refuse_bomb(source, packed=packed, unpacked=unpacked)
    if (total := sum(unpacked for _, unpacked in sizes)) > MOST_DOCUMENT:
        raise source_error(
            source,
            f"a book of {total:,} bytes, unpacked",
            expected=f"at most {MOST_DOCUMENT:,}",
            remedy="Save it as CSV or Parquet, which are read row by row.",
        )
    file.seek(0)
    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    for sheet in book.worksheets:
        # Some programs store a wrong size, and rows beyond it would be lost.
        sheet.reset_dimensions()
    return book


def _choose_sheet(sheets: Sequence[Any], data: DataSettings) -> Any:
    """Return the sheet that the settings name, or else the first visible sheet that is not empty."""
    titles = [sheet.title for sheet in sheets]
    if data.sheet is not None:
        if data.sheet not in titles:
            raise source_error(
                data.source,
                f"there is no sheet {quote(data.sheet)}",
                expected=f"one of {quote_all(titles)}",
                remedy=suggest_name(data.sheet, titles, otherwise="Correct data.sheet."),
            )
        return sheets[titles.index(data.sheet)]
    visible = [sheet for sheet in sheets if sheet.sheet_state == "visible"]
    filled = next(filter(_has_values, visible), None)
    hidden = [sheet.title for sheet in sheets if sheet not in visible and _has_values(sheet)]
    if not visible or (hidden and filled is None):
        raise source_error(
            data.source,
            f"only hidden sheets hold something: {quote_all(hidden)}",
            expected="rows in a sheet that is not hidden",
            remedy="Set data.sheet to one of these, or show one in Excel.",
        )
    return filled or visible[0]


def _has_values(sheet: Any) -> bool:
    """Return whether the first rows of a sheet hold a value."""
    with closing(sheet.iter_rows(values_only=True)) as rows:
        return any(cell not in (None, "") for cells in islice(rows, SEARCHED) for cell in cells)


def _read_parquet(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Yield the rows of a Parquet file, counted from 1; columns that samples do not need are None."""
    from pyarrow.parquet import ParquetFile

    number = 0
    # Wrong metadata surface as whatever pyarrow, a calendar or a list of time zones stumbles over.
    try:
        table = ParquetFile(file)
        size, rows = file.seek(0, io.SEEK_END), table.metadata.num_rows
        if rows > max(MOST_CLAIMED_ROWS, size):
            observed = f"{rows:,} rows in {size:,} bytes"
            raise source_error(data.source, observed, expected="a byte for each row at least")
        groups = map(table.metadata.row_group, range(table.metadata.num_row_groups))
        refuse_bomb(data.source, packed=size, unpacked=sum(group.total_byte_size for group in groups))
        names: list[str] = table.schema_arrow.names
        refuse_wide(len(names), data.source)
        blank, wanted = dict.fromkeys(names), columns_to_decode(table.schema_arrow, data)
        for batch in table.iter_batches(batch_size=BATCH, columns=wanted):
            for values in batch.to_pylist():
                number += 1
                yield Row(number=number, values={**blank, **values})
    except (DataError, MemoryError):
        raise
    except Exception as error:
        observed = f"the file cannot be read ({library_error(error)})"
        raise source_error(data.source, observed, expected="Parquet") from error


def columns_to_decode(schema: pa.Schema, data: DataSettings) -> list[str]:
    """Return the columns that a setting names or that hold plain values: no images, sounds or times."""
    named = {part.strip().partition(".")[0] for columns in data.columns.values() for part in columns.split(",")}
    named |= {data.slice_by or "", data.cluster_by or "", *data.columns.values()}
    return [field.name for field in schema if data.every_column or field.name in named or _is_plain(field.type)]


def _is_plain(kind: pa.DataType) -> bool:
    """Return whether a type holds texts, numbers, truth values, nothing, or lists and objects of these."""
    types = pa.types
    if types.is_struct(kind):
        return all(_is_plain(kind.field(place).type) for place in range(kind.num_fields))
    nested = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_dictionary)
    if any(test(kind) for test in nested):
        return _is_plain(kind.value_type)
    single = (types.is_string, types.is_large_string, types.is_string_view, types.is_integer, types.is_floating)
    return any(test(kind) for test in (*single, types.is_boolean, types.is_null))
