"""Interruption of a command: Ctrl-C, TERM or a closed terminal ends it with one line and no traceback.

An exception out of a signal handler comes up wherever the program is. Where that is the import of a compiled module,
the module turns it into an error of its own, or stays half made. So it is raised only while a run has something to
finish, and never in the middle of an import; otherwise the process ends on the spot.
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from contrapose.tasks.core.errors import ContraposeError

NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
LINE = "contrapose: interrupted; run the same command again to continue"

LONGEST_IMPORT = 60.0
"""Seconds after which a signal waits for no import any more."""


class Interrupted(KeyboardInterrupt):
    """A signal asked the process to end; the exception holds its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def end_at_once() -> None:
    """Let a termination signal end the process immediately from now on; only for a command's own process."""
    for number in _find_free_signals():
        signal.signal(number, _end)


@contextmanager
def interruptible(numbers: Collection[int] = NUMBERS) -> Iterator[None]:
    """Raise an exception in the context when a termination signal arrives, so that the work can be cleaned up.

    Args:
        numbers: of the signals; others do what they did.

    Raises:
        Interrupted: one came; those that follow are ignored until the context has been left.
    """
    # What is ignored stays ignored, as under nohup; what somebody else handles is theirs.
    before = {number: signal.getsignal(number) for number in _find_free_signals() if number in numbers}
    handler = _Interrupt()
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    except ContraposeError:
        raise
    except Exception as error:
        if handler.number:
            # It came up somewhere that made another error of it.
            raise Interrupted(handler.number) from error
        raise
    else:
        if handler.number:
            # Whatever it came up in has passed over it.
            raise Interrupted(handler.number)
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


class _Interrupt:
    """Signal handler that raises once, and only where this is safe; `number` is the signal's, 0 before any."""

    def __init__(self) -> None:
        self.number = 0
        self._first: float | None = None
        self._waiting = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.number:
            return
        now = time.monotonic()
        self._first = self._first or now
        if not (is_importing(frame) and now - self._first < LONGEST_IMPORT):
            self.number = number
            raise Interrupted(number)
        if not self._waiting:
            self._waiting = True
            # `threading` would take a lock, which may be what the signal came in the middle of.
            _thread.start_new_thread(self._send_later, (number,))

    def _send_later(self, number: int) -> None:
        time.sleep(0.05)
        self._waiting = False
        # By default it would kill the process of whoever has called the command.
        if self.number or not callable(signal.getsignal(number)):
            return
        if hasattr(signal, "pthread_kill"):
            # The main thread is woken where it waits.
            signal.pthread_kill(threading.main_thread().ident or 0, number)
        else:
            _thread.interrupt_main(signal.Signals(number))


def _end(number: int, _: FrameType | None) -> NoReturn:
    """Handle a signal: end the process without running anything else, not even cleanup that could be interrupted."""
    for other in NUMBERS:
        signal.signal(other, signal.SIG_IGN)
    # Where nobody hears it, the exit code still tells. On a terminal the line of progress goes, and the cursor is back.
    with suppress(OSError):
        os.write(2, (b"\r\x1b[2K\x1b[?25h" if os.isatty(2) else b"") + f"{LINE}\n".encode())
    os._exit(128 + number)


def _find_free_signals() -> list[int]:
    """Return the signals that only Python and this module handle; only the main thread may set handlers."""
    if threading.current_thread() is not threading.main_thread():
        return []
    return [
        number for number in NUMBERS if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, _end)
    ]


def is_importing(frame: FrameType | None) -> bool:
    """Return True if the code of a frame is an import, or is part of one."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
