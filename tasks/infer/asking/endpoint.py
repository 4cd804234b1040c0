"""Limits and counts of the requests to one model address, shared by all threads and processes of a run."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from contrapose.tasks.store import Store

TRUST_SECONDS = 120.0
"""How long an answer proves that the endpoint is there: longer than a limit per minute can block it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingPace:
    """Address, timeouts and rate limits of an endpoint."""

    address: str
    """The address that the limits per minute are for."""
    concurrency: int
    """The most requests under way at a time."""
    timeout: float
    """Seconds that one request may take."""
    total_timeout: float
    """Seconds that one prompt may take, from its first request on, with all retries and waits."""
    retries: int = 0
    """How often a failed request is made again; rate-limited ones do not count."""
    requests_per_minute: float | None = None
    """The limit; None is none."""
    tokens_per_minute: float | None = None
    """The limit; None: no limit, or tokens are not counted."""
    called: str = "the endpoint"
    """Its name in messages."""


class Endpoint:
    """Concurrency, limits and counts of an endpoint; threads share it, and `processes` share limits by the store."""

    def __init__(self, settings: AskingPace, *, processes: int = 1) -> None:
        self.settings = settings
        self.concurrency = max(1, settings.concurrency // processes)
        self.limiter = ConcurrencyLimiter(self.concurrency)
        self.requests, self.tokens = (
            Bucket(per_minute)
            if per_minute is None or processes == 1
            else SharedBucket(f"{settings.address} {name}", per_minute)
            for name, per_minute in (("requests", settings.requests_per_minute), ("tokens", settings.tokens_per_minute))
        )
        self._retried: Counter[str] = Counter()
        self._answered_at: float | None = None
        self._lock = Lock()

    def make_breaker(self) -> Breaker:
        """Return a breaker for one pool of workers; it knows whether the endpoint answered lately."""
        answered_at = self._answered_at
        trusted = answered_at is not None and time.monotonic() - answered_at < TRUST_SECONDS
        return Breaker(self.settings.timeout, trusted=trusted, called=self.settings.called)

    def count_answer(self) -> None:
        """Count a request that was answered."""
        self._answered_at = time.monotonic()
        self.limiter.record_answer()

    def count_retry(self, kind: str) -> None:
        """Count a request that is made again."""
        with self._lock:
            self._retried[kind] += 1

    def notes(self) -> Mapping[str, str | float]:
        """Return lowest and final concurrency, pauses for rate limits, and retries by kind, for the manifest."""
        limiter = self.limiter
        with self._lock:
            retries = {f"retries_{kind.replace(' ', '_')}": count for kind, count in sorted(self._retried.items())}
        return {
            "concurrency_lowest": limiter.lowest,
            "concurrency_final": int(limiter.limit),
            "rate_limit_pauses": limiter.pauses,
            **retries,
        }


# When to conclude that an endpoint is gone, rather than ask it thousands of times more.
#
# Four rules, each only while nothing was answered since. A request counts as a failure since the last answer only when
# it was *sent* after that answer: what hung before says nothing about now.
#
# 1. `STREAK` failures in a row, over at least `STREAK_SECONDS`: a server that starts, or restarts, is given that time.
#    Where each request fails with probability p, independently, a streak follows an answer with p ** 20: 1e-14 at 20 %
#    faults, 1e-6 at 50 %; it must also fail throughout the seconds, which is many more requests.
# 2. Something failed or was limited, and `PATIENCE` seconds went by without an answer (1.5 × the timeout where that is
#    longer): two requests in a row of every worker. With n workers that hang with probability p, p ** 2n: 0.04 for a
#    single prompt at 20 %, 1e-5 for four. Where it answered before, `LONG_PATIENCE`: limits per minute take their time.
# 3. It never answered, and refused `STREAK` prompts as if each were at fault.
# 4. `STREAK` replies in a row cannot be read, `FIRST_STREAK` where it never answered: something is there, and it is
#    not the API, which no waiting mends. A server that dies cuts off all that is under way at once; so some of them
#    must have been asked for after another one had come.


STREAK = 20
FIRST_STREAK = 10
ROUNDS = 2
"""Unreadable replies that must have come one after the other."""
STREAK_SECONDS = 20.0
PATIENCE = 50.0
LONG_PATIENCE = 180.0


class Breaker:
    """Decides whether one endpoint is gone, by the requests of one pool of workers."""

    def __init__(
        self,
        timeout: float,
        *,
        trusted: bool = False,
        called: str = "the endpoint",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.called, self.answered, self.last = called, trusted, ""
        self.patience = max(PATIENCE, 1.5 * timeout)
        self._clock = clock
        self._since: float | None = None
        self._streak = self._unreadable = self._rounds = 0
        self._round_since, self._limited, self._refused = 0.0, False, 0

    def start_request(self) -> float:
        """Return the time at which a request is sent, by the clock."""
        now = self._clock()
        if self._since is None:
            self._since = now
        return now

    def record_answer(self) -> None:
        """Forget all failures, because the endpoint answered."""
        self.answered, self._streak, self._limited, self._since = True, 0, False, self._clock()
        self._unreadable, self._rounds, self._round_since = 0, 0, 0.0

    def record_failure(self, why: str, sent: float) -> None:
        """Count a request that failed because of the endpoint."""
        if self._since is not None and sent >= self._since:
            self._streak += 1
            self.last = why

    def record_unreadable(self, why: str, sent: float) -> None:
        """Count a response that is not a reply of the API."""
        self.record_failure(why, sent)
        if self._since is None or sent < self._since:
            return
        self._unreadable += 1
        if sent >= self._round_since:
            self._rounds, self._round_since = self._rounds + 1, self._clock()

    def record_refusal(self, why: str) -> None:
        """Count a request that was refused, as it seems because of its prompt."""
        self._refused, self.last = self._refused + 1, why

    def record_limit(self, why: str) -> None:
        """Count a request that a rate limit refused."""
        self._limited, self.last = True, why

    def explain_if_gone(self) -> str | None:
        """Return why the endpoint counts as gone, or None if it does not."""
        silence = 0.0 if self._since is None else self._clock() - self._since
        if self._refused >= STREAK and not self.answered:
            return f"{self.called} refused {self._refused} prompts and answered none; the last: {self.last}"
        if self._unreadable >= (STREAK if self.answered else FIRST_STREAK) and self._rounds >= ROUNDS:
            return f"{self.called} sent {self._unreadable} replies in a row that are none; the last: {self.last}"
        if self._streak >= STREAK and silence >= STREAK_SECONDS:
            return f"{self.called} failed {self._streak} times in a row; the last: {self.last}"
        patience = max(LONG_PATIENCE, self.patience) if self.answered else self.patience
        if silence >= patience and (self._streak or self._limited):
            return f"{self.called} answered nothing in {silence:.0f} s; the last: {self.last}"
        return None


RECENT = 200
OVERLOAD_SHARE = 0.25
"""Share of timeouts that means overload; a few requests hang on any server."""


class ConcurrencyLimiter:
    """Limits the concurrency: one more after successes, half after overload (AIMD); several threads share it."""

    def __init__(self, ceiling: int) -> None:
        self.ceiling = self.lowest = ceiling
        self.limit = float(ceiling)
        self.pauses = self._under_way = self._in_time = self._late = 0
        self._cut_at = self._resume_at = 0.0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._lock = Lock()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._under_way < int(self.limit):
                self._under_way += 1
                return
            turn = asyncio.get_running_loop().create_future()
            self._waiters.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            with self._lock:
                waits = turn in self._waiters
                if waits:
                    self._waiters.remove(turn)
            if not waits:
                # Its turn had just come: it is the next one's.
                await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        with self._lock:
            self._under_way -= 1
            while self._waiters and self._under_way < int(self.limit):
                self._under_way += 1
                turn = self._waiters.popleft()
                turn.get_loop().call_soon_threadsafe(_grant, turn)

    def record_answer(self) -> None:
        """Count a success; each full window of them allows one more request at a time, up to the ceiling."""
        with self._lock:
            self._in_time += 1
            self._age_counts()
            if self.limit < self.ceiling:
                self.limit = min(float(self.ceiling), self.limit + 1 / self.limit)

    def record_overload(self, started: float) -> None:
        """Halve the limit, once for all requests that ran together; `started`: by `time.monotonic()`."""
        with self._lock:
            self._halve(started)

    def record_timeout(self, started: float) -> None:
        """Halve the limit if many requests since the last cut took too long."""
        with self._lock:
            self._late += 1
            self._age_counts()
            if self._late >= OVERLOAD_SHARE * (self._late + self._in_time):
                self._halve(started)

    def pause(self, seconds: float) -> None:
        """Stop all requests for some seconds."""
        with self._lock:
            until = time.monotonic() + seconds
            self.pauses += self._resume_at < time.monotonic()
            self._resume_at = max(self._resume_at, until)

    def pause_left(self) -> float:
        """Return the seconds that are left of a pause."""
        return max(0.0, self._resume_at - time.monotonic()) if self._resume_at else 0.0

    def _age_counts(self) -> None:
        """Reduce the weight of old requests in the counts."""
        if self._late + self._in_time > RECENT:
            self._late, self._in_time = self._late // 2, self._in_time // 2

    def _halve(self, started: float) -> None:
        if started > self._cut_at:
            self._cut_at, self._in_time, self._late = time.monotonic(), 0, 0
            self.limit = max(1.0, self.limit / 2)
            self.lowest = min(self.lowest, int(self.limit))


def _grant(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


# Rate limits per minute, kept on our side: a bucket that fills steadily and lends.
#
# Libraries such as aiolimiter tie a limit to one event loop; the parts of a run have a loop each and share the limit.


BURST_SECONDS = 1.0


class Bucket:
    """A limit per minute. It saves up one second's amount, so that no minute has much more than the limit."""

    def __init__(self, per_minute: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = None if per_minute is None else per_minute / 60
        self._clock = clock
        self._size = max(1.0, (self._rate or 0) * BURST_SECONDS)
        self._level = self._size
        self._filled_at = clock()
        self._lock = Lock()

    def take(self, amount: float) -> float:
        """Take an amount, also if not enough is left; return the seconds to wait until it is available."""
        if self._rate is None:
            return 0.0
        with self._lock:
            now = self._clock()
            self._level = min(self._size, self._level + (now - self._filled_at) * self._rate) - amount
            self._filled_at = now
            return max(0.0, -self._level / self._rate)

    def correct(self, amount: float) -> None:
        """Return an amount that was taken too much; a negative amount takes more."""
        if self._rate is not None:
            with self._lock:
                self._level += amount


SHARED_SECONDS = 0.25
"""Seconds' worth that a process takes out of a shared bucket at once: less bursts, or fewer looks at the store."""


class SharedBucket:
    """A limit per minute that several processes share by a key in the store; each gets times of its own."""

    def __init__(self, key: str, per_minute: float) -> None:
        self._key, self._rate = key, per_minute / 60
        self._left = self._free = 0.0
        self._owed = 0.0
        self._lock = Lock()

    def take(self, amount: float) -> float:
        """Take an amount; return the seconds to wait until it is this process's turn."""
        with self._lock:
            amount, self._owed = max(amount + self._owed, 0.0), min(amount + self._owed, 0.0)
            while amount > self._left:
                amount -= self._left
                self._left = max(amount, self._rate * SHARED_SECONDS)
                self._free = time.monotonic() + Store().teams.slots(self._key, self._left, rate=self._rate)
            start = self._free
            self._left, self._free = self._left - amount, self._free + amount / self._rate
            return max(0.0, start - time.monotonic())

    def correct(self, amount: float) -> None:
        """Return an amount that was taken too much; a negative amount takes more."""
        with self._lock:
            self._owed -= amount
