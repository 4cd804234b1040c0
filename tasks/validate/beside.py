"""Great Expectations in a process beside ours, which imports it while a model is asked.

What it says is taken only of a table that is sound; any other is looked at here, so that every row that breaks an
expectation is told in one way.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
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
)

SECONDS = 10.0
"""How long it may take; then what it does is done here, which takes two."""


@cache
def _process() -> SideProcess:
    return SideProcess("-P", "-m", "contrapose.tasks.validate.beside", seconds=SECONDS)


def prepare_to_look() -> None:
    """Begin it, unless the library is imported here already."""
    if not is_imported():
        _process().begin()


def let_go() -> None:
    """End it, if it was begun: a run has nothing more to look at."""
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
    content = pa.BufferOutputStream()
    with pa.ipc.new_stream(content, table.schema) as writer:
        writer.write_table(table)
    asked = {
        "expectations": list(expectations),
        "table": b64encode(content.getvalue()).decode(),
        "numbers": numbers,
        "parameters": dict(parameters),
    }
    seen = json.loads(_process().ask(json.dumps(asked)) or "null")
    return [SeenRows(**one) for one in seen] if is_all_sound(seen) else None


def main() -> None:
    """Import the library with what the processor has left over, then look at what comes; `null` tells nothing."""
    _yield_to_all()
    # What a library prints is no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    with uncollected():
        import_library()
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            table = pa.ipc.open_stream(b64decode(asked.pop("table"))).read_all()
            answer = json.dumps([asdict(seen) for seen in look_at(table=table, **asked)])
        except Exception:
            answer = "null"
        print(answer, file=answers, flush=True)


def _yield_to_all() -> None:
    """Take the processor only where nobody else wants it."""
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)


if __name__ == "__main__":
    main()
