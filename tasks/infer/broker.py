"""The broker between a model and the response store: it looks up known answers and stores new ones."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from errno import ENOSPC
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Self

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ContraposeError, CutShortError
from contrapose.tasks.core.questions import UNWRITTEN, Answer, Question
from contrapose.tasks.core.records import Completion, add_usages
from contrapose.tasks.core.reply_outcomes import WITHHELD
from contrapose.tasks.infer.budget import Budget
from contrapose.tasks.infer.keys import Changes, Keys
from contrapose.tasks.infer.meter import current_meter
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerBatch, AnswerRow, AnswerTable, build_batch, merge_batches
from contrapose.tasks.store.base import AWAY_SECONDS, DatabaseAwayError, make_unwritten_error
from contrapose.tasks.store.claims import Claims
from contrapose.tasks.store.engine import store_url
from contrapose.tasks.store.opening import check_database
from contrapose.tasks.store.receipts import WrittenReceipts


class StoreBroker:
    """Gives a model the questions without a stored answer, and stores new answers. Any thread may call it.

    Args:
        run: id of the run, which must have been begun.
        again: take only answers that this run asked for itself.
        ask_again: outcomes of stored answers to ask for again, unless this run already did.
        stopped: reason not to ask anything, if an earlier part of the run was stopped.
        reads: whether the model is the run's reader, whose spending is counted separately.
    """

    def __init__(
        self,
        keys: Keys,
        *,
        run: str,
        model: str,
        budget: Budget,
        again: bool = False,
        ask_again: Collection[str] = (),
        stopped: str | None = None,
        reads: bool = False,
    ) -> None:
        self.keys = self.unchanged = keys
        self.run, self.model, self.again, self.ask_again = run, model, again, ask_again
        self.budget, self.stopped = budget, stopped
        self.answers: dict[Question, Completion] = {}
        self.warnings: dict[str, str] = {}
        self.hits = self.asked = 0
        self._meter = current_meter()
        self._lock = Lock()
        self._known: dict[Question, str] = {}
        check_database(store_url())
        self._table = Store().answers
        self.claims = Store().claims(again=again)
        self.reads = reads
        self._writer = AnswerWriter(self._table, self.claims)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Store every answer, also after an error."""
        self._writer.close()

    def stop(self, reason: str) -> None:
        """Stop asking, because the budget is spent or the endpoint is gone. The first reason is kept."""
        with self._lock:
            self.stopped = self.stopped or reason

    def warn(self, kind: str, text: str) -> None:
        """Keep a warning about the answers; only the first text of each kind is kept."""
        self.warnings.setdefault(kind, text)

    def adapt(self, changes: Changes) -> ModelSpec:
        """Change settings of the model: answers are now found and stored under these settings; return the model."""
        self.keys = self.unchanged.apply_changes(changes) if changes else self.unchanged
        self._known = {}
        return self.keys.spec

    def look_up(self, questions: Sequence[Question]) -> None:
        """Take the stored answers of questions, and count them as cache hits."""
        answered = self.find_stored(self.open_questions(questions))
        self.answers |= answered
        self.hits += len(answered)
        self._meter.from_store += len(answered)
        self._meter.done += len(answered)

    def find_stored(self, questions: Sequence[Question]) -> dict[Question, Completion]:
        """Return the stored answers of questions, without counting them as cache hits."""
        keys = {self._key(question): question for question in questions}
        plain = {self._key(question.plain): question for question in questions if question.form != "plain"}
        answers = self._table.find([*keys, *plain], run=self.run if self.again else None)
        if again := [key for key, completion in answers.items() if completion.outcome in self.ask_again]:
            self._table.forget(again, run=self.run)
            own = self._table.find(again, run=self.run)
            open_ = set(again).difference(own)
            answers = {key: answer for key, answer in answers.items() if key not in open_} | own
        # A prompt that was withheld is so in whatever form it is asked for.
        withheld = {plain[key]: reply for key, reply in answers.items() if key in plain and reply.outcome in WITHHELD}
        return withheld | {keys[key]: reply for key, reply in answers.items() if key in keys}

    def open_questions(self, questions: Sequence[Question]) -> list[Question]:
        """Return the questions that have neither an answer nor a final failure."""
        return [question for question in questions if question not in self.answers]

    def busy(self, questions: Sequence[Question]) -> list[Question]:
        """Return the questions that another run is asking now."""
        keys = [self._key(question) for question in questions]
        held = self.claims.held_by_others(keys)
        return [question for question, key in zip(questions, keys, strict=True) if key in held]

    def take(self, questions: Sequence[Question]) -> list[Question]:
        """Return the open questions that this run may ask now, in order; none after the run is stopped.

        It may wait for a database. Questions that another run is asking at this moment are left out: they come later.
        """
        left = [] if self.stopped else self.open_questions(questions)
        keys = [self._key(question) for question in left]
        # A claim behind answers whose receipts alone are written would read these again, to write them itself.
        self._writer.flush()
        own = self.claims.claim(keys) if left else set()
        return [question for question, key in zip(left, keys, strict=True) if key in own]

    def put(self, answers: Sequence[Answer]) -> None:
        """Store answers, and remember failures for this run. It returns at once; they are written together, soon."""
        for answer in answers:
            self.answers[answer.question] = answer.completion
            self._meter.failed += bool(answer.completion.error)
            self._meter.requests += answer.requests
        kept = [answer for answer in answers if answer.completion.error is None]
        # Rows are made here, since the writer's time is what many answers wait for.
        batch = build_batch(
            [AnswerRow(key=self._key(answer.question), answer=answer) for answer in kept],
            run=self.run,
            model=self.model,
            spent=add_usages([answer.taken for answer in answers]),
            failures=len(answers) - len(kept),
            again=self.again,
            reads=self.reads,
        )
        self._writer.put(batch)
        if self._writer.failed is not None:
            # Answers that cannot be kept must not be paid for.
            self.stop(UNWRITTEN)
        self._meter.cost = self.budget.cost()
        self.asked += len(answers)
        self._meter.done += len(answers)

    def flush(self) -> None:
        """Wait until everything that was put is in the store, or the store does not take it."""
        self._writer.flush()

    def _key(self, question: Question) -> str:
        key = self._known.get(question)
        if key is None:
            key = self._known[question] = self.keys.make_key(question)
        return key


RENEW_SECONDS = 5.0
FILE_SECONDS = 10.0
"""How long the end of a run waits for a file that fails; a server may be away for `AWAY_SECONDS`."""
AGAIN_SECONDS = 0.5
"""Between two tries of a transaction that failed."""
GATHER_SECONDS = 0.05
"""How long the first answer of a transaction waits for others: a transaction costs as much as many answers."""
ENOUGH = 1000
"""Answers that come together and wait for no others."""
MOST = 10_000
"""Most answers in one transaction; only a model that answers faster than the store brings so many."""


class AnswerWriter:
    """A thread that writes answers to the store as they come, and renews claims.

    A crash can lose the last answers: those of `GATHER_SECONDS` and one transaction. While the store is away, answers
    stay in memory; if it does not come back, the next run finds their receipts.
    """

    def __init__(self, answers: AnswerTable, claims: Claims) -> None:
        self.answers, self.claims = answers, claims
        self.failed: Exception | None = None
        """Why the last transaction failed; None again once it went through."""
        self._unkept: list[tuple[AnswerBatch, WrittenReceipts | None]] = []
        self._renewed = time.monotonic()
        self._queue: SimpleQueue[AnswerBatch | Event | None] = SimpleQueue()
        self._closing = Event()
        self._hurry = Event()
        """Set while a caller waits for its answers to be written: then nothing more is gathered first."""
        self._thread = Thread(target=self._work, name="contrapose-store", daemon=True)
        self._thread.start()

    def put(self, batch: AnswerBatch) -> None:
        """Queue answers, and the usage of failed questions, for one transaction; returns at once."""
        self._queue.put(batch)

    def flush(self) -> None:
        """Wait until everything that was put before is written, or a transaction fails."""
        written = Event()
        self._queue.put(written)
        self._hurry.set()
        while not written.wait(GATHER_SECONDS) and self.failed is None and self._thread.is_alive():
            pass

    def close(self) -> None:
        """Write the rest, release the claims, and end; wait if the store is away."""
        self._queue.put(None)
        self._closing.set()
        self._hurry.set()
        self._thread.join()
        if self._unkept and self.failed is not None:
            raise self._unkept_error(self.failed)
        self.claims.release()
        if isinstance(self.failed, CutShortError):
            raise self.failed

    def _work(self) -> None:
        open_ = True
        while open_:
            batches, waiting, open_ = self._collect()
            self._insist(batches)
            for event in waiting:
                event.set()

    def _insist(self, batches: list[AnswerBatch]) -> None:
        """Write until it succeeds; give up only at the close, and only if waiting does not help."""
        is_file = self.answers.engine.dialect.name == "sqlite"
        end = time.monotonic() + (min(FILE_SECONDS, AWAY_SECONDS) if is_file else AWAY_SECONDS)
        batch = merge_batches(batches) if batches else None
        written: WrittenReceipts | None = None
        while True:
            closing = self._closing.is_set()
            try:
                if batch is not None:
                    written = written or self.answers.note(batch)
                # Claims come first: after an absence others may take what is not renewed.
                if time.monotonic() - self._renewed > RENEW_SECONDS:
                    self.claims.renew()
                    self._renewed = time.monotonic()
                if batch is not None:
                    self.answers.keep(batch, written)
            except Exception as error:
                self.failed = error
            else:
                if self.answers.receipts.is_full:
                    self.failed = make_unwritten_error(OSError(ENOSPC, os.strerror(ENOSPC)), self.answers.engine)
                elif not self._unkept:
                    self.failed = None
                return
            hopeless = self._unkept or not isinstance(self.failed, DatabaseAwayError) or time.monotonic() > end
            if closing and (hopeless or batch is None):
                self._unkept += [] if batch is None else [(batch, written)]
                return
            time.sleep(AGAIN_SECONDS)

    def _collect(self) -> tuple[list[AnswerBatch], list[Event], bool]:
        """Return the queued batches, events to set when they are written, and whether more may come."""
        gathered: list[AnswerBatch] = []
        waiting: list[Event] = []
        count = 0
        try:
            item = self._queue.get(timeout=RENEW_SECONDS)
            if isinstance(item, AnswerBatch) and len(item.rows) < ENOUGH:
                self._hurry.wait(GATHER_SECONDS)
            self._hurry.clear()
            while item is not None:
                if isinstance(item, Event):
                    waiting.append(item)
                else:
                    gathered.append(item)
                    count += len(item.rows)
                if count >= MOST:
                    return gathered, waiting, True
                item = self._queue.get_nowait()
        except Empty:
            return gathered, waiting, True
        return gathered, waiting, False

    def _unkept_error(self, error: Exception) -> Exception:
        """Return the error for replies that the store did not take; write their receipts if there is room."""
        if not isinstance(error, ContraposeError):
            return error
        place = f"but the next run finds them in {self.answers.receipts.folder}"
        for batch, written in self._unkept:
            try:
                if written is None:
                    self.answers.append(batch)
            except ContraposeError:
                place = "nor written next to it, and are lost"
        self.answers.receipts.close()
        count = sum(len(batch.rows) for batch, _ in self._unkept)
        return CutShortError(
            f"the replies to {count} questions could not be kept in the response store, {place}: {error.found}",
            expected=error.expected,
            remedy=error.remedy,
            where=error.where,
        )
