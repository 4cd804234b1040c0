"""Read the sample sets that come with Contrapose, and any rows of JSON lines."""

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
from contrapose.tasks.core.errors import DataError, suggest_name
from contrapose.tasks.load.opening import folder_error
from contrapose.tasks.load.rows import Problem, Row, quote

SUFFIX = ".jsonl"
BOM = b"\xef\xbb\xbf"


def list_bundled_sets() -> list[str]:
    """Return the names of the bundled sample sets, sorted."""
    entries = files("contrapose.data").joinpath("samples").iterdir()
    return sorted(entry.name.removesuffix(SUFFIX) for entry in entries if entry.name.endswith(SUFFIX))


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Yield the rows of a bundled set, or raise DataError if there is no such set."""
    with _find_bundled_file(data.source).open("rb") as file:
        yield from parse_lines(file)


def sha256(data: DataSettings) -> str:
    """Return the hash of the bytes of a bundled set."""
    return hashlib.sha256(_find_bundled_file(data.source).read_bytes()).hexdigest()


def _find_bundled_file(name: str) -> Traversable:
    """Return the file of a bundled set, or raise DataError."""
    known = list_bundled_sets()
    if name not in known:
        if Path(name).expanduser().is_dir():
            raise folder_error(name)
        raise DataError(
            f"unknown bundled data {quote(name)}",
            expected=f"one of {', '.join(known)}, or a path or URL that ends in .jsonl, .csv, .parquet …",
            remedy=suggest_name(name, known, otherwise="Correct the name."),
        )
    return files("contrapose.data").joinpath("samples", name + SUFFIX)


def parse_lines(file: IO[bytes]) -> Iterator[Row]:
    """Yield the rows of JSON lines; blank lines are counted but skipped."""
    offset = 0
    for number, line in enumerate(iter(lambda: file.readline(MOST_LINE), b""), start=1):
        content = line.removeprefix(BOM) if number == 1 else line
        if content.strip():
            yield _parse_line(number, content, offset + len(line) - len(content))
        offset += len(line)
        while len(line) == MOST_LINE and not line.endswith(b"\n"):
            # The rest of a line that is too long is passed over.
            line = file.readline(MOST_LINE)
            offset += len(line)


def _parse_line(number: int, line: bytes, offset: int) -> Row:
    """Return a line as a row, or as a row with its problem."""
    expected = "one JSON object a line"
    if len(line) == MOST_LINE:
        return Row(number=number, problem=Problem(f"a line of {MOST_LINE:,} bytes or more", expected))
    try:
        # The line end is not part of the row: a column is counted from what people see.
        return make_row(number, json.loads(line.decode("utf-8").rstrip("\r\n")))
    except UnicodeDecodeError as error:
        observed = f"byte {offset + error.start} is not UTF-8 (0x{line[error.start]:02x})"
        return Row(number=number, problem=Problem(observed, "text in UTF-8", remedy="Save the file as UTF-8"))
    except json.JSONDecodeError as error:
        observed = f"invalid JSON at column {error.colno} ({error.msg})"
    except (ValueError, RecursionError) as error:
        observed = f"invalid JSON ({type(error).__name__})"
    return Row(number=number, problem=Problem(observed, expected))


def make_row(number: int, values: Any) -> Row:
    """Return a parsed value as a row, or as a row with a problem if it is no object."""
    if isinstance(values, dict):
        return Row(number=number, values=values)
    return Row(number=number, problem=Problem(f"{quote(values)} is no object", "an object of columns and values"))
