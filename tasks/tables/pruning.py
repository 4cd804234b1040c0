"""Find cached tables and results that nothing needs, so that they can be deleted."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from contrapose.tasks.core.damage import SUFFIX
from contrapose.tasks.core.home import home_folder
from contrapose.tasks.core.places import Entry, Place
from contrapose.tasks.tables.table import RESULTS_FOLDER, open_storage

WRITING_SECONDS = 86_400.0
"""A file that is being written is no older than this."""
PART = re.compile(r"\..+\.part|.+\.\d+\.part")
"""Names of what is written, or was as its process was killed."""
TABLE = re.compile(rb"([0-9a-f]{64})\.parquet")
DAMAGED = re.compile(rf"[0-9a-f]{{64}}(\.parquet)?{re.escape(SUFFIX)}")


class Unneeded(NamedTuple):
    """A file or folder that can be deleted."""

    what: str
    """Its kind, in the plural."""
    entry: Entry


def find_unneeded_files(*, before: float) -> Iterator[Unneeded]:
    """Yield the cached files, here and in the shared place, that were not used since a Unix time.

    Results come before tables: each table that a result names which stays is needed. A result that another machine
    made counts from when it was shared. Answers are none of it: they were paid for. Raises ContraposeError.
    """
    here, shared = Place(str(home_folder())), open_storage()
    for folder in [here] if shared == here / "tables" else [here, shared]:
        needed: set[bytes] = set()
        for entry in (folder / RESULTS_FOLDER).entries():
            if reason := name_leftover(entry, before=before) or ("task results" if entry.modified < before else ""):
                yield Unneeded(reason, entry)
            elif not entry.is_folder:
                with suppress(FileNotFoundError):
                    needed.update(TABLE.findall(entry.place.read()))
        for entry in (folder / "tables" if folder == here else folder).entries():
            table = TABLE.fullmatch(entry.place.name.encode())
            unused = table is not None and table[1] not in needed and entry.modified < before
            if reason := name_leftover(entry, before=before) or ("tables" if unused else ""):
                yield Unneeded(reason, entry)


def name_leftover(entry: Entry, *, before: float) -> str:
    """Return the kind of a leftover file or folder, or an empty text if it is none or too new."""
    if PART.fullmatch(entry.place.name):
        return "unfinished parts" if entry.modified < min(before, time.time() - WRITING_SECONDS) else ""
    return "damaged files" if DAMAGED.fullmatch(entry.place.name) and entry.modified < before else ""
