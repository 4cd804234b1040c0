"""What claiming and keeping an answer takes as the store grows: `python -m bench.store [--together N] [--set …]`.

Answers of some 700 characters, N a transaction, in an empty SQLite store; `--set`, as in `--set cache_size=-65536`,
overrules what the store sets on its connections. Bytes are those of the process's writes, to the log and to the file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from contrapose.tasks.core.records import Usage
from contrapose.tasks.store import engine as engines
from contrapose.tasks.store.answers import AnswerBatch, AnswerTable
from contrapose.tasks.store.claims import Claims
from contrapose.tasks.store.opening import connect
from contrapose.tasks.store.schema import RUNS

RUN = "20260101T000000Z-full-mock"


class Spent(NamedTuple):
    """What some work took."""

    seconds: float
    written: int
    """Bytes."""


def main() -> None:
    """Print a line for each fifth of the answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--together", type=int, default=10_000, metavar="N", help="answers of a transaction")
    parser.add_argument("--set", nargs="*", default=[], metavar="PRAGMA=VALUE")
    given = parser.parse_args()
    # The last one of a name holds.
    engines.PRAGMAS = (*engines.PRAGMAS, *given.set)
    with tempfile.TemporaryDirectory() as work:
        measure(f"sqlite:///{Path(work) / 'answers.sqlite3'}", given.answers, together=given.together)


def measure(url: str, answers: int, *, together: int) -> None:
    """Claim and keep so many answers, `together` a transaction, and print what that took."""
    engine = connect(url)
    with engine.begin() as connection:
        connection.execute(
            RUNS.insert().values(id=RUN, state="running", config="{}", owner="bench", folder="/", started=0, seen=0)
        )
    claims, table = Claims(engine), AnswerTable(engine)
    portion = max(together, answers // 5 // together * together)
    for start in range(0, answers - portion + 1, portion):
        claimed = kept = Spent(0.0, 0)
        for first in range(start, start + portion, together):
            keys = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(first, first + together)]
            batch = AnswerBatch(
                rows=[row(key) for key in keys], run=RUN, spent=Usage(calls=len(keys)), failures=0, again=False
            )
            claimed = more(claimed, partial(claims.claim, keys))
            kept = more(kept, partial(table.keep, batch))
        print(f"{start + portion:,} answers: {told('claiming', claimed, portion)}, {told('keeping', kept, portion)}")


def row(key: str) -> dict[str, object]:
    """An answer as the database has it."""
    question = json.dumps({"kind": "choose", "prompt": "x" * 500, "labels": ["A", "B"]})
    answer = json.dumps({"text": "A", "option_loglikelihoods": [-0.1, -2.2]})
    counts = {"prompt_tokens": 100, "completion_tokens": 1, "requests": 1, "seconds": 0.0, "stored": 1.0}
    return {"key": key, "model": "mock", "question": question, "answer": answer, "run": RUN, **counts}


def more(spent: Spent, work: Callable[[], object]) -> Spent:
    """What was spent, and what some work takes besides."""
    start, before = time.perf_counter(), _written()
    work()
    return Spent(spent.seconds + time.perf_counter() - start, spent.written + _written() - before)


def told(name: str, spent: Spent, answers: int) -> str:
    """Some work's time and bytes for an answer."""
    return f"{name} {spent.seconds / answers * 1e6:.1f} µs and {spent.written / answers:,.0f} bytes"


def _written() -> int:
    return int(next(line for line in Path("/proc/self/io").read_text().splitlines() if "wchar" in line).split()[1])


if __name__ == "__main__":
    main()
