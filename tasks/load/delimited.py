"""Read CSV and TSV: detect the separator and the form of quotes, and parse the records."""

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
from contrapose.tasks.load.header import Record, yield_table_rows
from contrapose.tasks.load.opening import decoding_error, source_error
from contrapose.tasks.load.rows import Row, escape, quote

HEAD = 2**16
"""Bytes of a file from which its separator and its quotes are detected."""
ANNOUNCEMENT = re.compile(r'"?sep=(\\t|[^\r\n"]?)"?[ \t,;|]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)
"""The first line with which a file announces its separator to Excel."""
ESCAPE = re.compile(r'\\(["\\]|\r?\n)')
"""Signs that a backslash escapes within quotes."""
LONE_BACKSLASH = re.compile(r'\\(?:["\\]|\r?\n|[0N])|(\\)')
"""Matches a backslash with the character that it escapes; a backslash that escapes nothing has its own group."""
QUOTE = "\ufdd0"
"""In place of an escaped quote while a line is parsed; Unicode keeps this sign for such a use, out of texts."""
NOTHING = "\x1f"
"""Separator of a file with a single column, whose texts may hold any other."""
NULL = r"\N"
"""A missing value, as MySQL and Postgres write it."""


class Quotes(Enum):
    """How a file writes quotes inside texts."""

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
    """The separator and the quotes that a file is parsed with."""

    separator: str
    quotes: Quotes = Quotes.DOUBLED
    spaced: bool = False
    """Whether blanks behind separators are no part of the texts."""
    announced: bool = False
    """Whether the first line only names the separator."""

    def parse(self, lines: Iterable[str], *, strict: bool = False) -> Iterator[list[str]]:
        """Parse the cells of every record; `strict`: raise an error if text follows a closing quote."""
        form: Any = {"delimiter": self.separator, "skipinitialspace": self.spaced, "strict": strict}
        if self.quotes is Quotes.PLAIN:
            return csv.reader(lines, quoting=csv.QUOTE_NONE, **form)
        if self.quotes is Quotes.DOUBLED:
            return csv.reader(lines, **form)

        def unescape(match: re.Match[str]) -> str:
            if match[1] == '"':
                return QUOTE
            return match[1] if self.quotes is Quotes.ESCAPED else match[0]

        records = csv.reader((ESCAPE.sub(unescape, line) if "\\" in line else line for line in lines), **form)

        def restore(cells: list[str]) -> list[str]:
            return [cell.replace(QUOTE, '"') for cell in cells]

        # No generator: it would end at the first record that cannot be parsed.
        return map(restore, records)


class DialectFit(NamedTuple):
    """How well a dialect fits the beginning of a file; the largest fit is the best."""

    share: float
    """Share of the records below the header that are as wide, from 0 to 1."""
    fitting: int
    """How many these are."""
    width: int
    """Number of cells of the header; 0 if it cannot be parsed."""
    crowded: bool
    """Whether all records are equally wide, and wider than a header of one name; blanks after commas make prose."""


def _detect_dialect(head: str, separators: str, *, complete: bool) -> Dialect:
    """Return the dialect in which most of a file's first records have as many cells as the header."""
    announced = ANNOUNCEMENT.match(head)
    if announced:
        head = head[announced.end() :]
        separators = {"": separators, "\\t": "\t"}.get(announced[1], announced[1])
    dialects = []
    for quotes in _list_possible_quotes(head):
        for separator in separators:
            dialects.append(Dialect(separator=separator, quotes=quotes))
            if f'{separator} "' in head:
                dialects.append(Dialect(separator=separator, quotes=quotes, spaced=True))
    if "\t" in separators:
        # Files with tabs often have no quotes around texts.
        dialects.append(Dialect(separator="\t", quotes=Quotes.PLAIN))
    single = [Dialect(separator=NOTHING, quotes=quotes) for quotes in _list_possible_quotes(head)]
    fits = {dialect: _measure_fit(head, dialect, complete=complete) for dialect in (*dialects, *single)}
    parted = [dialect for dialect in dialects if fits[dialect].width > 1]
    crowded = [dialect for dialect in dialects if fits[dialect].crowded and dialect.quotes is not Quotes.PLAIN]
    best = max(parted or crowded or single, key=fits.__getitem__)
    return replace(best, announced=bool(announced))


def _list_possible_quotes(head: str) -> list[Quotes]:
    """Return the possible forms of quotes in a text, the most likely first."""
    if '\\"' not in head:
        return [Quotes.DOUBLED]
    alone = any(match[1] for match in LONE_BACKSLASH.finditer(head))
    return [Quotes.DOUBLED, Quotes.ONLY_QUOTES_ESCAPED if alone else Quotes.ESCAPED]


def _measure_fit(head: str, dialect: Dialect, *, complete: bool) -> DialectFit:
    """Return how well a dialect fits the beginning of a file."""

    def has_width(cells: Sequence[str] | None) -> bool:
        # Quotes around texts must not be a part of them.
        if cells is None or len(cells) != width:
            return False
        if dialect.quotes is not Quotes.PLAIN:
            # Within quotes a text may begin with a blank.
            cells = [cell for cell in cells if cell.startswith(" ")]
        return not any(len(cell) > 1 and cell.lstrip(" ")[:1] == cell[-1] == '"' for cell in cells)

    records = list(_parse_strictly(head, dialect))
    is_cut = not complete and len(records) > 1
    if is_cut:
        records.pop()
    header, *rows = records or [None]
    width = len(header or ())
    fitting = sum(map(has_width, rows))
    # A cut record that is longer than all others may be a long text, or all that follows a stray quote.
    parsed = sum(len(cell) + len('"",') for cells in records for cell in cells or ())
    is_open = is_cut and 2 * parsed < len(head)
    share = (fitting + is_open / 2) / max(len(rows) + is_open, 1)
    widths = {len(cells or ()) for cells in rows}
    further = [cell for cells in rows for cell in (cells or ())[1:]]
    crowded = width == 1 and len(widths) == 1 and not all(cell.startswith(" ") for cell in further)
    return DialectFit(share, fitting, width, crowded and max(widths) > 1)


def _parse_strictly(text: str, dialect: Dialect) -> Iterator[list[str] | None]:
    """Yield the cells of every record that is not blank, or None for a record with a misplaced quote."""
    parser = dialect.parse(io.StringIO(text, newline=""), strict=True)
    while True:
        try:
            if cells := next(parser):
                yield cells
        except StopIteration:
            return
        except csv.Error:
            yield None


def read_delimited(file: IO[bytes], data: DataSettings, separators: str) -> Iterator[Row]:
    """Yield the rows of a UTF-8 file with one of these separators (the most likely first), or raise DataError."""
    # Left to the garbage collector, it would let go of the file only after that is closed, and complain.
    with closing(_read_records(file, data.source, separators)) as records:
        yield from yield_table_rows(records, data, exact=True)


def _read_records(file: IO[bytes], source: str, separators: str) -> Generator[Record]:
    """Yield row number and cells of every record, including the header; empty lines are counted but skipped."""
    # A text may be longer than the parser's own limit; what is too long is reported with its row.
    csv.field_size_limit(sys.maxsize)
    start = file.read(HEAD)
    head = start.decode("utf-8-sig", "ignore")
    file.seek(0)
    dialect = _detect_dialect(head, separators, complete=len(start) < HEAD)
    line = next(filter(None, head.splitlines()), "")
    # A quote that is never closed is reported where it opens.
    is_single = dialect.separator == NOTHING and not _measure_fit(head, dialect, complete=True).width
    if is_single and line.count('"') > 2:
        raise source_error(
            source,
            f"nothing known separates the names of the header {quote(line)}",
            expected="commas, semicolons, tabs or | between them",
            remedy="Save the file with one of these, or add a first line that names the separator, such as sep=:",
        )
    lines = _Lines(file=io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), source=source)
    try:
        if dialect.announced:
            next(iter(lines))
            lines.start_record()
        for number, cells in enumerate(_parse_records(lines, dialect), start=1 + dialect.announced):
            if lines.ended:
                raise DataError(
                    "a quote is never closed",
                    expected="an even number of quotes",
                    remedy="Close the quote, or double a quote that belongs to the text.",
                    where=f"{escape(source)}, row {number}",
                )
            lines.start_record()
            if cells:
                yield number, [None if cell in ("", NULL) else cell for cell in cells]
    except UnicodeDecodeError as error:
        # Reading it again finds the place; the piece that was met cannot.
        raise decoding_error(file, source) from error
    finally:
        lines.file.detach()


def _parse_records(lines: _Lines, dialect: Dialect) -> Iterator[list[str]]:
    """Yield the cells of every record; after the first quote with a backslash, read all quotes that way."""
    width = 0

    def is_record(cells: list[str] | None) -> bool:
        return cells is not None and len(cells) == (width or len(cells))

    for cells in dialect.parse(lines):
        if dialect.quotes is Quotes.DOUBLED and lines.escapes:
            text = "".join(lines.record)
            better = replace(dialect, quotes=_list_possible_quotes(text)[-1])
            doubled, escaped = (list(_parse_strictly(text, form)) for form in (dialect, better))
            # The last record may go on after the text.
            fits = all(map(is_record, escaped[:-1] or escaped))
            if fits and not (len(doubled) == 1 and is_record(doubled[0])):
                lines.return_record()
                yield from better.parse(lines)
                return
        width = width or len(cells)
        yield cells


@dataclass(slots=True, kw_only=True)
class _Lines:
    """Lines of a file; the parser asks for a line after the last one only if a quote is still open."""

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
            if "\0" in line or taken >= MOST_LINE:
                # The parser would take a NUL for a part of the text.
                observed, expected, remedy = "the file holds a NUL byte", "text", "Save the file as UTF-8 text."
                if "\0" not in line:
                    observed, expected = f"a record of {MOST_LINE:,} characters or more", "records that are shorter"
                    remedy = "Look for a quote that is not closed, or for line ends that are missing."
                where = f"{escape(self.source)}, line {self.number}"
                raise DataError(observed, expected=expected, remedy=remedy, where=where)
            yield line
        self.ended = True

    def start_record(self) -> None:
        """Forget the lines of the last record."""
        self.record.clear()
        self.escapes = False

    def return_record(self) -> None:
        """Let the parser read the lines of the record again."""
        self.again.extendleft(reversed(self.record))
        self.number -= len(self.record)
        self.ended = False
        self.start_record()
