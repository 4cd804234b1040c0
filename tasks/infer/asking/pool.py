"""A pool of workers that ask the questions of one call to a model, and the check that stops them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from contrapose.tasks.core.questions import INTERRUPTED, UNWRITTEN, Answer, Question
from contrapose.tasks.infer.asking.asker import Asker, Transport
from contrapose.tasks.infer.asking.endpoint import AskingPace, Breaker, Endpoint

if TYPE_CHECKING:
    from contrapose.tasks.infer.broker import StoreBroker

WINDOW = 4
"""Questions fetched at once, for each request under way: enough to keep workers busy, and few to keep from others."""
GLANCE_SECONDS = 0.1
GRACE_SECONDS = 2.0
"""How long requests under way at an endpoint that was given up may still finish; elsewhere, as long as any may take."""


class PooledModel:
    """A model behind an endpoint that answers many questions at a time; `processes` share its limits."""

    def __init__(self, settings: AskingPace, open_transport: Callable[[], Transport], *, processes: int = 1) -> None:
        self.open_transport = open_transport
        self.endpoint = Endpoint(settings, processes=processes)

    def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
        """Ask the open questions, and put each answer at once. Several threads may call it; they share the limits."""
        pool = Pool(questions=questions, broker=broker, endpoint=self.endpoint, open_transport=self.open_transport)
        asyncio.run(pool.run())

    def notes(self) -> Mapping[str, str | float]:
        """Return lowest and final concurrency, pauses for rate limits, and retries by kind."""
        return self.endpoint.notes()


@dataclass(slots=True, kw_only=True)
class Pool:
    """Asks the questions of one call with many workers, and watches them."""

    questions: Sequence[Question]
    """All questions of the call."""
    broker: StoreBroker
    """Gives open questions and takes answers."""
    open_transport: Callable[[], Transport]
    """Opens the transport that makes the requests."""
    endpoint: Endpoint
    """The endpoint, shared with other calls."""
    _failed: Exception | None = field(default=None, init=False, repr=False)
    """Why no more questions come: the store does not say which are ours, or the broker takes no answers."""
    _queue: asyncio.Queue[Question | None] = field(init=False, repr=False)
    _answered: list[Answer] = field(default_factory=list, init=False, repr=False)
    """Answers that came at this moment, which are put together."""
    _breaker: Breaker = field(init=False, repr=False)

    async def run(self) -> None:
        """Work until every question is answered, or the run stops."""
        size = min(self.endpoint.concurrency, max(1, len(self.questions)))
        self._queue = asyncio.Queue(size)
        async with self._open_asker() as asker:
            try:
                await _run_watched(self._watch(), self._fill(size), *(self._work(asker) for _ in range(size)))
            finally:
                self._put_answers()
        if self._failed is not None:
            raise self._failed

    async def try_out(self, work: Callable[[Asker], Coroutine[Any, Any, None]]) -> None:
        """Run `work`, which finds out how to ask, until it is done or the run stops."""
        async with self._open_asker(trying=True) as asker:
            await _run_watched(self._watch(), work(asker))

    @asynccontextmanager
    async def _open_asker(self, *, trying: bool = False) -> AsyncIterator[Asker]:
        self._breaker = self.endpoint.make_breaker()
        transport = self.open_transport()
        try:
            yield Asker(
                transport=transport, endpoint=self.endpoint, breaker=self._breaker, broker=self.broker, trying=trying
            )
        finally:
            await transport.close()

    async def _fill(self, workers: int) -> None:
        """Fetch open questions for the workers, in a thread because the broker may wait for a database."""
        window = WINDOW * workers
        for start in range(0, len(self.questions), window):
            if self.broker.stopped:
                break
            try:
                taken = await asyncio.to_thread(self.broker.take, self.questions[start : start + window])
            except Exception as error:
                self._fail(error)
                break
            for question in taken:
                await self._queue.put(question)
        for _ in range(workers):
            await self._queue.put(None)

    async def _work(self, asker: Asker) -> None:
        while (question := await self._queue.get()) is not None:
            # Once the run has stopped, asking returns at once and the queue empties.
            answer = await asker.ask(question)
            if answer is not None:
                self._answered.append(answer)
                if len(self._answered) == 1:
                    # By then all that came with it are read.
                    asyncio.get_running_loop().call_soon(self._put_answers)

    def _put_answers(self) -> None:
        """Put answers at the broker; stop asking if it does not take them."""
        answered, self._answered = self._answered, []
        try:
            if answered:
                self.broker.put(answered)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Stop asking, and raise the error when the requests under way, which are paid for, are answered."""
        self._failed = error
        self.broker.stop(UNWRITTEN)

    async def _watch(self) -> None:
        """Wait until the run has stopped, and return a while later; stop it if the breaker says so."""
        while not self.broker.stopped:
            await asyncio.sleep(GLANCE_SECONDS)
            if (reason := self._breaker.explain_if_gone()) is not None:
                self.broker.stop(reason)
        # Requests under way are paid for: they are waited for, and not for long where the endpoint is why the run
        # stopped.
        given_up = self._breaker.explain_if_gone() is not None or self.broker.stopped == INTERRUPTED
        end = time.monotonic() + (GRACE_SECONDS if given_up else self.endpoint.settings.timeout)
        while not self.broker.budget.is_idle() and time.monotonic() < end:
            await asyncio.sleep(GLANCE_SECONDS)
        await asyncio.sleep(GLANCE_SECONDS)


async def _run_watched(watch: Coroutine[Any, Any, None], *working: Coroutine[Any, Any, None]) -> None:
    """Run workers until all are done or the watch ends; end all of them, and raise the first exception."""
    tasks = [asyncio.create_task(coroutine) for coroutine in working]
    ends: set[asyncio.Future[Any]] = {asyncio.gather(*tasks), asyncio.create_task(watch)}
    try:
        for first in (await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED))[0]:
            first.result()
    finally:
        running = [*tasks, *ends]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
