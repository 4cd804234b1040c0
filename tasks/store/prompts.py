"""Tables of batch prompts and batches: they record which batch asks which question, for which run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import exists, func, select, update

from contrapose.tasks.store.base import StorePart, retry_transaction
from contrapose.tasks.store.engine import build_insert, keys_subquery
from contrapose.tasks.store.replay import make_change_receipt, make_put_receipt
from contrapose.tasks.store.schema import ANSWERS, BATCHES, PROMPTS

PREPARED, COLLECTED = "prepared", "collected"


class PromptRow(NamedTuple):
    """A question written into a batch file; the fields are columns of the table."""

    key: str
    """Of the answer that is wanted."""
    question: str
    """As JSON."""
    model: str
    form_key: str
    """Under which the form of its letters is noted; empty if it asks for none."""
    run: str
    """The run that wrote it."""
    batch: str = ""
    """The batch that is asking it; empty if none is."""


class SubmittedBatch(NamedTuple):
    """A batch at an endpoint; the fields are columns of the table."""

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
    """The questions in batch files, and the batches, in a database."""

    @retry_transaction
    def note(self, rows: Sequence[PromptRow]) -> None:
        """Store written questions; an earlier one moves to the newer run, unless a batch is asking it."""
        statement = build_insert(self.dialect, PROMPTS)
        newer = {"run": statement.excluded.run, "changed": statement.excluded.changed}
        statement = statement.on_conflict_do_update(index_elements=["key"], set_=newer, where=PROMPTS.c.batch == "")
        now = time.time()
        current = select(PROMPTS).where(PROMPTS.c.key.in_(keys_subquery(self.dialect)))
        with self.engine.begin() as connection:
            connection.execute(statement, [{**row._asdict(), "written": now, "changed": now} for row in rows])
            kept = connection.execute(current, self.keys_parameter([row.key for row in rows])).mappings()
            self.record(connection, *(make_put_receipt("prompts", dict(row)) for row in kept))

    def find(self, keys: Sequence[str]) -> dict[str, PromptRow]:
        """Return written questions by key."""
        wanted = select(*_PROMPT).where(PROMPTS.c.key.in_(keys_subquery(self.dialect)))
        return {row.key: PromptRow(*row) for row in self.fetch(wanted, self.keys_parameter(keys))}

    def missing(self, runs: Iterable[str]) -> int:
        """Count the unanswered questions that some runs wrote."""
        answered = exists().where(ANSWERS.c.key == PROMPTS.c.key)
        wanted = select(func.count()).select_from(PROMPTS).where(PROMPTS.c.run.in_(list(runs)), ~answered)
        return int(self.fetch(wanted)[0][0])

    @retry_transaction
    def prepare(self, batch: str, keys: Sequence[str], *, spec: str) -> int:
        """Store a batch before its submission, with the questions that no other batch asks; return their number."""
        now = time.time()
        free = update(PROMPTS).where(PROMPTS.c.key.in_(keys_subquery(self.dialect)), PROMPTS.c.batch == "")
        with self.engine.begin() as connection:
            taking = free.values(batch=batch, changed=now).returning(PROMPTS.c.key)
            taken = connection.execute(taking, self.keys_parameter(keys)).scalars().all()
            if taken:
                row = {"id": batch, "remote": "", "spec": spec, "questions": len(taken), "state": PREPARED}
                row["changed"] = now
                connection.execute(build_insert(self.dialect, BATCHES).values(**row))
                changed = make_change_receipt("prompts", "key", taken, batch=batch)
                self.record(connection, make_put_receipt("batches", row), changed)
        return len(taken)

    def asked_by(self, batch: str) -> list[PromptRow]:
        """Return the questions of a batch, in the order of their keys."""
        wanted = select(*_PROMPT).where(PROMPTS.c.batch == batch).order_by(PROMPTS.c.key)
        return [PromptRow(*row) for row in self.fetch(wanted)]

    def batches(self) -> list[SubmittedBatch]:
        """Return the batches not collected yet, sorted by id."""
        wanted = select(*_BATCH).where(BATCHES.c.state != COLLECTED).order_by(BATCHES.c.id)
        return [SubmittedBatch(*row) for row in self.fetch(wanted)]

    def mark(self, batch: str, values: Mapping[str, str]) -> None:
        """Store the endpoint's id or state of a batch."""
        statement = update(BATCHES).where(BATCHES.c.id == batch).values(**values, changed=time.time())
        self.execute(statement, make_change_receipt("batches", "id", [batch], **values))

    def release(self, batch: str) -> None:
        """Mark a batch as ended, so that its unanswered questions may be asked again."""
        statement = update(PROMPTS).where(PROMPTS.c.batch == batch).values(batch="", changed=time.time())
        self.execute(statement, make_change_receipt("prompts", "batch", [batch], batch=""))
        self.mark(batch, {"state": COLLECTED})
