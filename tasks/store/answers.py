"""Stored answers, each with a checksum that detects damage."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from sqlalchemy import delete, func, select

from contrapose.tasks.core.damage import warn
from contrapose.tasks.core.questions import Answer, to_json
from contrapose.tasks.core.records import Completion, Usage, add_usages
from contrapose.tasks.store.base import StorePart, make_unwritten_error, retry_transaction
from contrapose.tasks.store.engine import get_store_file, get_url, keys_subquery, upsert_rows
from contrapose.tasks.store.opening import rebuild_damaged
from contrapose.tasks.store.receipts import WrittenReceipts
from contrapose.tasks.store.replay import add_spending, make_answer_receipt, note_receipts
from contrapose.tasks.store.schema import ANSWERS, CLAIMS, SPENT

CHECKSUM = re.compile(r'(?:, )?"crc": "([0-9a-f]{8})"\}\Z')
"""End of a kept answer."""
CONTENT = ("text", "option_loglikelihoods", "label_mass", "loss", "constrained", "passages", "outcome")
"""Fields of a completion that are kept where they differ from those of one that holds nothing."""
NOTHING = Completion()
STORED = (ANSWERS.c.key, ANSWERS.c.answer, ANSWERS.c.prompt_tokens, ANSWERS.c.completion_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """A new answer with its key."""

    key: str
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBatch:
    """Answers that a run stores in one transaction, as database rows."""

    rows: Sequence[Mapping[str, Any]]
    """Of the table of answers, at most one of a key."""
    run: str
    """Id of the run that asked; it must have been begun."""
    spent: Usage
    """Requests and tokens."""
    failures: int
    """Questions given up."""
    again: bool
    """Return whether these replace older answers."""
    reads: bool = False
    """Return whether the run's reader answered, and not its model."""

    @property
    def taken(self) -> dict[str, int]:
        """Tokens and requests of the batch, by the columns that count them."""
        tokens = (self.spent.prompt_tokens, self.spent.completion_tokens)
        return dict(zip(SPENT, (len(self.rows), self.spent.calls, self.failures, *tokens), strict=True))


def build_batch(
    answers: Sequence[AnswerRow], *, run: str, model: str, spent: Usage, failures: int, again: bool, reads: bool = False
) -> AnswerBatch:
    """Build the batch of a model's answers, at most one of a key."""
    now, rows = time.time(), []
    for keyed in answers:
        completion, usage = keyed.answer.completion, keyed.answer.completion.usage
        content = {name: getattr(completion, name) for name in CONTENT}
        text = json.dumps({name: value for name, value in content.items() if value != getattr(NOTHING, name)})
        row = {
            "key": keyed.key,
            "model": model,
            "question": to_json(keyed.answer.question),
            "answer": add_checksum(keyed.key, text, usage.prompt_tokens, usage.completion_tokens),
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "requests": keyed.answer.requests,
            "seconds": keyed.answer.seconds,
            "run": run,
            "stored": now,
        }
        rows.append(row)
    return AnswerBatch(rows=rows, run=run, spent=spent, failures=failures, again=again, reads=reads)


def merge_batches(batches: Sequence[AnswerBatch]) -> AnswerBatch:
    """Merge batches of one run; there must be one."""
    return replace(
        batches[0],
        rows=[row for batch in batches for row in batch.rows],
        spent=add_usages([batch.spent for batch in batches]),
        failures=sum(batch.failures for batch in batches),
    )


class AnswerTable(StorePart):
    """Answers in a database."""

    def find(self, keys: Sequence[str], *, run: str | None = None) -> dict[str, Completion]:
        """Return stored answers by key; with `run`, only those that this run asked for.

        If one is damaged, the store is rebuilt from its receipts; answers missing there are asked again.
        """
        own = [] if run is None else [ANSWERS.c.run == run]
        wanted = select(*STORED).where(ANSWERS.c.key.in_(keys_subquery(self.dialect)), *own)
        rows = self.fetch(wanted, self.keys_parameter(keys))
        if not all(checksum_ok(*row) for row in rows):
            self._drop_damaged()
            rows = self.fetch(wanted, self.keys_parameter(keys))
        return {row.key: _to_completion(row) for row in rows}

    def check(self) -> tuple[int, int]:
        """Check all answers and repair the store; return the numbers of intact and of lost answers."""
        damaged = len(self._damaged())
        if damaged:
            self._drop_damaged()
        count = self.fetch(select(func.count()).select_from(ANSWERS))[0][0]
        return int(count), damaged

    @retry_transaction
    def _damaged(self) -> list[str]:
        with self.reading.begin() as connection:
            rows = connection.execution_options(yield_per=1000).execute(select(*STORED))
            return [row.key for row in rows if not checksum_ok(*row)]

    def _drop_damaged(self) -> None:
        """Rebuild the store from its receipts, and delete damaged answers that are not in them."""
        # Another process may have made it anew meanwhile.
        self.engine.dispose()
        path = get_store_file(get_url(self.engine))
        if path is not None and self._damaged():
            rebuild_damaged(path, get_url(self.engine), anyway=True)
            self.engine.dispose()
        if keys := self._damaged():
            self.forget(keys, run="")
            warn(f"{len(keys):,} damaged answers in the response store were deleted and are asked again")

    def asked_by(self, run: str, *, model: str, most: int) -> Sequence[Any]:
        """Return rows of a run's answers from a model: question as JSON, tokens read and written, seconds."""
        columns = (ANSWERS.c.question, ANSWERS.c.prompt_tokens, ANSWERS.c.completion_tokens, ANSWERS.c.seconds)
        return self.fetch(select(*columns).where(ANSWERS.c.run == run, ANSWERS.c.model == model).limit(most))

    @retry_transaction
    def forget(self, keys: Collection[str], *, run: str) -> None:
        """Delete answers so that their questions are asked again; answers of the run itself stay."""
        chosen = delete(ANSWERS).where(ANSWERS.c.key.in_(keys_subquery(self.dialect)), ANSWERS.c.run != run)
        with self.engine.begin() as connection:
            connection.execute(chosen, self.keys_parameter(keys))
            self.record(connection, {"do": "forget", "run": run, "of": list(keys)})

    def note(self, batch: AnswerBatch) -> WrittenReceipts | None:
        """Write the receipts of a batch, or raise CutShortError; return None for a database without receipts."""
        return self.append(batch) if self.has_receipts else None

    def append(self, batch: AnswerBatch) -> WrittenReceipts:
        """Write the receipts of a batch, also for a database server that is down."""
        spent = {"at": time.time(), "do": "spend", "run": batch.run, "taken": batch.taken, "reads": batch.reads}
        try:
            return self.receipts.append([*(make_answer_receipt(row, newer=batch.again) for row in batch.rows), spent])
        except OSError as error:
            raise make_unwritten_error(error, self.engine) from error

    def keep(self, batch: AnswerBatch, written: WrittenReceipts | None = None) -> None:
        """Store a batch, release its claims and add its cost to the run, all or nothing; write receipts if needed."""
        self._keep(batch, written or self.note(batch))

    @retry_transaction
    def _keep(self, batch: AnswerBatch, written: WrittenReceipts | None) -> None:
        # Keys are hashes. In their order a transaction meets each page of their index once.
        rows = sorted(batch.rows, key=itemgetter("key"))
        with self.engine.begin() as connection:
            if written is not None and not note_receipts(connection, self.receipts, written):
                return
            if rows:
                upsert_rows(connection, ANSWERS, rows, newer=batch.again)
                released = delete(CLAIMS).where(CLAIMS.c.key.in_(keys_subquery(self.dialect)))
                connection.execute(released, self.keys_parameter(row["key"] for row in rows))
            add_spending(connection, batch.run, batch.taken, reads=batch.reads, now=time.time())


def _to_completion(row: Any) -> Completion:
    """Return the completion in a stored row, with its token counts."""
    content = {name: value for name, value in json.loads(row.answer).items() if name in CONTENT}
    content = {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
    usage = Usage(calls=1, prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens)
    return Completion(**content, usage=usage)


def add_checksum(key: str, answer: str, prompt_tokens: int, completion_tokens: int) -> str:
    """Return an answer's JSON with a checksum over answer, key and token counts."""
    checksum = _compute_checksum(key, answer, prompt_tokens, completion_tokens)
    return f'{answer[:-1]}{"" if answer == "{}" else ", "}"crc": "{checksum}"}}'


def checksum_ok(key: str, answer: str, prompt_tokens: object, completion_tokens: object) -> bool:
    """Return whether an answer still has its checksum."""
    match = CHECKSUM.search(answer)
    if match is None:
        return False
    return _compute_checksum(key, f"{answer[: match.start()]}}}", prompt_tokens, completion_tokens) == match[1]


def _compute_checksum(key: str, answer: str, *tokens: object) -> str:
    return f"{zlib.crc32(f'{key} {tokens} {answer}'.encode(errors='replace')):08x}"
