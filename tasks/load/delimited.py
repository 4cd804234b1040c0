"""CSV and TSV, read as text: an empty cell is null, and "NA" is the text NA."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import IO

import pandas as pd

from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.errors import DataError
from contrapose.tasks.load.headers import header, row_of
from contrapose.tasks.load.opening import decoded, failure
from contrapose.tasks.load.rows import Row, escaped


def read_csv(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a comma-separated file in UTF-8 with a header.

    Raises:
        DataError: it is not UTF-8, has NUL bytes, or a record has too many fields.
    """
    return _read(file, data.source, ",")


def read_tsv(file: IO[bytes], data: DataSettings) -> Iterator[Row]:
    """Rows of a tab-separated file; otherwise as `read_csv`."""
    return _read(file, data.source, "\t")


def _read(file: IO[bytes], source: str, separator: str) -> Iterator[Row]:
    records = _records(decoded(file.read(), source), source, separator)
    names = header(records[0], source) if records else []
    for number, cells in enumerate(records[1:], start=2):
        row = row_of(number, cells, names)
        if row is not None:
            yield row


def _records(text: str, source: str, separator: str) -> list[list[str | None]]:
    """Cells of every record, the header among them."""
    _refuse_nul(text, source)
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            dtype=object,
            keep_default_na=False,
            na_values=[""],
            skip_blank_lines=False,
            # Read in pieces, the parser misses a row with too many fields where a piece begins.
            low_memory=False,
        )
    except pd.errors.EmptyDataError:
        return []
    except pd.errors.ParserError as error:
        raise _malformed(str(error), source) from error
    return [[cell if isinstance(cell, str) else None for cell in record] for record in _tuples(frame)]


def _tuples(frame: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    return frame.itertuples(index=False, name=None)


def _refuse_nul(text: str, source: str) -> None:
    """The parser would cut a cell at a NUL without a word."""
    place = text.find("\0")
    if place >= 0:
        raise DataError(
            "the file holds a NUL byte",
            expected="text",
            remedy="Save the file as UTF-8 text.",
            where=f"{escaped(source)}, line {text.count(chr(10), 0, place) + 1}",
        )


def _malformed(message: str, source: str) -> DataError:
    """The parser's complaint in words; it names the record with too many fields, or the open quote."""
    if match := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message):
        wanted, row, seen = match.groups()
        return DataError(
            f"{seen} fields",
            expected=f"{wanted} fields, as in the header",
            remedy="Put quotes around a text that holds the separator.",
            where=f"{escaped(source)}, row {row}",
        )
    if match := re.search(r"EOF inside string starting at row (\d+)", message):
        return DataError(
            "a quote is never closed",
            expected="an even number of quotes",
            remedy="Close the quote, or double a quote that belongs to the text.",
            where=f"{escaped(source)}, row {int(match[1]) + 1}",
        )
    return failure(source, f"the table cannot be read ({escaped(message, most=120)})", expected="a table")
