"""What nothing needs any more among cached tables and results, so that it can be deleted."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from contrapose.tasks.core.damage import SUFFIX
from contrapose.tasks.core.places import Entry, Place
from contrapose.tasks.tables.table import RESULTS_FOLDER, home, storage

WRITING_SECONDS = 86_400.0
"""A file that is being written is no older than this."""
PART = re.compile(r"\..+\.part|.+\.\d+\.part")
"""Names of what is written, or was as its process was killed."""
TABLE = re.compile(rb"([0-9a-f]{64})\.parquet")
DAMAGED = re.compile(rf"[0-9a-f]{{64}}(\.parquet)?{re.escape(SUFFIX)}")


class Unneeded(NamedTuple):
    """A file or folder that can be deleted."""

    what: str
    """Kind of it, in the plural."""
    entry: Entry


def unneeded_cached(*, before: float) -> Iterator[Unneeded]:
    """What is cached here, and in the place that machines share, and was not used since a moment.

    Results come before tables: each table that a result names which stays is needed. A result that another machine
    made counts from when it was shared. Answers are none of it: they were paid for.

    Args:
        before: Unix time.

    Raises:
        ContraposeError: the place that is shared cannot be read.
    """
    for folder in _folders():
        kept: list[Entry] = []
        for entry in (folder / RESULTS_FOLDER).entries():
            reason = leftover(entry, before=before) or ("task results" if entry.modified < before else "")
            if reason:
                yield Unneeded(reason, entry)
            else:
                kept.append(entry)
        yield from _tables(folder, _named(kept), before=before)


def _folders() -> list[Place]:
    """Where results and tables are kept, as far as there are several."""
    here, shared = Place(str(home())), storage()
    return [here] if shared == here / "tables" else [here, shared]


def _tables(folder: Place, named: set[str], *, before: float) -> Iterator[Unneeded]:
    tables = folder / "tables" if folder == Place(str(home())) else folder
    for entry in tables.entries():
        reason = leftover(entry, before=before)
        if not reason and TABLE.fullmatch(entry.place.name.encode()) and entry.modified < before:
            reason = "" if entry.place.name in named else "tables"
        if reason:
            yield Unneeded(reason, entry)


def _named(results: list[Entry]) -> set[str]:
    """Names of the tables that some results name."""
    contents = (_content(entry.place) for entry in results if not entry.is_folder)
    return {f"{digest.decode()}.parquet" for content in contents for digest in TABLE.findall(content)}


def _content(place: Place) -> bytes:
    try:
        return place.read()
    except FileNotFoundError:
        return b""


def leftover(entry: Entry, *, before: float) -> str:
    """What a file or folder was left behind as; empty where it was not, or not before a moment."""
    if PART.fullmatch(entry.place.name):
        return "unfinished parts" if entry.modified < min(before, time.time() - WRITING_SECONDS) else ""
    return "damaged files" if DAMAGED.fullmatch(entry.place.name) and entry.modified < before else ""
