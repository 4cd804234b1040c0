"""Forms: how a model's endpoint must be asked. The run that finds it out first settles it for all runs on the store."""

from __future__ import annotations

import time

from sqlalchemy import select

from contrapose.tasks.store.base import StorePart
from contrapose.tasks.store.engine import upsert
from contrapose.tasks.store.replay import put_receipt
from contrapose.tasks.store.schema import FORMS


class FormTable(StorePart):
    """Forms in a database."""

    def find(self, key: str, *, run: str | None = None) -> str | None:
        """Return a form; with `run`, only if that run found it out itself."""
        own = [] if run is None else [FORMS.c.run == run]
        rows = self.fetch(select(FORMS.c.form).where(FORMS.c.key == key, *own))
        return str(rows[0].form) if rows else None

    def note(self, key: str, form: str, *, model: str, run: str, again: bool) -> None:
        """Keep a form of letters, or settings that the endpoint needs, as JSON, that a run found out.

        `again`: it replaces what was found before; otherwise that stays.
        """
        row = {"key": key, "model": model, "form": form, "run": run, "stored": time.time()}
        statement = upsert(self.dialect, FORMS, row, newer=again).values(**row)
        self.execute(statement, put_receipt("forms", row, newer=again))
