"""Rate limits per minute, kept on our side: a bucket that fills steadily and lends.

Libraries such as aiolimiter tie a limit to one event loop; the parts of a run have a loop each and share the limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

BURST_SECONDS = 1.0


class Bucket:
    """Amounts per minute. It holds one second's worth, so that no minute sees noticeably more than the limit."""

    def __init__(self, per_minute: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = None if per_minute is None else per_minute / 60
        self._clock = clock
        self._size = max(1.0, (self._rate or 0) * BURST_SECONDS)
        self._level = self._size
        self._filled_at = clock()
        self._lock = Lock()

    def take(self, amount: float) -> float:
        """Take an amount, on credit where need be; the seconds to wait until it is paid back."""
        if self._rate is None:
            return 0.0
        with self._lock:
            now = self._clock()
            self._level = min(self._size, self._level + (now - self._filled_at) * self._rate) - amount
            self._filled_at = now
            return max(0.0, -self._level / self._rate)

    def correct(self, amount: float) -> None:
        """Put back what was taken too much; a negative amount was taken too little."""
        if self._rate is not None:
            with self._lock:
                self._level += amount
