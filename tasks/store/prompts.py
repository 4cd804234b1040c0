"""Questions that were written into batch files: to whom what comes back belongs, and which batch is asking what."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import exists, func, select, update

from contrapose.tasks.store.base import StorePart, change, patient, put
from contrapose.tasks.store.engine import insert_into, keys_subquery, sent
from contrapose.tasks.store.schema import ANSWERS, BATCHES, PROMPTS

PREPARED, COLLECTED = "prepared", "collected"


class PromptRow(NamedTuple):
    """A question that was written, by the column of the table."""

    key: str
    """Of the answer that is wanted."""
    question: str
    """As JSON."""
    model: str
    form_key: str
    """Under which the form of its letters is noted; empty where it asks for none."""
    run: str
    """The run that wrote it."""
    batch: str = ""
    """The batch that is asking it; empty where none is."""


class SubmittedBatch(NamedTuple):
    """A batch of an endpoint, by the columns of the table."""

    id: str
    remote: str
    """The endpoint's id; empty as long as it is not known to be submitted."""
    spec: str
    """JSON of the model and its settings."""
    questions: int
    state: str
    """As the endpoint says, or PREPARED, or COLLECTED."""


_PROMPT = [PROMPTS.c[name] for name in PromptRow._fields]
_BATCH = [BATCHES.c[name] for name in SubmittedBatch._fields]


class PromptTable(StorePart):
    """Written questions and batches in a database."""

    @patient
    def note(self, rows: Sequence[PromptRow]) -> None:
        """Keep what was written; what was written before belongs to the newer run, unless a batch is asking it."""
        statement = insert_into(self.engine.dialect.name, PROMPTS)
        newer = {"run": statement.excluded.run, "changed": statement.excluded.changed}
        now = time.time()
        statement = statement.on_conflict_do_update(index_elements=["key"], set_=newer, where=PROMPTS.c.batch == "")
        written = [{**row._asdict(), "written": now, "changed": now} for row in rows]
        with self.engine.begin() as connection:
            connection.execute(statement, written)
            current = select(PROMPTS).where(PROMPTS.c.key.in_(keys_subquery(connection.dialect.name)))
            kept = connection.execute(current, sent(connection, [row.key for row in rows])).mappings()
            self.record(connection, *(put("prompts", dict(row)) for row in kept))

    @patient
    def find(self, keys: Sequence[str]) -> dict[str, PromptRow]:
        """What was written, by key."""
        with self.reading.begin() as connection:
            wanted = select(*_PROMPT).where(PROMPTS.c.key.in_(keys_subquery(connection.dialect.name)))
            rows = connection.execute(wanted, sent(connection, keys))
            return {row.key: PromptRow(**row._mapping) for row in rows}

    @patient
    def missing(self, runs: Iterable[str]) -> int:
        """How many questions that some runs wrote have no answer."""
        answered = exists().where(ANSWERS.c.key == PROMPTS.c.key)
        wanted = select(func.count()).select_from(PROMPTS).where(PROMPTS.c.run.in_(list(runs)), ~answered)
        with self.reading.begin() as connection:
            return int(connection.execute(wanted).scalar_one())

    @patient
    def prepare(self, batch: str, keys: Sequence[str], *, spec: str) -> int:
        """Note a batch that is about to be submitted, with those of the questions that no other batch is asking.

        Returns:
            How many these are; where none is left there is no batch.
        """
        with self.engine.begin() as connection:
            free = update(PROMPTS).where(
                PROMPTS.c.key.in_(keys_subquery(connection.dialect.name)), PROMPTS.c.batch == ""
            )
            taking = free.values(batch=batch, changed=time.time()).returning(PROMPTS.c.key)
            taken = connection.execute(taking, sent(connection, keys)).scalars().all()
            if taken:
                row = {"id": batch, "remote": "", "spec": spec, "questions": len(taken), "state": PREPARED}
                row["changed"] = time.time()
                connection.execute(insert_into(self.engine.dialect.name, BATCHES).values(**row))
                self.record(connection, put("batches", row), change("prompts", "key", taken, batch=batch))
        return len(taken)

    @patient
    def asked_by(self, batch: str) -> list[PromptRow]:
        """The questions of a batch, in the order of their keys."""
        wanted = select(*_PROMPT).where(PROMPTS.c.batch == batch).order_by(PROMPTS.c.key)
        with self.reading.begin() as connection:
            return [PromptRow(**row._mapping) for row in connection.execute(wanted)]

    @patient
    def batches(self) -> list[SubmittedBatch]:
        """Batches that were not collected, in the order of their ids."""
        wanted = select(*_BATCH).where(BATCHES.c.state != COLLECTED).order_by(BATCHES.c.id)
        with self.reading.begin() as connection:
            return [SubmittedBatch(**row._mapping) for row in connection.execute(wanted)]

    @patient
    def mark(self, batch: str, values: Mapping[str, str]) -> None:
        """Note the endpoint's id of a batch, or its state."""
        with self.engine.begin() as connection:
            connection.execute(update(BATCHES).where(BATCHES.c.id == batch).values(**values, changed=time.time()))
            self.record(connection, change("batches", "id", [batch], **values))

    @patient
    def release(self, batch: str) -> None:
        """Note that a batch has ended: what it did not answer may be asked again."""
        with self.engine.begin() as connection:
            connection.execute(update(PROMPTS).where(PROMPTS.c.batch == batch).values(batch="", changed=time.time()))
            connection.execute(
                update(BATCHES).where(BATCHES.c.id == batch).values(state=COLLECTED, changed=time.time())
            )
            ended = change("batches", "id", [batch], state=COLLECTED)
            self.record(connection, change("prompts", "batch", [batch], batch=""), ended)
