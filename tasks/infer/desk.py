"""The desk between a model and the response store."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from types import TracebackType
from typing import Self

from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.base import Answer, Question
from contrapose.tasks.infer.budget import Budget
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.meter import current_meter
from contrapose.tasks.infer.writer import Writer
from contrapose.tasks.store import open_answers, open_claims
from contrapose.tasks.store.answers import Keyed
from contrapose.tasks.store.refuge import take_up


class StoreDesk:
    """Hands out what no answer is known for, and keeps what comes back.

    Args:
        keys: of the model that is asked.
        run: id of the run, which must have been begun.
        model: id of the model.
        budget: what may still be spent.
        again: take only answers that this run asked for itself.
        stopped: why nothing is to be asked, where an earlier part of the run was stopped.
        reads: whether the model is the run's reader, whose spending is told apart.
    """

    def __init__(
        self,
        keys: Keys,
        *,
        run: str,
        model: str,
        budget: Budget,
        again: bool = False,
        stopped: str | None = None,
        reads: bool = False,
    ) -> None:
        self.keys, self.run, self.model, self.again = keys, run, model, again
        self._budget, self._stopped = budget, stopped
        self.answers: dict[Question, Completion] = {}
        self.warnings: dict[str, str] = {}
        self.hits = self.asked = 0
        self._meter = current_meter()
        self._lock = Lock()
        self._known: dict[Question, str] = {}
        self._table = open_answers()
        take_up(self._table)
        self.claims = open_claims(again=again)
        self._writer = Writer(self._table, self.claims, run=run, model=model, again=again, reads=reads)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Everything that was answered is kept, however the asking ended."""
        self._writer.close()

    @property
    def budget(self) -> Budget:
        """What may still be spent."""
        return self._budget

    @property
    def stopped(self) -> str | None:
        """Why nothing more is to be asked."""
        return self._stopped

    def stop(self, reason: str) -> None:
        """Ask nothing more; the first reason stays."""
        with self._lock:
            self._stopped = self._stopped or reason

    def warn(self, kind: str, text: str) -> None:
        """Keep what people should know of how the model answers; of each kind the first text stays."""
        self.warnings.setdefault(kind, text)

    def look_up(self, questions: Sequence[Question]) -> None:
        """Take from the store what is answered there."""
        found = self.kept(self.open(questions))
        self.answers |= found
        self._count(found=len(found))

    def kept(self, questions: Sequence[Question]) -> dict[Question, Completion]:
        """What is answered in the store; it is not taken."""
        keys = {self._key(question): question for question in questions}
        found = self._table.find(list(keys), run=self.run if self.again else None)
        return {keys[key]: stored.completion for key, stored in found.items()}

    def open(self, questions: Sequence[Question]) -> list[Question]:
        """Those of the questions that have no answer, nor a final failure."""
        return [question for question in questions if question not in self.answers]

    def busy(self, questions: Sequence[Question]) -> list[Question]:
        """Those of the questions that another run is asking at this moment."""
        held = self.claims.held_by_others([self._key(question) for question in questions])
        return [question for question in questions if self._key(question) in held]

    def take(self, questions: Sequence[Question]) -> list[Question]:
        """Those of the questions that are still open and are ours to ask now, in order."""
        left = [] if self._stopped else self.open(questions)
        own = self.claims.claim([self._key(question) for question in left]) if left else set()
        return [question for question in left if self._key(question) in own]

    def put(self, answers: Sequence[Answer]) -> None:
        """Keep answers, and remember failures for this run."""
        for answer in answers:
            self.answers[answer.question] = answer.completion
            self._meter.failed += bool(answer.completion.error)
            self._meter.requests += answer.requests
        self._writer.put([self._kept(answer) for answer in answers])
        if self._writer.failed is not None:
            # What cannot be kept must not be paid for.
            self.stop("the response store cannot be written")
        self._meter.cost = self._budget.cost()
        self._count(asked=len(answers))

    def _kept(self, answer: Answer) -> Keyed | Usage:
        failed = answer.completion.error is not None
        return answer.taken if failed else Keyed(key=self._key(answer.question), answer=answer)

    def _count(self, *, found: int = 0, asked: int = 0) -> None:
        self.hits += found
        self.asked += asked
        self._meter.found += found
        self._meter.done += found + asked

    def _key(self, question: Question) -> str:
        key = self._known.get(question)
        if key is None:
            key = self._known[question] = self.keys.of(question)
        return key
