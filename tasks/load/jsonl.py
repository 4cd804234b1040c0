"""JSON: one object a line, or one document with all rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_DOCUMENT, MOST_LINE
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.bundled import BOM, parse_lines
from contrapose.tasks.load.documents import is_document, rows_of
from contrapose.tasks.load.opening import decoded, failure, opened_text
from contrapose.tasks.load.reading import format_of
from contrapose.tasks.load.rows import Row, escaped, shown

NO_VALUE = object()
"""Where a text is no JSON value."""


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Rows of JSON lines, one by one, or of a JSON document; the content says which it is, whatever the name.

    Raises:
        DataError: the file cannot be read, or holds no list of objects.
    """
    with opened_text(data.source) as file:
        document = _document(file, data)
        if document is not NO_VALUE:
            yield from rows_of(document, data)
            return
        if data.record_path is not None:
            raise failure(
                data.source,
                f"record_path is {shown(data.record_path)}, and the file has one row on each line",
                expected="record_path for a JSON document alone",
                remedy="Leave record_path out.",
            )
        yield from parse_lines(file)


def _document(file: IO[bytes], data: DataSettings) -> Any:
    """The document that a file holds; NO_VALUE where it has a row on each line."""
    lines, as_lines = _first_lines(file), format_of(data) == "jsonl"
    if not lines:
        return NO_VALUE
    first = _value(lines[0]) if as_lines or len(lines) > 1 else NO_VALUE
    if first is not NO_VALUE and len(lines) > 1:
        _refuse_lists(first, _value(lines[1]), data.source)
        return NO_VALUE
    if not as_lines:
        return _parsed(file, data.source)
    if first is not NO_VALUE:
        return first if data.record_path is not None or is_document(first) else NO_VALUE
    return _parsed_or_lines(file, data.source) if _ends_early(lines[0]) else NO_VALUE


def _first_lines(file: IO[bytes]) -> list[bytes]:
    """The first two lines that are not blank; the next to be read is the first again."""
    lines = iter(lambda: file.readline(MOST_LINE), b"")
    first = list(islice((line for line in lines if line.removeprefix(BOM).strip()), 2))
    file.seek(0)
    return first


def _value(line: bytes) -> Any:
    """The JSON value of a line; NO_VALUE where it is none."""
    try:
        return json.loads(line.decode("utf-8-sig")) if len(line) < MOST_LINE else NO_VALUE
    except (ValueError, RecursionError):
        return NO_VALUE


def _ends_early(line: bytes) -> bool:
    """Whether a line is the beginning of a JSON value, as the first line of a document is."""
    text = line.decode("utf-8-sig", "replace").rstrip()
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except (ValueError, RecursionError):
        pass
    return False


def _parsed_or_lines(file: IO[bytes], source: str) -> Any:
    """The document in a file that should have a row on each line; NO_VALUE where it is none."""
    try:
        return _parsed(file, source)
    except DataError:
        file.seek(0)
        return NO_VALUE


def _parsed(file: IO[bytes], source: str) -> Any:
    content = file.read(MOST_DOCUMENT + 1)
    if len(content) > MOST_DOCUMENT:
        raise failure(
            source,
            f"a document of more than {MOST_DOCUMENT:,} bytes",
            expected="a document that fits into memory as a whole",
            remedy="Save it as JSON lines (.jsonl), one object a line.",
        )
    text = decoded(content, source)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        several = error.msg == "Extra data"
        raise DataError(
            f"invalid JSON ({error.msg})",
            expected="a list of objects",
            remedy="Put the values into one list, or one on each line." if several else "Correct that place.",
            where=f"{escaped(source)}, line {error.lineno}, column {error.colno}",
        ) from error
    except (ValueError, RecursionError) as error:
        raise failure(source, f"invalid JSON ({type(error).__name__})", expected="a list of objects") from error


def _refuse_lists(first: Any, second: Any, source: str) -> None:
    """Stop where lines hold lists: nothing names their columns."""
    if isinstance(first, list) and isinstance(second, list):
        raise failure(
            source,
            f"each line is a list, such as {shown(first)}",
            expected="one JSON object a line, whose keys name the columns",
            remedy="Write each row as an object; pandas does with to_json(orient='records', lines=True).",
        )
