"""Great Expectations in a process beside ours, which imports it while a model is asked.

What it says is taken only of a table that is sound; any other is looked at here, so that every row that breaks an
expectation is told in one way.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from typing import Any

import pyarrow as pa

from contrapose.tasks.core.side_process import SideProcess
from contrapose.tasks.tables.columnar import uncollected
from contrapose.tasks.validate.expectations import (
    SeenRows,
    import_library,
    is_all_sound,
    is_imported,
    look_at,
    streamed,
)

SECONDS = 5.0
"""How long is waited until it is ready, and then for an answer; otherwise its work is done here, which takes two."""

PROGRAM = """
from contrapose.tasks.core.side_process import at_leisure

def imported():
    from contrapose.tasks.validate.beside import import_all
    import_all()

at_leisure(imported)

from contrapose.tasks.validate.beside import main
main()
"""


@cache
def _process() -> SideProcess:
    return SideProcess("-P", "-c", PROGRAM, seconds=SECONDS)


def prepare_to_look() -> None:
    """Begin it, unless the library is imported here already."""
    if not is_imported():
        _process().begin()


@contextmanager
def let_go() -> Iterator[None]:
    """End it, if it was begun, when what is inside has ended, however it does."""
    try:
        yield
    finally:
        _process().end()


def sound_beside(
    expectations: Sequence[Mapping[str, Any]],
    table: pa.Table,
    *,
    numbers: tuple[int, int],
    parameters: Mapping[str, object],
) -> list[SeenRows] | None:
    """What is said there of a sound table; None of any other, where it was not begun, or does not answer.

    As `look_at`.
    """
    if not _process().begun:
        return None
    asked = {
        "expectations": list(expectations),
        "table": b64encode(streamed(table)).decode(),
        "numbers": numbers,
        "parameters": dict(parameters),
    }
    seen = json.loads(_process().ask(json.dumps(asked)) or "null")
    return [SeenRows(**one) for one in seen] if is_all_sound(seen) else None


def main() -> None:
    """Look at what comes, with the library imported; `null` tells nothing."""
    # What a library prints is no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            table = pa.ipc.open_stream(b64decode(asked.pop("table"))).read_all()
            answer = json.dumps([asdict(seen) for seen in look_at(table=table, **asked)])
        except Exception:
            answer = "null"
        print(answer, file=answers, flush=True)


def import_all() -> None:
    """Import the library, and look for no garbage meanwhile."""
    with uncollected():
        import_library()
