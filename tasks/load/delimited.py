"""CSV and TSV: what separates the fields, how quotes within texts are written, and the records."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import IO, Any, NamedTuple

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_LINE
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.header import Record, table_rows
from contrapose.tasks.load.opening import failure, not_decodable
from contrapose.tasks.load.rows import Row, escaped, shown

HEAD = 2**16
"""Bytes of a file from which its separator and its quotes are detected."""
ANNOUNCEMENT = re.compile(r'"?sep=(\\t|[^\r\n"]?)"?[ \t,;|]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)
"""The first line with which a file announces its separator to Excel."""
ESCAPE = re.compile(r'\\(["\\]|\r?\n)')
"""What a backslash escapes within quotes."""
LONE_BACKSLASH = re.compile(r'\\(?:["\\]|\r?\n|[0N])|(\\)')
"""Matches a backslash with what it escapes; in a group of its own where it escapes nothing."""
QUOTE = "\ufdd0"
"""Stands for an escaped quote while a line is parsed; Unicode keeps this sign for such a use, out of texts."""
NOTHING = "\x1f"
"""Separator of a file with a single column, whose texts may hold any other."""
NULL = r"\N"
"""A missing value, as MySQL and Postgres write it."""


class Quotes(Enum):
    """How texts are quoted."""

    DOUBLED = auto()
    """A quote within quotes is doubled."""
    ESCAPED = auto()
    """It follows a backslash, and so does a backslash, as MySQL writes them."""
    ONLY_QUOTES_ESCAPED = auto()
    """It follows a backslash; other backslashes are part of the text, as Spark writes them."""
    PLAIN = auto()
    """Quotes are part of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a file is parsed."""

    separator: str
    quotes: Quotes = Quotes.DOUBLED
    spaced: bool = False
    """Whether blanks behind separators are no part of the texts."""
    announced: bool = False
    """Whether the first line only names the separator."""

    def parse(self, lines: Iterable[str], *, strict: bool = False) -> Iterator[list[str]]:
        """Cells of every record; strict: an error where text follows a closing quote."""
        form: Any = {"delimiter": self.separator, "skipinitialspace": self.spaced, "strict": strict}
        if self.quotes is Quotes.PLAIN:
            return csv.reader(lines, quoting=csv.QUOTE_NONE, **form)
        if self.quotes is Quotes.DOUBLED:
            return csv.reader(lines, **form)
        return _Quoted(csv.reader(map(self._without_escapes, lines), **form))

    def _without_escapes(self, line: str) -> str:
        return ESCAPE.sub(self._unescape, line) if "\\" in line else line

    def _unescape(self, escape: re.Match[str]) -> str:
        if escape[1] == '"':
            return QUOTE
        return escape[1] if self.quotes is Quotes.ESCAPED else escape[0]


@dataclass(slots=True)
class _Quoted:
    """Cells of every record, with the quotes for which a sign was put before they were parsed."""

    records: Iterator[list[str]]

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        return [cell.replace(QUOTE, '"') for cell in next(self.records)]


class Fit(NamedTuple):
    """How the beginning of a file looks in a dialect; the best one is the largest."""

    share: float
    """Of the records below the header those that are as wide, from 0 to 1."""
    fitting: int
    """How many these are."""
    width: int
    """Cells of the header; 0 where it cannot be parsed."""
    crowded: bool
    """Whether all records are equally wide, and wider than a header of one name; blanks after commas make prose."""


def detect(head: str, separators: str, *, complete: bool) -> Dialect:
    """The dialect in which most records of a file's beginning have as many cells as its header.

    Args:
        head: the beginning.
        separators: the likeliest first.
        complete: whether this is the complete file.
    """
    announced = ANNOUNCEMENT.match(head)
    if announced:
        head = head[announced.end() :]
        separators = {"": separators, "\\t": "\t"}.get(announced[1], announced[1])
    fits = {dialect: _fit(head, dialect, complete=complete) for dialect in _dialects(head, separators)}
    parted = [dialect for dialect, fit in fits.items() if fit.width > 1]
    crowded = [dialect for dialect, fit in fits.items() if fit.crowded and dialect.quotes is not Quotes.PLAIN]
    single = [Dialect(separator=NOTHING, quotes=quotes) for quotes in _quotes(head)]
    fits |= {dialect: _fit(head, dialect, complete=complete) for dialect in single}
    best = max(parted or crowded or single, key=fits.__getitem__)
    return replace(best, announced=bool(announced))


def _dialects(head: str, separators: str) -> Iterator[Dialect]:
    """What could be meant, the likeliest first; files with tabs often have no quotes around texts."""
    for quotes in _quotes(head):
        for separator in separators:
            yield Dialect(separator=separator, quotes=quotes)
            if f'{separator} "' in head:
                yield Dialect(separator=separator, quotes=quotes, spaced=True)
    if "\t" in separators:
        yield Dialect(separator="\t", quotes=Quotes.PLAIN)


def _quotes(head: str) -> Iterator[Quotes]:
    yield Quotes.DOUBLED
    if '\\"' in head:
        alone = any(match[1] for match in LONE_BACKSLASH.finditer(head))
        yield Quotes.ONLY_QUOTES_ESCAPED if alone else Quotes.ESCAPED


def _fit(head: str, dialect: Dialect, *, complete: bool) -> Fit:
    records = list(_strict_records(head, dialect))
    is_cut = not complete and len(records) > 1
    if is_cut:
        records.pop()
    header, *rows = records or [None]
    width = len(header or ())
    fitting = sum(_has_width(cells, width, dialect) for cells in rows)
    # A cut record that is longer than all others may be a long text, or all that follows a stray quote.
    parsed = sum(len(cell) + len('"",') for cells in records for cell in cells or ())
    is_open = is_cut and 2 * parsed < len(head)
    share = (fitting + is_open / 2) / max(len(rows) + is_open, 1)
    widths = {len(cells or ()) for cells in rows}
    further = [cell for cells in rows for cell in (cells or ())[1:]]
    crowded = width == 1 and len(widths) == 1 and not all(cell.startswith(" ") for cell in further)
    return Fit(share, fitting, width, crowded and max(widths) > 1)


def _has_width(cells: Sequence[str] | None, width: int, dialect: Dialect) -> bool:
    """Whether a record has a width, and no quotes around its texts where these would be part of them."""
    if cells is None or len(cells) != width:
        return False
    if dialect.quotes is not Quotes.PLAIN:
        # Within quotes a text may begin with a blank.
        cells = [cell for cell in cells if cell.startswith(" ")]
    return not any(len(cell) > 1 and cell.lstrip(" ")[:1] == cell[-1] == '"' for cell in cells)


def _strict_records(text: str, dialect: Dialect) -> Iterator[list[str] | None]:
    """Cells of every record that is not blank; None for one with a quote that does not belong there."""
    parser = dialect.parse(io.StringIO(text, newline=""), strict=True)
    while True:
        try:
            cells = next(parser)
        except StopIteration:
            return
        except csv.Error:
            yield None
        else:
            if cells:
                yield cells


def read_delimited(file: IO[bytes], data: DataSettings, separators: str) -> Iterator[Row]:
    """Rows of a file of text in UTF-8.

    Args:
        file: its bytes.
        data: source and columns.
        separators: the likeliest first.

    Raises:
        DataError: it is not UTF-8, has no header, has NUL bytes, or a quote is never closed.
    """
    # Left to the garbage collector, it would let go of the file only after that is closed, and complain.
    with closing(_records(file, data.source, separators)) as records:
        yield from table_rows(records, data, exact=True)


def _records(file: IO[bytes], source: str, separators: str) -> Generator[Record]:
    """Row number and cells of every record, the header too; lines without any cell are counted and left out."""
    # A text may be longer than the parser's own limit; what is too long is reported with its row.
    csv.field_size_limit(sys.maxsize)
    start = file.read(HEAD)
    head = start.decode("utf-8-sig", "ignore")
    file.seek(0)
    dialect = detect(head, separators, complete=len(start) < HEAD)
    _refuse_unknown_separator(head, dialect, source)
    lines = _Lines(file=io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), source=source)
    try:
        if dialect.announced:
            next(iter(lines))
            lines.start_record()
        for number, cells in enumerate(_cells(lines, dialect), start=1 + dialect.announced):
            if lines.ended:
                raise DataError(
                    "a quote is never closed",
                    expected="an even number of quotes",
                    remedy="Close the quote, or double a quote that belongs to the text.",
                    where=f"{escaped(source)}, row {number}",
                )
            lines.start_record()
            if cells:
                yield number, [None if cell in ("", NULL) else cell for cell in cells]
    except UnicodeDecodeError as error:
        # Reading it again finds the place; the piece that was met cannot.
        raise not_decodable(file, source) from error
    finally:
        lines.file.detach()


def _refuse_unknown_separator(head: str, dialect: Dialect, source: str) -> None:
    if dialect.separator != NOTHING or _fit(head, dialect, complete=True).width:
        return
    line = next(filter(None, head.splitlines()), "")
    # A quote that is never closed is reported where it opens.
    if line.count('"') > 2:
        raise failure(
            source,
            f"nothing known separates the names of the header {shown(line)}",
            expected="commas, semicolons, tabs or | between them",
            remedy="Save the file with one of these, or add a first line that names the separator, such as sep=:",
        )


def _cells(lines: _Lines, dialect: Dialect) -> Iterator[list[str]]:
    """Cells of every record; where quotes turn out to follow backslashes, they do so from there on."""
    width = 0
    for cells in dialect.parse(lines):
        if dialect.quotes is Quotes.DOUBLED and lines.escapes:
            better = _with_escapes("".join(lines.record), dialect, width)
            if better:
                lines.return_record()
                yield from better.parse(lines)
                return
        width = width or len(cells)
        yield cells


def _with_escapes(text: str, dialect: Dialect, width: int) -> Dialect | None:
    """The dialect with backslashes before quotes, where only in that the text is made of records of a width."""
    *_, quotes = _quotes(text)
    better = replace(dialect, quotes=quotes)
    doubled, with_escapes = (list(_strict_records(text, one)) for one in (dialect, better))
    if len(doubled) == 1 and _is_record(doubled[0], width):
        return None
    # The last record may go on after the text.
    return better if all(_is_record(cells, width) for cells in with_escapes[:-1] or with_escapes) else None


def _is_record(cells: list[str] | None, width: int) -> bool:
    """Whether cells could be parsed and are as many as the header's; 0: the header is not known yet."""
    return cells is not None and len(cells) == (width or len(cells))


@dataclass(slots=True, kw_only=True)
class _Lines:
    """Lines of a file; the parser asks for one more than there are only where a quote was left open."""

    file: io.TextIOWrapper
    source: str
    number: int = 0
    record: list[str] = field(default_factory=list)
    """Lines of the record that is being read."""
    again: deque[str] = field(default_factory=deque)
    """Lines that are to be read once more."""
    escapes: bool = False
    """Whether the record may hold a quote behind a backslash."""
    ended: bool = False

    def __iter__(self) -> Iterator[str]:
        taken = 0
        while line := self.again.popleft() if self.again else self.file.readline(MOST_LINE):
            self.number += 1
            # A quote that is never closed must not fill the memory.
            taken = len(line) + (taken if self.record else 0)
            self.record.append(line)
            self.escapes = self.escapes or '\\"' in line
            if "\0" in line:
                # The parser would take a NUL for a part of the text.
                raise self._failure("the file holds a NUL byte", "text", "Save the file as UTF-8 text.")
            if taken >= MOST_LINE:
                remedy = "Look for a quote that is not closed, or for line ends that are missing."
                raise self._failure(f"a record of {MOST_LINE:,} characters or more", "records that are shorter", remedy)
            yield line
        self.ended = True

    def start_record(self) -> None:
        """Forget the lines of the last record."""
        self.record.clear()
        self.escapes = False

    def return_record(self) -> None:
        """Have the lines of the record read once more."""
        self.again.extendleft(reversed(self.record))
        self.number -= len(self.record)
        self.ended = False
        self.start_record()

    def _failure(self, observed: str, expected: str, remedy: str) -> DataError:
        where = f"{escaped(self.source)}, line {self.number}"
        return DataError(observed, expected=expected, remedy=remedy, where=where)
