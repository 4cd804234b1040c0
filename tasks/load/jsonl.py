"""JSON: one object a line, or one list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_DOCUMENT
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.bundled import checked, parse_lines
from contrapose.tasks.load.opening import decoded, failure, opened
from contrapose.tasks.load.reading import format_of
from contrapose.tasks.load.rows import Row, escaped, shown


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Rows of a JSONL file, one by one, or of a JSON file.

    Raises:
        DataError: the file cannot be read, or is no list of objects.
    """
    with opened(data.source) as file:
        yield from _parse_list(file, data.source) if format_of(data) == "json" else parse_lines(file)


def _parse_list(file: IO[bytes], source: str) -> Iterator[Row]:
    content = file.read(MOST_DOCUMENT + 1)
    if len(content) > MOST_DOCUMENT:
        raise failure(
            source,
            f"a list of more than {MOST_DOCUMENT:,} bytes",
            expected="a list that fits into memory as a whole",
            remedy="Save it as JSON lines (.jsonl), one object a line.",
        )
    values = _parsed(content, source)
    if not isinstance(values, list):
        raise failure(
            source,
            f"the file holds {shown(values)}",
            expected="a list of objects",
            remedy="Put the rows into one list, or set format: jsonl if there is one object a line.",
        )
    for number, value in enumerate(values, start=1):
        yield checked(number, value)


def _parsed(content: bytes, source: str) -> Any:
    text = decoded(content, source)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = error.msg == "Extra data"
        raise DataError(
            f"invalid JSON ({error.msg})",
            expected="a list of objects",
            remedy="Set format: jsonl if there is one object a line." if lines else "Correct that place.",
            where=f"{escaped(source)}, line {error.lineno}, column {error.colno}",
        ) from error
    except (ValueError, RecursionError) as error:
        raise failure(source, f"invalid JSON ({type(error).__name__})", expected="a list of objects") from error
