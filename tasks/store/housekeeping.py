"""Maintenance of the response cache: count, delete, check and export cached answers."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any, NamedTuple

from sqlalchemy import Select, delete, func, select

from contrapose.tasks.store.base import StorePart, retry_transaction
from contrapose.tasks.store.engine import get_url, remove_password
from contrapose.tasks.store.owners import is_gone, is_of_this_process
from contrapose.tasks.store.receipts import list_damaged_lines
from contrapose.tasks.store.replay import rewrite_receipts
from contrapose.tasks.store.runs import ALIVE_SECONDS
from contrapose.tasks.store.schema import ANSWERS, FORMS, RUNS


class CachedModel(NamedTuple):
    """Counts over the cached answers of one model."""

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
    """Maintenance of the answers in a database."""

    @property
    def place(self) -> str:
        """Return the address of the store without a password."""
        return remove_password(get_url(self.engine))

    @retry_transaction
    def size(self) -> int:
        """Return the size of the database in bytes."""
        with self.reading.begin() as connection:
            if self.dialect == "postgresql":
                return int(connection.execute(select(func.pg_database_size(func.current_database()))).scalar_one())
            pages, size = (connection.exec_driver_sql(f"PRAGMA page_{what}").scalar_one() for what in ("count", "size"))
            return int(pages) * int(size)

    def count_by_model(self) -> list[CachedModel]:
        """Return the counts of every model, sorted by name."""
        tokens = (func.sum(ANSWERS.c.prompt_tokens), func.sum(ANSWERS.c.completion_tokens))
        times = (func.min(ANSWERS.c.stored), func.max(ANSWERS.c.stored))
        wanted = select(ANSWERS.c.model, func.count(), *tokens, *times).group_by(ANSWERS.c.model)
        return [CachedModel(*row) for row in self.fetch(wanted.order_by(ANSWERS.c.model))]

    @retry_transaction
    def clear(self, *, model: str | None = None, before: float | None = None) -> int:
        """Delete answers by model or storage time, and forms of models without answers; return how many answers.

        Answers of other processes' runs that are going on stay, for their receipts are still being written. What is
        forgotten is removed from the receipts, too.
        """
        statement = delete(ANSWERS)
        statement = statement if model is None else statement.where(ANSWERS.c.model == model)
        statement = statement if before is None else statement.where(ANSWERS.c.stored < before)
        is_alive = (RUNS.c.state == "running", RUNS.c.seen > time.time() - ALIVE_SECONDS)
        with self.engine.begin() as connection:
            alive = connection.execute(select(RUNS.c.id, RUNS.c.owner).where(*is_alive)).all()
            others = [row.id for row in alive if not (is_of_this_process(row.owner) or is_gone(row.owner))]
            statement = statement.where(ANSWERS.c.run.not_in(others)) if self.has_receipts else statement
            count = connection.execute(statement).rowcount
            connection.execute(delete(FORMS).where(FORMS.c.model.not_in(select(ANSWERS.c.model))))
        if self.has_receipts:
            rewrite_receipts(self.engine, self.receipts)
            # Give the room back to the disk; not while another process is writing, which can wait.
            with closing(self.engine.raw_connection()) as raw, suppress(sqlite3.OperationalError):
                raw.cursor().execute("VACUUM")
        return count

    def damaged_receipts(self) -> list[str]:
        """Return the places of damaged receipts, each as `file:line`."""
        files = self.receipts.files() if self.has_receipts else []
        return [f"{path}:{line}" for path in files for line in list_damaged_lines(path)]

    def write_receipts(self) -> None:
        """Rewrite all receipts from the database."""
        rewrite_receipts(self.engine, self.receipts)

    def export(self, *, model: str | None = None) -> Iterator[str]:
        """Yield answers as JSON, a line each, the oldest first."""
        wanted: Select[Any] = select(ANSWERS).order_by(ANSWERS.c.stored, ANSWERS.c.key)
        wanted = wanted if model is None else wanted.where(ANSWERS.c.model == model)
        with self.reading.begin() as connection:
            for row in connection.execution_options(yield_per=1000).execute(wanted).mappings():
                # The checksum of an answer is the store's own business.
                answer = {name: value for name, value in json.loads(row["answer"]).items() if name != "crc"}
                record = {**row, "question": json.loads(row["question"]), "answer": answer}
                yield json.dumps(record, ensure_ascii=False)
