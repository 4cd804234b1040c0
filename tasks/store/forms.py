"""How a model's endpoint must be asked: in which form for letters, and with which settings changed.

Whoever finds it out first settles it for all runs on the store.
"""

from __future__ import annotations

import time

from sqlalchemy import select

from contrapose.tasks.store.base import StorePart, patient
from contrapose.tasks.store.replay import upsert
from contrapose.tasks.store.schema import FORMS


class FormTable(StorePart):
    """What was found out, in a database."""

    @patient
    def find(self, key: str, *, run: str | None = None) -> str | None:
        """What was found out; with `run`, only if that run found it out itself."""
        wanted = select(FORMS.c.form).where(FORMS.c.key == key)
        with self.reading.begin() as connection:
            form: str | None = connection.execute(wanted if run is None else wanted.where(FORMS.c.run == run)).scalar()
        return form

    @patient
    def note(self, key: str, form: str, *, model: str, run: str, again: bool) -> None:
        """Keep what was found out.

        Args:
            key: of the model, and of what was tried.
            form: the form that it takes, or the settings that it makes necessary, as JSON.
            model: its id.
            run: id of the run that found it out.
            again: whether this replaces what was found before; otherwise that stays.
        """
        row = {"key": key, "model": model, "form": form, "run": run, "stored": time.time()}
        with self.engine.begin() as connection:
            connection.execute(upsert(connection.dialect.name, FORMS, row, newer=again), row)
            self.record(connection, {"do": "put" if again else "keep", "table": "forms", "row": row})
