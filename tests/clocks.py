"""Clocks that a test sets by hand: the one on the wall, which jumps, and the one that only measures."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import pytest


class Clock:
    """A clock that moves only where somebody sleeps, in place of the module of time."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.slept: list[float] = []

    def time(self) -> float:
        return self.now

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Clocks:
    """What they show, in seconds."""

    wall: float = 1e9
    measured: float = 0.0

    def go_on(self, seconds: float) -> None:
        """Let time pass."""
        self.wall += seconds
        self.measured += seconds


def set_by_hand(monkeypatch: pytest.MonkeyPatch, name: str) -> Clocks:
    """The clocks that a module of the store goes by, as it tells the living from the dead."""
    found = Clocks()
    monkeypatch.setattr(f"contrapose.tasks.store.{name}.get_database_time", lambda connection: found.wall)
    measured = SimpleNamespace(monotonic=lambda: found.measured)
    monkeypatch.setattr("contrapose.tasks.store.owners.time", measured)
    return found
