"""When to conclude that an endpoint is gone, rather than ask it thousands of times more.

Two rules, each only while nothing was answered since. A request counts as a failure since the last answer only when
it was *sent* after that answer: what hung before says nothing about now.

1. `STREAK` failures in a row, over at least `STREAK_SECONDS` where it answered before. Where each request fails with
   probability p, independently, a streak follows an answer with p ** 20: 1e-14 at 20 % faults, 1e-6 at 50 %; a fast
   endpoint must also fail throughout the seconds, which is hundreds of requests.
2. The endpoint never answered, something failed or was limited, and `PATIENCE` seconds went by (1.5 × the timeout
   where that is longer): two requests in a row of every worker. With n workers that hang with probability p, p ** 2n:
   0.04 for a single prompt at 20 %, 1e-5 for four.
"""

from __future__ import annotations

import time
from collections.abc import Callable

STREAK = 20
STREAK_SECONDS = 5.0
PATIENCE = 50.0


class Breaker:
    """The judge of one endpoint, during one call."""

    def __init__(self, timeout: float, *, trusted: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.patience = max(PATIENCE, 1.5 * timeout)
        self.answered = trusted
        self.last = ""
        self._clock = clock
        self._since: float | None = None
        self._streak = 0
        self._limited = False

    def sent(self) -> float:
        """A request leaves; when, by the clock."""
        now = self._clock()
        if self._since is None:
            self._since = now
        return now

    def succeeded(self) -> None:
        """The endpoint answered: all is forgotten."""
        self.answered, self._streak, self._limited, self._since = True, 0, False, self._clock()

    def failed(self, why: str, sent: float) -> None:
        """A request failed for a reason that is the endpoint's."""
        if self._since is not None and sent >= self._since:
            self._streak += 1
            self.last = why

    def limited(self, why: str) -> None:
        """A request was refused by a rate limit."""
        self._limited, self.last = True, why

    def verdict(self) -> str | None:
        """Why the endpoint counts as gone; None while it does not."""
        silence = 0.0 if self._since is None else self._clock() - self._since
        if self._streak >= STREAK and silence >= (STREAK_SECONDS if self.answered else 0):
            return f"the endpoint failed {self._streak} times in a row; the last: {self.last}"
        if not self.answered and silence >= self.patience and (self._streak or self._limited):
            return f"the endpoint answered nothing in {silence:.0f} s; the last: {self.last}"
        return None
