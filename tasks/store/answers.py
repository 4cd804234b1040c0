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
from contrapose.tasks.store.base import StorePart, patient, unwritten
from contrapose.tasks.store.engine import file_of, keys_subquery, upsert_rows, url_of
from contrapose.tasks.store.opening import rebuild_damaged
from contrapose.tasks.store.receipts import Written
from contrapose.tasks.store.replay import answer_receipt, note_receipts, spend
from contrapose.tasks.store.schema import ANSWERS, CLAIMS, SPENT

CHECKSUM = re.compile(r'(?:, )?"crc": "([0-9a-f]{8})"\}\Z')
"""End of a kept answer."""
CONTENT = ("text", "option_loglikelihoods", "label_mass", "loss", "constrained", "passages", "outcome")
"""Fields of a completion that are kept where they differ from those of one that holds nothing."""
NOTHING = Completion()
STORED = (ANSWERS.c.key, ANSWERS.c.answer, ANSWERS.c.prompt_tokens, ANSWERS.c.completion_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """An answer and its key."""

    key: str
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBatch:
    """Answers that a run got together, as the database has them."""

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

    @property
    def taken(self) -> dict[str, int]:
        """What the batch took, by the columns that count it."""
        tokens = (self.spent.prompt_tokens, self.spent.completion_tokens)
        return dict(zip(SPENT, (len(self.rows), self.spent.calls, self.failures, *tokens), strict=True))


def batch_of(
    answers: Sequence[Keyed], *, run: str, model: str, spent: Usage, failures: int, again: bool, reads: bool = False
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
            "answer": with_checksum(keyed.key, text, usage.prompt_tokens, usage.completion_tokens),
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
        """Return the answers that are there, by key; with `run`, only those which that run asked for itself.

        Where one is damaged, the store is made anew from its receipts; what they lack is asked again.
        """
        own = [] if run is None else [ANSWERS.c.run == run]
        wanted = select(*STORED).where(ANSWERS.c.key.in_(keys_subquery(self.dialect)), *own)
        rows = self.fetch(wanted, self.keys_parameter(keys))
        if not all(checksum_ok(*row) for row in rows):
            self._drop_damaged()
            rows = self.fetch(wanted, self.keys_parameter(keys))
        return {row.key: _completion(row) for row in rows}

    def check(self) -> tuple[int, int]:
        """Check all answers, and repair the store where some are damaged; return how many are left and were not."""
        damaged = len(self._damaged())
        if damaged:
            self._drop_damaged()
        count = self.fetch(select(func.count()).select_from(ANSWERS))[0][0]
        return int(count), damaged

    @patient
    def _damaged(self) -> list[str]:
        with self.reading.begin() as connection:
            rows = connection.execution_options(yield_per=1000).execute(select(*STORED))
            return [row.key for row in rows if not checksum_ok(*row)]

    def _drop_damaged(self) -> None:
        """Make the store anew from its receipts, and delete damaged answers that these do not hold as they were."""
        # Another process may have made it anew meanwhile.
        self.engine.dispose()
        path = file_of(url_of(self.engine))
        if path is not None and self._damaged():
            rebuild_damaged(path, url_of(self.engine), anyway=True)
            self.engine.dispose()
        if keys := self._damaged():
            self.forget(keys, run="")
            warn(f"{len(keys):,} damaged answers in the response store were deleted and are asked again")

    def asked_by(self, run: str, *, model: str, most: int) -> Sequence[Any]:
        """Rows of a run's answers of a model: question as JSON, tokens read and written, seconds."""
        columns = (ANSWERS.c.question, ANSWERS.c.prompt_tokens, ANSWERS.c.completion_tokens, ANSWERS.c.seconds)
        return self.fetch(select(*columns).where(ANSWERS.c.run == run, ANSWERS.c.model == model).limit(most))

    @patient
    def forget(self, keys: Collection[str], *, run: str) -> None:
        """Delete answers, so that their questions are asked again; those that the run itself asked for stay."""
        chosen = delete(ANSWERS).where(ANSWERS.c.key.in_(keys_subquery(self.dialect)), ANSWERS.c.run != run)
        with self.engine.begin() as connection:
            connection.execute(chosen, self.keys_parameter(keys))
            self.record(connection, {"do": "forget", "run": run, "of": list(keys)})

    def note(self, batch: AnswerBatch) -> Written | None:
        """Write the receipts of a batch, or raise CutShortError; None for a database that needs none."""
        return self.append(batch) if self.has_receipts else None

    def append(self, batch: AnswerBatch) -> Written:
        """Write the receipts of a batch, also where the database is a server that does not take the answers."""
        spent = {"at": time.time(), "do": "spend", "run": batch.run, "taken": batch.taken, "reads": batch.reads}
        try:
            return self.receipts.append([*(answer_receipt(row, newer=batch.again) for row in batch.rows), spent])
        except OSError as error:
            raise unwritten(error, self.engine) from error

    def keep(self, batch: AnswerBatch, written: Written | None = None) -> None:
        """Keep a batch, release the claims and note what was spent, all or nothing; write its receipts if need be."""
        self._keep(batch, written or self.note(batch))

    @patient
    def _keep(self, batch: AnswerBatch, written: Written | None) -> None:
        # Keys are hashes. In their order a transaction meets each page of their index once.
        rows = sorted(batch.rows, key=itemgetter("key"))
        with self.engine.begin() as connection:
            if written is not None and not note_receipts(connection, self.receipts, written):
                return
            if rows:
                upsert_rows(connection, ANSWERS, rows, newer=batch.again)
                released = delete(CLAIMS).where(CLAIMS.c.key.in_(keys_subquery(self.dialect)))
                connection.execute(released, self.keys_parameter(row["key"] for row in rows))
            spend(connection, batch.run, batch.taken, reads=batch.reads, now=time.time())


def _completion(row: Any) -> Completion:
    """What the model returned, with the tokens that it took."""
    content = {name: value for name, value in json.loads(row.answer).items() if name in CONTENT}
    content = {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
    usage = Usage(calls=1, prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens)
    return Completion(**content, usage=usage)


def with_checksum(key: str, answer: str, prompt_tokens: int, completion_tokens: int) -> str:
    """Return the JSON of an answer with the checksum of it, its key and its tokens."""
    checksum = _checksum(key, answer, prompt_tokens, completion_tokens)
    return f'{answer[:-1]}{"" if answer == "{}" else ", "}"crc": "{checksum}"}}'


def checksum_ok(key: str, answer: str, prompt_tokens: object, completion_tokens: object) -> bool:
    """Whether an answer is what was kept."""
    match = CHECKSUM.search(answer)
    if match is None:
        return False
    return _checksum(key, f"{answer[: match.start()]}}}", prompt_tokens, completion_tokens) == match[1]


def _checksum(key: str, answer: str, *tokens: object) -> str:
    return f"{zlib.crc32(f'{key} {tokens} {answer}'.encode(errors='replace')):08x}"
