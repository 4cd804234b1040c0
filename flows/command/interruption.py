"""A run that is asked to end by TERM, or by a terminal that is closed, ends as by Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NUMBERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupted(KeyboardInterrupt):
    """A signal asked the process to end.

    Args:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def interruptible() -> Iterator[None]:
    """Let such a signal end what is inside.

    Raises:
        Interrupted: one came; those that follow are ignored until the context has been left.
    """
    told = False

    def interrupt(number: int, _: FrameType | None) -> None:
        nonlocal told
        if not told:
            told = True
            raise Interrupted(number)

    # What is ignored stays ignored, as under nohup; what somebody else handles is theirs.
    taken = [each for each in NUMBERS if _is_main() and signal.getsignal(each) is signal.SIG_DFL]
    for each in taken:
        signal.signal(each, interrupt)
    try:
        yield
    finally:
        for each in taken:
            signal.signal(each, signal.SIG_DFL)


def _is_main() -> bool:
    """Only the main thread may handle signals."""
    return threading.current_thread() is threading.main_thread()
