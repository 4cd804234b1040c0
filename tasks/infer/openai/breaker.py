"""When to conclude that an endpoint is gone, rather than ask it thousands of times more.

Four rules, each only while nothing was answered since. A request counts as a failure since the last answer only when
it was *sent* after that answer: what hung before says nothing about now.

1. `STREAK` failures in a row, over at least `STREAK_SECONDS`: a server that starts, or restarts, is given that time.
   Where each request fails with probability p, independently, a streak follows an answer with p ** 20: 1e-14 at 20 %
   faults, 1e-6 at 50 %; it must also fail throughout the seconds, which is many more requests.
2. Something failed or was limited, and `PATIENCE` seconds went by without an answer (1.5 × the timeout where that is
   longer): two requests in a row of every worker. With n workers that hang with probability p, p ** 2n: 0.04 for a
   single prompt at 20 %, 1e-5 for four. Where it answered before, `LONG_PATIENCE`: limits per minute take their time.
3. It never answered, and refused `STREAK` prompts as if each were at fault.
4. `STREAK` replies in a row cannot be read, `FIRST_STREAK` where it never answered: something is there, and it is not
   the API, which no waiting mends. A server that dies cuts off all that is under way at once; so some of them must have
   been asked for after another one had come.
"""

from __future__ import annotations

import time
from collections.abc import Callable

STREAK = 20
FIRST_STREAK = 10
ROUNDS = 2
"""Unreadable replies that must have come one after the other."""
STREAK_SECONDS = 20.0
PATIENCE = 50.0
LONG_PATIENCE = 180.0


class Breaker:
    """The judge of one endpoint, during one call."""

    def __init__(self, timeout: float, *, trusted: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.patience = max(PATIENCE, 1.5 * timeout)
        self.answered = trusted
        self.last = ""
        self._clock = clock
        self._since: float | None = None
        self._streak = self._unreadable = self._rounds = 0
        self._round_since = 0.0
        self._limited = False
        self._refused = 0

    def sent(self) -> float:
        """A request leaves; when, by the clock."""
        now = self._clock()
        if self._since is None:
            self._since = now
        return now

    def succeeded(self) -> None:
        """The endpoint answered: all is forgotten."""
        self.answered, self._streak, self._limited, self._since = True, 0, False, self._clock()
        self._unreadable, self._rounds, self._round_since = 0, 0, 0.0

    def failed(self, why: str, sent: float) -> None:
        """A request failed for a reason that is the endpoint's."""
        if self._since is not None and sent >= self._since:
            self._streak += 1
            self.last = why

    def unreadable(self, why: str, sent: float) -> None:
        """What came is no reply of the API."""
        self.failed(why, sent)
        if self._since is None or sent < self._since:
            return
        self._unreadable += 1
        if sent >= self._round_since:
            self._rounds, self._round_since = self._rounds + 1, self._clock()

    def refused(self, why: str) -> None:
        """A request was refused for a reason that seems to be its prompt's."""
        self._refused, self.last = self._refused + 1, why

    def limited(self, why: str) -> None:
        """A request was refused by a rate limit."""
        self._limited, self.last = True, why

    def verdict(self) -> str | None:
        """Why the endpoint counts as gone; None while it does not."""
        silence = 0.0 if self._since is None else self._clock() - self._since
        if self._refused >= STREAK and not self.answered:
            return f"the endpoint refused {self._refused} prompts and answered none; the last: {self.last}"
        if self._unreadable >= (STREAK if self.answered else FIRST_STREAK) and self._rounds >= ROUNDS:
            return f"the endpoint sent {self._unreadable} replies in a row that are none; the last: {self.last}"
        if self._streak >= STREAK and silence >= STREAK_SECONDS:
            return f"the endpoint failed {self._streak} times in a row; the last: {self.last}"
        patience = max(LONG_PATIENCE, self.patience) if self.answered else self.patience
        if silence >= patience and (self._streak or self._limited):
            return f"the endpoint answered nothing in {silence:.0f} s; the last: {self.last}"
        return None
