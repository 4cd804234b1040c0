"""How many requests are under way at a time: fewer when the endpoint is overloaded, more while it copes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass
from threading import Lock

RECENT = 200
TELLING_SHARE = 0.25
"""A few requests hang on a server that copes; when as many time out, it does not."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Waiter:
    loop: asyncio.AbstractEventLoop
    turn: asyncio.Future[None]

    def wake(self) -> None:
        self.loop.call_soon_threadsafe(self._go)

    def _go(self) -> None:
        if not self.turn.done():
            self.turn.set_result(None)


class Limiter:
    """Additive increase, multiplicative decrease, shared by the event loops of several threads."""

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.limit = float(ceiling)
        self.lowest = ceiling
        self.pauses = 0
        self._under_way = 0
        self._cut_at = 0.0
        self._resume_at = 0.0
        self._in_time = self._late = 0
        self._waiters: deque[_Waiter] = deque()
        self._lock = Lock()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._under_way < int(self.limit):
                self._under_way += 1
                return
            loop = asyncio.get_running_loop()
            waiter = _Waiter(loop=loop, turn=loop.create_future())
            self._waiters.append(waiter)
        try:
            await waiter.turn
        except asyncio.CancelledError:
            self._leave(waiter)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._release()

    def succeeded(self) -> None:
        """One more request at a time for every window of successes, up to the ceiling."""
        with self._lock:
            self._in_time += 1
            self._forget()
            if self.limit < self.ceiling:
                self.limit = min(float(self.ceiling), self.limit + 1 / self.limit)

    def overloaded(self, started: float) -> None:
        """Halve, once for all requests that were under way together.

        Args:
            started: when the refused request was sent, by `time.monotonic()`.
        """
        with self._lock:
            self._cut(started)

    def timed_out(self, started: float) -> None:
        """Halve where many of the requests since the last cut took too long."""
        with self._lock:
            self._late += 1
            self._forget()
            if self._late >= TELLING_SHARE * (self._late + self._in_time):
                self._cut(started)

    def pause(self, seconds: float) -> None:
        """Send nothing for a while, whoever asks."""
        with self._lock:
            until = time.monotonic() + seconds
            self.pauses += self._resume_at < time.monotonic()
            self._resume_at = max(self._resume_at, until)

    def paused(self) -> float:
        """Seconds left of a pause."""
        return max(0.0, self._resume_at - time.monotonic()) if self._resume_at else 0.0

    def _forget(self) -> None:
        """Old requests count less and less."""
        if self._late + self._in_time > RECENT:
            self._late, self._in_time = self._late // 2, self._in_time // 2

    def _cut(self, started: float) -> None:
        if started > self._cut_at:
            self._cut_at, self._in_time, self._late = time.monotonic(), 0, 0
            self.limit = max(1.0, self.limit / 2)
            self.lowest = min(self.lowest, int(self.limit))

    def _release(self) -> None:
        with self._lock:
            self._under_way -= 1
            while self._waiters and self._under_way < int(self.limit):
                self._under_way += 1
                self._waiters.popleft().wake()

    def _leave(self, waiter: _Waiter) -> None:
        """A waiter that gives up: out of the queue, or its turn, which had just come, to the next."""
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
                return
        self._release()
