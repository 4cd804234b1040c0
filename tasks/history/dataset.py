"""Where the history is, and how a run gets into it: one small file a run, so that none overwrites another."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.core.damage import SUFFIX
from contrapose.tasks.core.history_records import Facet, PastRun, PastTest
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.places import Place
from contrapose.tasks.history.schema import to_table

VARIABLE = "CONTRAPOSE_HISTORY"
FOLDER = ".history"
"""Beside the folders of the runs, and hidden: whatever else lies there is a run."""


def place(chosen: str | None, output: str) -> str:
    """Folder or fsspec URL of the history: what was chosen, the environment's, or one in the folder of the runs.

    Raises:
        ConfigError: it holds a password, which every message about it would repeat.
    """
    folder = chosen or os.environ.get(VARIABLE) or os.path.join(output, FOLDER)
    return str(Place.at(folder, setting="history" if chosen else VARIABLE))


def file_name(key: str) -> str:
    """Name of the file of a run by its key: the same key is the same file, and two keys are never one."""
    readable = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "-" for sign in key)
    return f"{readable.lstrip('.')[:120]}-{hashlib.sha256(key.encode(errors='replace')).hexdigest()[:12]}.parquet"


def append(where: str, run: PastRun, *, key: str) -> None:
    """Put a run into the history at a folder or URL, in place of what it left there before under the same key."""
    put(where, file_name(key), run)


def put(where: str, name: str, run: PastRun) -> None:
    """Write a file of the history that holds a run; readers see all of it or nothing."""
    sink = pa.BufferOutputStream()
    table = to_table(run)
    # Of a single row, dictionaries and statistics would be most of the file, and take longest to read.
    options: dict[str, Any] = {"compression": "snappy", "use_dictionary": False, "write_statistics": False}
    with pq.ParquetWriter(sink, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: BLANK})
    content = bytes(sink.getvalue())
    (Place(where) / name).write(content.replace(BLANK, _seal(content), 1))


KEY = b"contrapose.sha256"
"""Of the file's metadata."""
BLANK = b"sha256:" + b"0" * 64
"""What stands in place of the hash while it is computed."""
SEAL = re.compile(rb"sha256:[0-9a-f]{64}")


def is_broken(content: bytes) -> bool:
    """Return whether a file was changed since it was sealed; one without a seal counts as intact."""
    seals = SEAL.findall(content[content.rfind(KEY) :]) if KEY in content else []
    return len(seals) == 1 and _seal(content.replace(seals[0], BLANK)) != seals[0]


def _seal(content: bytes) -> bytes:
    return b"sha256:" + hashlib.sha256(content).hexdigest().encode()


OURS = re.compile(r".+-[0-9a-f]{12}\.parquet")
"""Names of the files that runs leave; others are their owners'."""


def past_run(summary: Summary, made_of: dict[Facet, dict[str, str]]) -> PastRun:
    """Return a run as the history keeps it."""
    names = ("test_type", "verdict", "pass_rate", "min_pass_rate", "scored", "stopping")
    tests = [
        cast(
            PastTest,
            {name: outcome[name] for name in names if name in outcome}  # type: ignore[literal-required]
            | {"interval": outcome["interval"] and tuple(outcome["interval"])},
        )
        for outcome in summary["tests"]
    ]
    return PastRun(
        run_id=summary["run_id"],
        suite=summary["suite"],
        model=summary["model"]["id"],
        started=summary["started"],
        verdict=summary["verdict"],
        tests=tests,
        made_of=made_of,
    )


def record_of(name: str, run: PastRun) -> dict[str, Any]:
    """Return what a manifest holds, so that the run's file of the history can be made again under its name."""
    return {"file": name, "made_of": run["made_of"]}


def mend(where: str, skipped: Iterable[str], *, output: Place) -> tuple[list[str], str]:
    """Set damaged files of runs aside, and make those again whose run's folder is in the output folder.

    Returns:
        The files that are readable again or out of the way, and what to say of them.
    """
    damaged = [name for name in skipped if OURS.fullmatch(name)]
    if not damaged:
        return [], ""
    runs = dict[str, PastRun]()
    for folder in (output / name for name in output.names() if not name.startswith(".")):
        try:
            kept: Mapping[str, Any] = (folder / "manifest.json").json()["history"]
            runs[kept["file"]] = past_run((folder / "summary.json").json(), kept["made_of"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    for name in damaged:
        # Readers pass over its new name, and the warning is of all at once.
        (Place(where) / name).rename(name + SUFFIX)
        if name in runs:
            put(where, name, runs[name])
    lost = sum(name not in runs for name in damaged)
    files = "a damaged file was" if len(damaged) == 1 else f"{len(damaged)} damaged files were"
    again = f", and {len(damaged) - lost} made again from the folders of their runs" if lost < len(damaged) else ""
    gone = f"; the folders of {lost} runs are gone, or were left by an older version" if lost else ""
    return damaged, f"history: {files} set aside{again}{gone}"
