"""Read the files of a history one by one; damaged or foreign files are reported and skipped."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.file_servers import ask_with_retries
from contrapose.tasks.core.places import Place
from contrapose.tasks.history.dataset import SCHEMA, is_broken, verified_rows
from contrapose.tasks.tables.columnar import split_batches

LARGEST = 4_000_000
"""Bytes of a file; that of a run has some thousands."""

AT_ONCE = 1_000
"""Files that are in memory at a time."""

NAMED = 5
"""Skipped files that a warning names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRuns:
    """The runs read from a history, and the skipped files."""

    rows: pa.Table
    """A run each, with the columns of today."""
    skipped: Mapping[str, str]
    """Names of files that hold no run, and why."""

    @property
    def warning(self) -> str:
        """Return the sentence on skipped files, or "" if there are none."""
        if not self.skipped:
            return ""
        named = ", ".join(f"{name} ({why})" for name, why in list(self.skipped.items())[:NAMED])
        more = len(self.skipped) - NAMED
        return f"history: skipped {named}" + (f" and {more} more" if more > 0 else "")


def read_history(where: str, *, without: str = "") -> RecordedRuns:
    """Read all runs of a history, except one file; a missing folder or URL holds none.

    Raises ConfigError if the place cannot be read, or CutShortError where its server did not answer.
    """
    tables: list[pa.Table] = [SCHEMA.empty_table()]
    try:
        folder = Place.at(where, setting="the history")
        names, skipped = _list_files(folder)
        for portion in split_batches((name for name in names if name != without), AT_ONCE):
            # `cat` would take brackets and stars in the name of a folder for a pattern.
            paths = [(folder / name).inside for name in portion]
            contents = folder.files.cat_ranges(paths, None, None, on_error="return")
            if not folder.is_local:
                # One that did not come is not damaged.
                contents = [
                    content if isinstance(content, bytes | FileNotFoundError) else (folder / name).read()
                    for name, content in zip(portion, contents, strict=True)
                ]
            with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
                for name, rows in zip(portion, threads.map(_parse, contents), strict=True):
                    if isinstance(rows, str):
                        skipped[name] = rows
                    else:
                        tables.append(rows)
    except ContraposeError:
        raise
    except Exception as error:
        # A file system of fsspec raises whatever the library beneath it does.
        raise ConfigError(
            f"the history cannot be read ({type(error).__name__})",
            expected="a folder or fsspec URL that can be read",
            remedy="Correct it: --history, the setting history, or CONTRAPOSE_HISTORY.",
            where=where,
        ) from error
    return RecordedRuns(rows=pa.concat_tables(tables).combine_chunks(), skipped=skipped)


def _list_files(folder: Place) -> tuple[list[str], dict[str, str]]:
    """Return sorted names of possible run files, and the names of skipped entries with reasons."""

    def list_entries() -> list[Any]:
        return list(folder.files.ls(folder.inside, detail=True)) if folder.files.isdir(folder.inside) else []

    entries: list[Any] = ask_with_retries(list_entries, where=str(folder))
    sizes = {os.path.basename(entry["name"]): entry for entry in entries}
    ours = {name: entry for name, entry in sizes.items() if name.endswith(".parquet") and not name.startswith(".")}
    unread = {name: "too large" for name, entry in sorted(ours.items()) if (entry["size"] or 0) > LARGEST}
    # A pipe, say: whoever opens one waits until somebody writes into it.
    unread |= {name: "no file" for name, entry in sorted(ours.items()) if entry["type"] == "other"}
    return sorted(name for name in ours if name not in unread), unread


def _parse(content: Any) -> pa.Table | str:
    """Return a file's rows, or the reason why it cannot be read."""
    if not isinstance(content, bytes):
        return type(content).__name__
    if is_broken(content):
        return "changed since it was written"
    try:
        # Each file has a thread already; pyarrow's own would take several times as long for a single row.
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            return verified_rows(file.read(use_threads=False))
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return str(error) if type(error) is ValueError else f"no Parquet file of a run: {type(error).__name__}"
