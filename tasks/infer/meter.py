"""Counters of progress in the infer stage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Meter:
    """Counters of one run; one thread writes them, any thread may read them."""

    done: int = 0
    """Questions answered, found or given up; a question that several cases share counts for each of them."""
    from_store: int = 0
    """Of these, found in the store."""
    failed: int = 0
    """Of these, given up."""
    requests: int = 0
    """Requests made, the failed ones too."""
    cost: float | None = None
    """US dollars that the run has spent; None if the price is unknown."""
    saved: int = 0
    """Questions that need not be asked any more, since their test is decided."""
    doing: str = ""
    """Work before questions can be asked; empty if they are."""


_current: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def use_meter(meter: Meter) -> Iterator[Meter]:
    """Make this the current meter inside the `with` block."""
    token = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(token)


def current_meter() -> Meter:
    """Return the current meter, or a new one that nobody reads."""
    return _current.get() or Meter()


@contextmanager
def show_work(words: str) -> Iterator[None]:
    """Show work on the current meter inside the `with` block, such as `loading the model`."""
    meter = current_meter()
    before, meter.doing = meter.doing, words
    try:
        yield
    finally:
        meter.doing = before
