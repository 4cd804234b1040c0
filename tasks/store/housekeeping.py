"""What the store holds, how it is emptied, and how it leaves the house."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from sqlalchemy import Select, delete, func, select

from contrapose.tasks.store.base import StorePart, patient
from contrapose.tasks.store.engine import gone, here, shown
from contrapose.tasks.store.opening import write_anew
from contrapose.tasks.store.receipts import damaged_lines
from contrapose.tasks.store.runs import ALIVE_SECONDS
from contrapose.tasks.store.schema import ANSWERS, FORMS, RUNS


class Held(NamedTuple):
    """The answers of one model."""

    model: str
    """Its id; its revisions are counted together."""
    answers: int
    prompt_tokens: int
    completion_tokens: int
    first: float
    """Unix time of the oldest."""
    last: float
    """Unix time of the newest."""


class Housekeeping(StorePart):
    """Care for the answers in a database."""

    @property
    def place(self) -> str:
        """Where the store is, without a password."""
        return shown(self.engine.url.render_as_string(hide_password=False))

    @patient
    def size(self) -> int:
        """Bytes that the database takes."""
        with self.reading.begin() as connection:
            if connection.dialect.name == "postgresql":
                size = select(func.pg_database_size(func.current_database()))
                return int(connection.execute(size).scalar_one())
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())

    @patient
    def held(self) -> list[Held]:
        """What there is of every model, by name."""
        columns = ANSWERS.c
        wanted = (
            select(
                columns.model,
                func.count(),
                func.sum(columns.prompt_tokens),
                func.sum(columns.completion_tokens),
                func.min(columns.stored),
                func.max(columns.stored),
            )
            .group_by(columns.model)
            .order_by(columns.model)
        )
        with self.reading.begin() as connection:
            return [Held(*row) for row in connection.execute(wanted)]

    @patient
    def clear(self, *, model: str | None = None, before: float | None = None) -> int:
        """Forget answers, and in which form letters are asked of models that have none left; returns how many answers.

        Those of runs of other processes that are going on stay, for their receipts are still being written. What is
        forgotten is removed from the receipts, too.

        Args:
            model: only of this model.
            before: only those stored before this Unix time.
        """
        statement = delete(ANSWERS)
        statement = statement if model is None else statement.where(ANSWERS.c.model == model)
        statement = statement if before is None else statement.where(ANSWERS.c.stored < before)
        alive = select(RUNS.c.id, RUNS.c.owner).where(
            RUNS.c.state == "running", RUNS.c.seen > time.time() - ALIVE_SECONDS
        )
        with self.engine.begin() as connection:
            others = [row.id for row in connection.execute(alive) if not (here(row.owner) or gone(row.owner))]
            statement = statement.where(ANSWERS.c.run.not_in(others)) if self.has_receipts else statement
            count = connection.execute(statement).rowcount
            connection.execute(delete(FORMS).where(FORMS.c.model.not_in(select(ANSWERS.c.model))))
        if self.has_receipts:
            write_anew(self.engine, self.receipts)
            self._shrink()
        return count

    def damaged_receipts(self) -> list[str]:
        """Where receipts are that are not what was written, each as `file:line`."""
        if not self.has_receipts:
            return []
        return [f"{path}:{line}" for path in self.receipts.files() for line in damaged_lines(path)]

    def write_receipts(self) -> None:
        """Write all receipts anew, from what the database holds."""
        write_anew(self.engine, self.receipts)

    def _shrink(self) -> None:
        """Give the room back to the disk; not while somebody else is writing, which can wait."""
        raw = self.engine.raw_connection()
        try:
            with suppress(sqlite3.OperationalError):
                raw.cursor().execute("VACUUM")
        finally:
            raw.close()

    def export(self, *, model: str | None = None) -> Iterator[str]:
        """Answers as JSON, a line each, the oldest first."""
        wanted: Select[Any] = select(ANSWERS).order_by(ANSWERS.c.stored, ANSWERS.c.key)
        wanted = wanted if model is None else wanted.where(ANSWERS.c.model == model)
        with self.reading.begin() as connection:
            for row in connection.execution_options(yield_per=1000).execute(wanted).mappings():
                # The sum over an answer is the store's own business.
                answer = {name: value for name, value in json.loads(row["answer"]).items() if name != "crc"}
                record = {**row, "question": json.loads(row["question"]), "answer": answer}
                yield json.dumps(record, ensure_ascii=False)
