"""By which cases a question about a model was left open: whoever judges it with more of them looks once more."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from sqlalchemy import select

from contrapose.tasks.store.base import StorePart, patient, put
from contrapose.tasks.store.replay import upsert
from contrapose.tasks.store.schema import LOOKS

KEPT = 256
"""Cases of a look that are kept, those with the least hashes: as good as all to tell whether they are among others."""
SHARED = 0.5
"""Of an earlier look's cases, the share that must be among those of a later one: it has seen that evidence before."""


SETTLED = "settled"
"""Key of a row that is about no question, but tells when its run stops."""


class Settled(NamedTuple):
    """What runs have found out together that are asked side by side."""

    looks: Mapping[str, int]
    """For each test, after which look all of them stop."""
    runs: Sequence[str]
    """Their ids."""


class LookTable(StorePart):
    """Looks in a database."""

    @patient
    def note(self, key: str, hashes: Collection[str], *, run: str) -> None:
        """Keep that these cases left a question open; a run that goes on replaces what it had judged.

        Args:
            key: of the question: model, test, settings and gate.
            hashes: of its cases.
            run: id of the run.
        """
        self._put({"key": key, "run": run, "cases": len(hashes), "sketch": json.dumps(nsmallest(KEPT, hashes))})

    @patient
    def settle(self, run: str, looks: Mapping[str, int], *, beside: Sequence[str]) -> None:
        """Keep after which look each test of a run stops, which runs that are asked side by side have in common."""
        sketch = json.dumps({"looks": dict(looks), "runs": list(beside)})
        self._put({"key": SETTLED, "run": run, "cases": 0, "sketch": sketch})

    def _put(self, row: Mapping[str, object]) -> None:
        with self.engine.begin() as connection:
            connection.execute(upsert(connection.dialect.name, LOOKS, row, newer=True), dict(row))
            self.record(connection, put("looks", row))

    @patient
    def settled(self, run: str) -> Settled | None:
        """The same; None for a run that stops by itself."""
        with self.reading.begin() as connection:
            wanted = select(LOOKS.c.sketch).where(LOOKS.c.key == SETTLED, LOOKS.c.run == run)
            sketch = connection.execute(wanted).scalar()
        return None if sketch is None else Settled(**json.loads(sketch))

    @patient
    def before(self, key: str, hashes: Collection[str], *, run: str) -> tuple[int, ...]:
        """By how many cases other runs left the question open, which were fewer, and for the most part these.

        Looks at as many cases are one. The numbers ascend.
        """
        wanted = select(LOOKS.c.cases, LOOKS.c.sketch).where(LOOKS.c.key == key, LOOKS.c.run != run)
        with self.reading.begin() as connection:
            rows = connection.execute(wanted.where(LOOKS.c.cases < len(hashes))).all()
        own = set(hashes)
        return tuple(sorted({row.cases for row in rows if _is_part(json.loads(row.sketch), own)}))


def _is_part(sketch: list[str], own: Collection[str]) -> bool:
    return bool(sketch) and sum(name in own for name in sketch) >= SHARED * len(sketch)
