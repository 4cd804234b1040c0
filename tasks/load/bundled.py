"""The sample sets that ship with the package."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_LINE
from contrapose.tasks.core.errors import DataError, meant
from contrapose.tasks.load.opening import folder_given
from contrapose.tasks.load.rows import Problem, Row, shown

SUFFIX = ".jsonl"


def bundled_names() -> list[str]:
    """Names of the bundled sample sets, sorted."""
    entries = files("contrapose.data").joinpath("samples").iterdir()
    return sorted(entry.name.removesuffix(SUFFIX) for entry in entries if entry.name.endswith(SUFFIX))


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Rows of a bundled set.

    Raises:
        DataError: there is no set of that name.
    """
    with _file(data.source).open("rb") as file:
        yield from parse_lines(file)


def sha256(data: DataSettings) -> str:
    """Of the bytes of a bundled set."""
    return hashlib.sha256(_file(data.source).read_bytes()).hexdigest()


def _file(name: str) -> Traversable:
    known = bundled_names()
    if name not in known:
        if Path(name).expanduser().is_dir():
            raise folder_given(name)
        raise DataError(
            f"unknown bundled data {shown(name)}",
            expected=f"one of {', '.join(known)}, or a path or URL that ends in .jsonl, .csv, .parquet …",
            remedy=meant(name, known, otherwise="Correct the name."),
        )
    return files("contrapose.data").joinpath("samples", name + SUFFIX)


BOM = b"\xef\xbb\xbf"


def parse_lines(file: IO[bytes]) -> Iterator[Row]:
    """Rows of JSON lines; blank lines count as lines and are left out."""
    offset = 0
    for number, line in enumerate(iter(lambda: file.readline(MOST_LINE), b""), start=1):
        content = line.removeprefix(BOM) if number == 1 else line
        if content.strip():
            yield _row(number, content, offset + len(line) - len(content))
        offset += len(line) + _rest_of(line, file)


def _rest_of(line: bytes, file: IO[bytes]) -> int:
    """Read on to the end of a line that is too long, keeping none of it; the number of bytes."""
    passed = 0
    while len(line) == MOST_LINE and not line.endswith(b"\n"):
        line = file.readline(MOST_LINE)
        passed += len(line)
    return passed


def _row(number: int, line: bytes, offset: int) -> Row:
    if len(line) == MOST_LINE:
        return _bad(number, f"a line of {MOST_LINE:,} bytes or more", "one JSON object a line")
    try:
        # The line end is not part of the row: a column is counted from what people see.
        values = json.loads(line.decode("utf-8").rstrip("\r\n"))
    except UnicodeDecodeError as error:
        return _bad(number, f"byte {offset + error.start} is not UTF-8 (0x{line[error.start]:02x})", "text in UTF-8")
    except json.JSONDecodeError as error:
        return _bad(number, f"invalid JSON at column {error.colno} ({error.msg})", "one JSON object a line")
    except (ValueError, RecursionError) as error:
        return _bad(number, f"invalid JSON ({type(error).__name__})", "one JSON object a line")
    return checked(number, values)


def checked(number: int, values: Any) -> Row:
    """A parsed value as a row, or as the problem that it is no object."""
    if isinstance(values, dict):
        return Row(number=number, values=values)
    return _bad(number, f"{shown(values)} is no object", "an object of columns and values")


def _bad(number: int, observed: str, expected: str) -> Row:
    return Row(number=number, problem=Problem(observed, expected))
