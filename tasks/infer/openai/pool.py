"""The workers of one call: they take questions from the desk as fast as the endpoint answers them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from contrapose.tasks.infer.base import Desk, Form, Question
from contrapose.tasks.infer.openai.asking import Asker
from contrapose.tasks.infer.openai.bodies import Bodies
from contrapose.tasks.infer.openai.breaker import Breaker
from contrapose.tasks.infer.openai.connection import Connection
from contrapose.tasks.infer.openai.endpoint import Endpoint
from contrapose.tasks.infer.openai.finding import FormFinder

WINDOW = 4
"""Questions fetched at once, for each request under way: enough to keep workers busy, and few to keep from others."""
GLANCE_SECONDS = 0.1
GRACE_SECONDS = 2.0
"""How long requests under way may still finish once the run has stopped: they are paid for."""


@dataclass(slots=True, kw_only=True)
class Pool:
    """One call's questions, its workers, and the watch over them."""

    questions: Sequence[Question]
    """All that may have to be asked."""
    desk: Desk
    """Where open questions come from and answers go."""
    bodies: Bodies
    """How questions are put."""
    endpoint: Endpoint
    """What is shared with other calls."""
    _queue: asyncio.Queue[Question | None] = field(init=False, repr=False)
    _breaker: Breaker = field(init=False, repr=False)

    async def run(self) -> None:
        """Work until every question is answered, or the run stops."""
        size = min(self.endpoint.settings.concurrency, max(1, len(self.questions)))
        self._queue = asyncio.Queue(size)
        async with self._asking() as asker:
            await _first_of(self._watch(), self._fill(size), *(self._work(asker) for _ in range(size)))

    async def find_form(self, forms: Sequence[Form]) -> Form | None:
        """Ask one question after the other until it is known which form the endpoint takes, or the run stops."""
        async with self._asking(trying=True) as asker:
            finder = FormFinder(asker, forms)
            await _first_of(self._watch(), finder.find(self.questions))
        return finder.found

    @asynccontextmanager
    async def _asking(self, *, trying: bool = False) -> AsyncIterator[Asker]:
        self._breaker = self.endpoint.breaker()
        async with Connection(self.endpoint.settings) as connection:
            yield Asker(
                connection=connection,
                bodies=self.bodies,
                endpoint=self.endpoint,
                breaker=self._breaker,
                desk=self.desk,
                trying=trying,
            )

    async def _fill(self, workers: int) -> None:
        """Fetch windows of open questions; the desk may wait for a database, so in a thread."""
        window = WINDOW * workers
        for start in range(0, len(self.questions), window):
            if self.desk.stopped:
                break
            for question in await asyncio.to_thread(self.desk.take, self.questions[start : start + window]):
                await self._queue.put(question)
        for _ in range(workers):
            await self._queue.put(None)

    async def _work(self, asker: Asker) -> None:
        while (question := await self._queue.get()) is not None:
            # Once the run has stopped, asking returns at once and the queue empties.
            answer = await asker.ask(question)
            if answer is not None:
                self.desk.put([answer])

    async def _watch(self) -> None:
        """Return a short while after the run has stopped, whoever stopped it; our own reason is the breaker's."""
        while not self.desk.stopped:
            await asyncio.sleep(GLANCE_SECONDS)
            if (verdict := self._breaker.verdict()) is not None:
                self.desk.stop(verdict)
        await asyncio.sleep(GRACE_SECONDS)


async def _first_of(watch: Coroutine[Any, Any, None], *working: Coroutine[Any, Any, None]) -> None:
    """Work until all is done or the watch ends; leave nothing running. The first exception is raised."""
    tasks = [asyncio.create_task(each) for each in working]
    all_done = asyncio.create_task(_all(tasks))
    ends = {all_done, asyncio.create_task(watch)}
    try:
        for first in (await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED))[0]:
            first.result()
    finally:
        running = [*tasks, *ends]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _all(tasks: Sequence[asyncio.Task[None]]) -> None:
    await asyncio.gather(*tasks)
