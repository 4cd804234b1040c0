"""How fast something goes lately, and when it will be done."""

from __future__ import annotations

from collections import deque

LATELY = 30.0
"""Seconds that the rate is taken over."""


class Pace:
    """A rate over the last seconds: what was found in the store at the start does not flatter it for long.

    Args:
        total: how much there is to do.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._seen: deque[tuple[float, int]] = deque([(0.0, 0)])

    def look(self, seconds: float, done: int) -> None:
        """Note how much was done at a time, in seconds since the start; times ascend."""
        self._seen.append((seconds, done))
        # The oldest look is the last one that is as old as that.
        while len(self._seen) > 2 and self._seen[1][0] <= seconds - LATELY:
            self._seen.popleft()

    @property
    def rate(self) -> float | None:
        """A second; None where nothing was done lately."""
        (first, before), (last, now) = self._seen[0], self._seen[-1]
        return (now - before) / (last - first) if now > before and last > first else None

    @property
    def left(self) -> float | None:
        """Seconds to the end; None where that cannot be told."""
        return max(self.total - self._seen[-1][1], 0) / self.rate if self.rate else None
