"""Where the history is, and how a run gets into it: one small file a run, so that none overwrites another."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from contrapose.tasks.damage import SUFFIX, put_in_place
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.history.schema import to_table
from contrapose.tasks.history.seal import BLANK, KEY, sealed
from contrapose.tasks.past import PastRun
from contrapose.tasks.secrets import holds_password

VARIABLE = "CONTRAPOSE_HISTORY"
FOLDER = ".history"
"""Beside the folders of the runs, and hidden: whatever else lies there is a run."""


def place(chosen: str | None, output: str) -> str:
    """Folder or fsspec URL of the history: what was chosen, the environment's, or a folder beside the runs'.

    Args:
        chosen: by the configuration or on the command line; empty: nothing.
        output: folder that receives the folders of runs.

    Raises:
        ConfigError: it holds a password, which every message about it would repeat.
    """
    found = chosen or os.environ.get(VARIABLE) or os.path.join(output, FOLDER)
    if holds_password(found):
        raise ConfigError(
            "an address with a password",
            expected="an address without one",
            remedy="Give it to fsspec by its own configuration or environment.",
            where="history" if chosen else VARIABLE,
        )
    return found.rstrip("/") or found


def file_name(key: str) -> str:
    """Name of a run's file: the same key is the same file, and two keys are never one.

    Args:
        key: what tells the run from every other one; it may be published twice, and is kept once.
    """
    readable = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "-" for sign in key)
    return f"{readable.lstrip('.')[:120]}-{hashlib.sha256(key.encode(errors='replace')).hexdigest()[:12]}.parquet"


def append(where: str, run: PastRun, *, key: str) -> None:
    """Put a run into the history, in place of what it left there before; readers see all of its file or nothing.

    Args:
        where: folder or URL.
        run: the run.
        key: as `file_name` takes it.
    """
    put(where, file_name(key), run)


def put(where: str, name: str, run: PastRun) -> None:
    """Write a file of the history.

    Args:
        where: folder or URL.
        name: of the file.
        run: what it holds.
    """
    files, folder = fsspec.core.url_to_fs(where)
    files.makedirs(folder, exist_ok=True)
    path = f"{folder.rstrip('/')}/{name}"
    part = f"{folder.rstrip('/')}/.{uuid4().hex}.part"
    files.pipe_file(part, _content(run))
    try:
        if isinstance(files, LocalFileSystem):
            put_in_place(Path(part), Path(path))
        else:
            files.mv(part, path)
    except BaseException:
        files.rm_file(part)
        raise


def remove(where: str, name: str) -> None:
    """Set a damaged file of the history aside: readers pass over its new name."""
    files, folder = fsspec.core.url_to_fs(where)
    path = f"{folder.rstrip('/')}/{name}"
    files.mv(path, path + SUFFIX)


def _content(run: PastRun) -> bytes:
    sink = pa.BufferOutputStream()
    table = to_table(run)
    # Of a single row, dictionaries and statistics would be most of the file, and take longest to read.
    options: dict[str, Any] = {"compression": "snappy", "use_dictionary": False, "write_statistics": False}
    with pq.ParquetWriter(sink, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: BLANK})
    return sealed(bytes(sink.getvalue()))
