"""Answers that were paid for, each with the sum by which damage is noticed."""

from __future__ import annotations

import json
import math
import re
import time
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from json.encoder import encode_basestring_ascii
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Delete, delete, select, update
from sqlalchemy.dialects import sqlite

from contrapose.tasks.core.damage import warn
from contrapose.tasks.core.questions import Answer, to_json
from contrapose.tasks.core.records import Completion, Usage, total
from contrapose.tasks.store.base import StorePart, patient, unwritten
from contrapose.tasks.store.engine import insert_into, keys_subquery, sent
from contrapose.tasks.store.receipts import Written, to_line
from contrapose.tasks.store.replay import COUNTED, answer_line, answer_row, applied, spend
from contrapose.tasks.store.schema import ANSWERS, CLAIMS

DAMAGED = "damaged-"
"""How the key of an answer begins that was set aside."""
AT_A_TIME = 10_000
"""Latencies that are read together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """An answer and its key."""

    key: str
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBatch:
    """What a run was answered, as the database has it."""

    rows: Sequence[Mapping[str, Any]]
    """Of the table of answers, at most one of a key."""
    run: str
    """Id of the run that asked; it must have been begun."""
    spent: Usage
    """Requests and tokens."""
    failures: int
    """Questions given up."""
    again: bool
    """Whether these replace older answers."""
    reads: bool = False
    """Whether the run's reader answered, and not its model."""


def batch_of(
    answers: Sequence[Keyed], *, run: str, model: str, spent: Usage, failures: int, again: bool, reads: bool = False
) -> AnswerBatch:
    """Answers of a model, at most one of a key, as the database has them."""
    now = time.time()
    rows = [_row_of(keyed, run=run, model=model, now=now) for keyed in answers]
    return AnswerBatch(rows=rows, run=run, spent=spent, failures=failures, again=again, reads=reads)


def merged(batches: Sequence[AnswerBatch]) -> AnswerBatch:
    """What a run was answered at several times, as one; there must be something."""
    return replace(
        batches[0],
        rows=[row for batch in batches for row in batch.rows],
        spent=total([batch.spent for batch in batches]),
        failures=sum(batch.failures for batch in batches),
    )


class AnswerTable(StorePart):
    """Answers in a database."""

    def find(self, keys: Sequence[str], *, run: str | None = None) -> dict[str, Completion]:
        """The answers that are there, by key; with `run`, only those which that run asked for itself.

        One that is not as it was written is taken from its receipt; where there is none, it is asked again.
        """
        rows = self._rows(keys, run)
        damaged = [row.key for row in rows if not is_whole(*row)]
        if damaged:
            self._restore(damaged)
            rows = [row for row in self._rows(keys, run) if is_whole(*row)]
        return {row.key: _stored(row) for row in rows}

    def check(self) -> tuple[int, int]:
        """How many answers are there, and how many were set aside now since they are not as they were written."""
        count, damaged = self._checked()
        if damaged:
            self._restore(damaged)
        return count - len(damaged), len(damaged)

    @patient
    def asked_by(self, run: str, *, model: str, most: int) -> Sequence[Any]:
        """What answers of a model took that a run asked for: question as JSON, tokens read and written, seconds."""
        columns = (ANSWERS.c.question, ANSWERS.c.prompt_tokens, ANSWERS.c.completion_tokens, ANSWERS.c.seconds)
        wanted = select(*columns).where(ANSWERS.c.run == run, ANSWERS.c.model == model).limit(most)
        with self.reading.begin() as connection:
            return connection.execute(wanted).all()

    @patient
    def _checked(self) -> tuple[int, list[str]]:
        columns = (ANSWERS.c.key, ANSWERS.c.answer, ANSWERS.c.prompt_tokens, ANSWERS.c.completion_tokens)
        wanted = select(*columns).where(ANSWERS.c.key.not_like(f"{DAMAGED}%"))
        count, damaged = 0, []
        with self.reading.begin() as connection:
            for row in connection.execution_options(yield_per=1000).execute(wanted):
                count += 1
                if not is_whole(*row):
                    damaged.append(row.key)
        return count, damaged

    @patient
    def _rows(self, keys: Sequence[str], run: str | None) -> Sequence[Any]:
        columns = (ANSWERS.c.key, ANSWERS.c.answer, ANSWERS.c.prompt_tokens, ANSWERS.c.completion_tokens)
        with self.reading.begin() as connection:
            wanted = select(*columns).where(ANSWERS.c.key.in_(keys_subquery(connection.dialect.name)))
            wanted = wanted if run is None else wanted.where(ANSWERS.c.run == run)
            return connection.execute(wanted, sent(connection, keys)).all()

    @patient
    def forget(self, keys: Collection[str], *, run: str) -> None:
        """Delete answers, so that their questions are asked again; those that the run itself asked for stay."""
        with self.engine.begin() as connection:
            chosen = delete(ANSWERS).where(
                ANSWERS.c.key.in_(keys_subquery(connection.dialect.name)), ANSWERS.c.run != run
            )
            connection.execute(chosen, sent(connection, keys))
            self.record(connection, {"do": "forget", "run": run, "of": list(keys)})

    @patient
    def _restore(self, keys: Sequence[str]) -> None:
        """Take damaged answers from their receipts again; where one has none it is kept under another key."""
        with self.engine.begin() as connection:
            rows = self.receipts.answers(keys) if self.has_receipts else []
            for row in rows:
                connection.execute(_keeping(connection.dialect.name, again=True), answer_row(row))
            for key in set(keys).difference(row["key"] for row in rows):
                aside = f"{DAMAGED}{key}"[: len(key)]
                connection.execute(delete(ANSWERS).where(ANSWERS.c.key == aside))
                connection.execute(update(ANSWERS).where(ANSWERS.c.key == key).values(key=aside))
        lost = len(set(keys)) - len({row["key"] for row in rows})
        if len(rows):
            warn(f"{len(rows):,} damaged answers in the response store were taken from their receipts again")
        if lost:
            warn(f"{lost:,} damaged answers in the response store were set aside and are asked again")

    def note(self, batch: AnswerBatch) -> Written | None:
        """Write the receipts of what a run was answered; None for a database that needs none.

        Raises:
            CutShortError: they cannot be written.
        """
        return self.append(batch) if self.has_receipts else None

    def append(self, batch: AnswerBatch) -> Written:
        """Write receipts, also where the database is a server that does not take the answers."""
        lines = [answer_line(row, again=batch.again) for row in batch.rows]
        spent = {"do": "spend", "run": batch.run, "taken": _taken(batch), "reads": batch.reads}
        try:
            return self.receipts.append([*lines, to_line({"at": time.time(), **spent})])
        except OSError as error:
            raise unwritten(error, self.engine) from error

    def keep(self, batch: AnswerBatch, written: Written | None = None) -> None:
        """Keep what a run was answered, release the claims and note what was spent, all of it or nothing.

        Args:
            batch: what it was answered.
            written: where the receipts of it are; None: they are written now.
        """
        self._keep(batch, written or self.note(batch))

    @patient
    def _keep(self, batch: AnswerBatch, written: Written | None) -> None:
        with self.engine.begin() as connection:
            if written is not None and not applied(connection, self.receipts, written):
                return
            if batch.rows:
                # Keys are hashes. In their order a transaction meets each page of their index once.
                rows = sorted(batch.rows, key=itemgetter("key"))
                self._insert(connection, rows, again=batch.again)
                connection.execute(_releasing(connection.dialect.name), sent(connection, (row["key"] for row in rows)))
            spend(connection, batch.run, _taken(batch), reads=batch.reads, now=time.time())

    def _insert(self, connection: Connection, rows: Sequence[Mapping[str, Any]], *, again: bool) -> None:
        """Insert rows, into SQLite many with one statement: others go on while it works, and it asks for no turn a row.

        Statements are made once: making them takes longer than some dozens of rows.
        """
        if connection.dialect.name != "sqlite":
            connection.execute(_keeping(connection.dialect.name, again=again), list(rows))
            return
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            text, values = _keeping_many(len(part), again=again)
            connection.exec_driver_sql(text, tuple(chain.from_iterable(map(values, part))))


AT_ONCE = 1000
"""Rows of an insert into SQLite, which takes some 32,000 values a statement."""


@cache
def _keeping(dialect: str, *, again: bool) -> Any:
    """The statement that keeps an answer; `again`: in the place of an older one."""
    # SQLite copies each page of the index into a file before it changes it, in case it must take back one statement
    # and not the whole transaction; here it never must.
    statement = insert_into(dialect, ANSWERS).prefix_with("OR FAIL", dialect="sqlite")
    if not again:
        # Whoever answered first stays: there is one answer, whatever happens.
        return statement.on_conflict_do_nothing(index_elements=["key"])
    new = {column.name: statement.excluded[column.name] for column in ANSWERS.c if column.name != "key"}
    return statement.on_conflict_do_update(index_elements=["key"], set_=new)


@lru_cache(maxsize=128)
def _keeping_many(count: int, *, again: bool) -> tuple[str, Callable[[Mapping[str, Any]], tuple[object, ...]]]:
    """The text that keeps so many answers in SQLite, and what it takes of each row, in its order."""
    compiled = _keeping("sqlite", again=again).compile(dialect=sqlite.dialect(), column_keys=list(ANSWERS.c.keys()))
    one = f"({', '.join('?' * len(compiled.positiontup))})"
    return str(compiled).replace(one, ", ".join([one] * count), 1), itemgetter(*compiled.positiontup)


@cache
def _releasing(dialect: str) -> Delete:
    """The statement that ends claims of keys that are `sent`."""
    return delete(CLAIMS).where(CLAIMS.c.key.in_(keys_subquery(dialect)))


def _taken(batch: AnswerBatch) -> dict[str, int]:
    """What came of a batch, by the columns that count it."""
    spent = batch.spent
    counts = (len(batch.rows), spent.calls, batch.failures, spent.prompt_tokens, spent.completion_tokens)
    return dict(zip(COUNTED, counts, strict=True))


def percentiles(connection: Connection, run: str, shares: Sequence[float]) -> dict[float, float]:
    """Nearest-rank percentiles of the latency of a run's answers, in seconds, of those that have one; else empty."""
    import numpy as np

    own = select(ANSWERS.c.seconds).where(ANSWERS.c.run == run, ANSWERS.c.seconds > 0)
    # A database that sorts a million of them takes several times as long, and hundreds of megabytes.
    latencies = connection.execute(own.execution_options(yield_per=AT_A_TIME)).scalars()
    seconds = np.sort(np.fromiter(latencies, dtype=float))
    return {share: float(seconds[max(math.ceil(share * len(seconds)), 1) - 1]) for share in shares if len(seconds)}


def _stored(row: Any) -> Completion:
    """What the model returned, with the tokens that it took."""
    content: Mapping[str, Any] = json.loads(row.answer)
    loglikelihoods, passages = content.get("option_loglikelihoods"), content.get("passages")
    return Completion(
        text=content.get("text"),
        option_loglikelihoods=None if loglikelihoods is None else tuple(loglikelihoods),
        label_mass=content.get("label_mass"),
        loss=content.get("loss"),
        constrained=content.get("constrained", False),
        passages=None if passages is None else tuple(passages),
        outcome=content.get("outcome", "answered"),
        usage=Usage(calls=1, prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens),
    )


def _row_of(keyed: Keyed, *, run: str, model: str, now: float) -> dict[str, Any]:
    """An answer as the database has it."""
    completion = keyed.answer.completion
    usage = completion.usage
    return {
        "key": keyed.key,
        "model": model,
        "question": to_json(keyed.answer.question),
        "answer": summed(keyed.key, _json_of(completion), usage.prompt_tokens, usage.completion_tokens),
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "requests": keyed.answer.requests,
        "seconds": keyed.answer.seconds,
        "run": run,
        "stored": now,
    }


def _json_of(completion: Completion) -> str:
    """What the model returned, as JSON; `json` takes several times as long for a reply."""
    parts = [] if completion.text is None else [f'"text": {encode_basestring_ascii(completion.text)}']
    if completion.option_loglikelihoods is not None:
        parts.append(f'"option_loglikelihoods": {json.dumps(completion.option_loglikelihoods)}')
    if completion.label_mass is not None:
        parts.append(f'"label_mass": {json.dumps(completion.label_mass)}')
    if completion.loss is not None:
        parts.append(f'"loss": {json.dumps(completion.loss)}')
    if completion.constrained:
        parts.append('"constrained": true')
    if completion.passages is not None:
        parts.append(f'"passages": {json.dumps(completion.passages)}')
    if completion.outcome != "answered":
        parts.append(f'"outcome": "{completion.outcome}"')
    return f"{{{', '.join(parts)}}}"


SUM = re.compile(r'(?:, )?"crc": "([0-9a-f]{8})"\}\Z')
"""How a kept answer ends. Those of older versions end without."""


def summed(key: str, answer: str, prompt_tokens: int, completion_tokens: int) -> str:
    """The JSON of an answer with the sum over it, its key and what it took."""
    checksum = _sum(key, answer, prompt_tokens, completion_tokens)
    return f'{answer[:-1]}{"" if answer == "{}" else ", "}"crc": "{checksum}"}}'


def is_whole(key: str, answer: str, prompt_tokens: object, completion_tokens: object) -> bool:
    """Whether an answer is what was kept; one without a sum is, where it can be read."""
    match = SUM.search(answer)
    if match is not None:
        return _sum(key, f"{answer[: match.start()]}}}", prompt_tokens, completion_tokens) == match[1]
    try:
        return isinstance(json.loads(answer), dict)
    except ValueError:
        return False


def _sum(key: str, answer: str, *tokens: object) -> str:
    return f"{zlib.crc32(f'{key} {tokens} {answer}'.encode(errors='replace')):08x}"
