"""Which cases a question about a model was judged by: whoever judges it again with more of them looks once more."""

from __future__ import annotations

import json
from collections.abc import Collection
from heapq import nsmallest
from typing import Any

from sqlalchemy import select

from contrapose.tasks.store.answers import insert_into
from contrapose.tasks.store.patience import StorePart, patient
from contrapose.tasks.store.schema import LOOKS

KEPT = 256
"""Cases of a look that are kept, those with the least hashes: as good as all to tell whether they are among others."""
SHARED = 0.5
"""Of an earlier look's cases, the share that must be among those of a later one: it has seen that evidence before."""


class LookTable(StorePart):
    """Looks in a database."""

    @patient
    def note(self, key: str, hashes: Collection[str], *, run: str, design: str) -> None:
        """Keep that a run judged these cases; a run that goes on replaces what it had judged.

        Args:
            key: of the question: model, test, settings and gate.
            hashes: of its cases.
            run: id of the run.
            design: hash of when it was to look, and at what; empty where that was once, at all of its cases.
        """
        sketch = {"design": design, "least": nsmallest(KEPT, hashes)}
        row = {"cases": len(hashes), "sketch": json.dumps(sketch)}
        statement = insert_into(self.engine, LOOKS).values(key=key, run=run, **row)
        with self.engine.begin() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["key", "run"], set_=row))

    @patient
    def before(self, key: str, hashes: Collection[str], *, run: str, design: str) -> tuple[int, ...]:
        """How many cases other runs have judged that asked the same of fewer cases, and of these for the most part.

        Looks at as many cases are one, and so are runs that were to look at the same cases at the same times. The
        numbers ascend.
        """
        wanted = select(LOOKS.c.cases, LOOKS.c.sketch).where(LOOKS.c.key == key, LOOKS.c.run != run)
        with self.reading.begin() as connection:
            rows = connection.execute(wanted.where(LOOKS.c.cases < len(hashes))).all()
        own = set(hashes)
        return tuple(sorted({row.cases for row in rows if _counts(json.loads(row.sketch), own, design)}))


def _counts(sketch: dict[str, Any], own: Collection[str], design: str) -> bool:
    least = sketch["least"]
    same = design and sketch["design"] == design
    return not same and bool(least) and sum(name in own for name in least) >= SHARED * len(least)
