"""The sample sets that ship with the package."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError, meant
from contrapose.tasks.load.lines import parse_lines
from contrapose.tasks.load.opening import folder_given
from contrapose.tasks.load.rows import Row, shown

SUFFIX = ".jsonl"


def bundled_names() -> list[str]:
    """Names of the bundled sample sets, sorted."""
    found = files("contrapose.data").joinpath("samples").iterdir()
    return sorted(entry.name.removesuffix(SUFFIX) for entry in found if entry.name.endswith(SUFFIX))


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
