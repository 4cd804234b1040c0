"""Tables of forms and looks: what a run found out and later runs on the same store reuse.

A form says how a model's endpoint must be asked; the run that finds it out first settles it for all. A look says on
which cases a question about a model was left open, so that a later run with more of them counts it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from sqlalchemy import select

from contrapose.tasks.store.base import StorePart
from contrapose.tasks.store.engine import build_upsert
from contrapose.tasks.store.replay import make_put_receipt
from contrapose.tasks.store.schema import FORMS, LOOKS

KEPT = 256
"""Cases of a look that are kept, those with the least hashes: enough to see whether they are among others."""
SHARED = 0.5
"""Of an earlier look's cases, the share that must be among those of a later one: it has seen that evidence before."""
SETTLED = "settled"
"""Key of a row that is about no question, but says when its run stops."""


class FormTable(StorePart):
    """The forms in a database: how a model's endpoint must be asked."""

    def find(self, key: str, *, run: str | None = None) -> str | None:
        """Return a form; with `run`, only if this run found it."""
        own = [] if run is None else [FORMS.c.run == run]
        rows = self.fetch(select(FORMS.c.form).where(FORMS.c.key == key, *own))
        return str(rows[0].form) if rows else None

    def note(self, key: str, form: str, *, model: str, run: str, again: bool) -> None:
        """Store a form that a run found: how letters are requested, or settings the endpoint needs, as JSON.

        `again`: it replaces what was found before; otherwise that stays.
        """
        row = {"key": key, "model": model, "form": form, "run": run, "stored": time.time()}
        statement = build_upsert(self.dialect, FORMS, row, newer=again).values(**row)
        self.execute(statement, make_put_receipt("forms", row, newer=again))


class JointStop(NamedTuple):
    """When the tests of runs that share their questions stop together."""

    looks: Mapping[str, int]
    """For each test, after which look all of them stop."""
    runs: Sequence[str]
    """Their ids."""


class LookTable(StorePart):
    """The looks in a database: on how many cases a question was left open."""

    def note(self, key: str, hashes: Collection[str], *, run: str) -> None:
        """Store a look that left a question open on cases with these hashes; a resumed run replaces its own look."""
        self._put({"key": key, "run": run, "cases": len(hashes), "sketch": json.dumps(nsmallest(KEPT, hashes))})

    def settle(self, run: str, looks: Mapping[str, int], *, beside: Sequence[str]) -> None:
        """Store after which look each test of a run stops, as agreed with the runs `beside`."""
        sketch = json.dumps({"looks": dict(looks), "runs": list(beside)})
        self._put({"key": SETTLED, "run": run, "cases": 0, "sketch": sketch})

    def _put(self, row: Mapping[str, object]) -> None:
        self.execute(build_upsert(self.dialect, LOOKS, row, newer=True).values(**row), make_put_receipt("looks", row))

    def find_settled(self, run: str) -> JointStop | None:
        """Return after which look the tests of a run stop, or None for a run that stops on its own."""
        rows = self.fetch(select(LOOKS.c.sketch).where(LOOKS.c.key == SETTLED, LOOKS.c.run == run))
        return JointStop(**json.loads(rows[0].sketch)) if rows else None

    def earlier_looks(self, key: str, hashes: Collection[str], *, run: str) -> tuple[int, ...]:
        """Return ascending case counts of other runs' open looks: fewer cases, mostly among these."""
        wanted = select(LOOKS.c.cases, LOOKS.c.sketch).where(LOOKS.c.key == key, LOOKS.c.run != run)
        own, counts = set(hashes), set()
        for row in self.fetch(wanted.where(LOOKS.c.cases < len(hashes))):
            sketch = json.loads(row.sketch)
            if sketch and sum(name in own for name in sketch) >= SHARED * len(sketch):
                counts.add(row.cases)
        return tuple(sorted(counts))
