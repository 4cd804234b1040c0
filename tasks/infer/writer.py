"""Answers on their way into the store: collected while a transaction runs, written together in the next one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeAlias

from contrapose.tasks.records import Usage

if TYPE_CHECKING:
    from contrapose.tasks.infer.store.answers import AnswerTable, Keyed
    from contrapose.tasks.infer.store.claims import Claims

Item: TypeAlias = "Keyed | Usage"
"""An answer, or what a failed question took."""

RENEW_SECONDS = 5.0
GATHER_SECONDS = 0.05
"""How long the first answer of a transaction waits for others: a transaction costs as much as many answers."""
MOST = 2000
"""Answers after which a transaction is closed."""


class Writer:
    """A thread that keeps answers as they come, and keeps claims alive.

    What a crash can lose are the answers of the last moment: `GATHER_SECONDS` and one transaction.

    Args:
        answers: where answers are kept.
        claims: of the desk that it works for.
        run: id of the run.
        model: id of the model.
        again: whether answers replace older ones.
    """

    def __init__(self, answers: AnswerTable, claims: Claims, *, run: str, model: str, again: bool) -> None:
        self.answers, self.claims = answers, claims
        self.run, self.model, self.again = run, model, again
        self.failed: Exception | None = None
        self._queue: SimpleQueue[Sequence[Item] | None] = SimpleQueue()
        self._closing = Event()
        self._thread = Thread(target=self._work, name="contrapose-store", daemon=True)
        self._thread.start()

    def put(self, items: Sequence[Item]) -> None:
        """Keep answers, and note what failed questions took, in one transaction; returns at once."""
        self._queue.put(items)

    def close(self) -> None:
        """Write what is left, release the claims, and end.

        Raises:
            ContraposeError: the store could not be written.
        """
        self._queue.put(None)
        self._closing.set()
        self._thread.join()
        if self.failed is not None:
            raise self.failed
        self.claims.release()

    def _work(self) -> None:
        renewed, open_ = time.monotonic(), True
        try:
            while open_:
                items, open_ = self._collect()
                if items:
                    self._write(items)
                if time.monotonic() - renewed > RENEW_SECONDS:
                    self.claims.renew()
                    self._write([])
                    renewed = time.monotonic()
        except Exception as error:
            self.failed = error

    def _collect(self) -> tuple[list[Item], bool]:
        """What has come, and whether more may."""
        found: list[Item] = []
        try:
            items = self._queue.get(timeout=RENEW_SECONDS)
            self._closing.wait(GATHER_SECONDS)
            while items is not None:
                found += items
                if len(found) >= MOST:
                    return found, True
                items = self._queue.get_nowait()
        except Empty:
            return found, True
        return found, False

    def _write(self, items: list[Item]) -> None:
        kept = [item for item in items if not isinstance(item, Usage)]
        failures = [item for item in items if isinstance(item, Usage)]
        self.answers.save(
            kept,
            run=self.run,
            model=self.model,
            spent=sum((item.answer.taken for item in kept), sum(failures, Usage())),
            failures=len(failures),
            again=self.again,
        )
