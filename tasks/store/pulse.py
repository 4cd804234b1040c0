"""Signs of life, given as long as some work goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from contrapose.tasks.core.errors import ContraposeError


@contextmanager
def pulse(beat: Callable[[], None], *, every: float) -> Iterator[None]:
    """Call something again and again until the work inside has ended, however it ends.

    It may be called once more just after that: whoever waited for a database that is away would wait for nothing.

    Args:
        beat: what gives a sign of life.
        every: seconds between two of them.
    """
    ended = Event()

    def go_on() -> None:
        while not ended.wait(every):
            # A sign that cannot be given is not worth the work: what the work writes itself tells whether it can.
            with suppress(ContraposeError):
                beat()

    Thread(target=go_on, name="contrapose-pulse", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
