"""CSV and TSV, read as text record by record: an empty cell is null, and "NA" is the text NA."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import IO

from contrapose.tasks.bounds import MOST_LINE
from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.errors import DataError
from contrapose.tasks.load.headers import header, row_of
from contrapose.tasks.load.opening import not_utf8
from contrapose.tasks.load.rows import Problem, Row, escaped


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
                raise _open_quote(where=f"{escaped(source)}, row {number}")
            lines.taken = 0
            yield [cell or None for cell in cells]
    except UnicodeDecodeError as error:
        # Reading it again tells the place; the piece that was met cannot.
        raise not_utf8(file, source) from error
    finally:
        lines.file.detach()


def _separator(header: str, separators: str) -> str:
    """The first separator that parts the header into several names; the usual one where none does."""
    parted = (each for each in separators if len(next(csv.reader([header], delimiter=each), [])) > 1)
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
                raise _nul(where=f"{escaped(self.source)}, line {self.number}")
            if self.taken >= MOST_LINE:
                raise _endless(where=f"{escaped(self.source)}, line {self.number}")
            yield line
        self.ended = True


def _endless(where: str) -> DataError:
    return DataError(
        f"a record of {MOST_LINE:,} characters or more",
        expected="records that are shorter",
        remedy="Look for a quote that is not closed, or for line ends that are missing.",
        where=where,
    )


def _nul(where: str) -> DataError:
    """The parser would take a NUL for a part of the text."""
    return DataError(
        "the file holds a NUL byte",
        expected="text",
        remedy="Save the file as UTF-8 text.",
        where=where,
    )


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


def _open_quote(where: str) -> DataError:
    return DataError(
        "a quote is never closed",
        expected="an even number of quotes",
        remedy="Close the quote, or double a quote that belongs to the text.",
        where=where,
    )
