"""A Python process beside ours: it imports what takes seconds while we do something else, and answers line by line."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from threading import Lock
from typing import IO, cast


class SideProcess:
    """One that is begun before it is needed, or else when it is first asked.

    It ends with ours, when nobody can write to it any more.

    Args:
        arguments: of Python: a program that reads a line, writes one, and so on until there are no more.
        seconds: how long it may take to answer, from its beginning if need be.
    """

    def __init__(self, *arguments: str, seconds: float) -> None:
        self._arguments = arguments
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._lock = Lock()

    @property
    def begun(self) -> bool:
        """Whether it was begun, and has not been ended."""
        return self._process is not None

    def begin(self) -> None:
        """Let it start; one that was begun stays."""
        with self._lock:
            self._running()

    def ask(self, line: str) -> str:
        """What it answers to a line; empty where it ends or takes too long, and the next line goes to a new one."""
        with self._lock:
            process = self._running()
            asked, answers = cast(IO[str], process.stdin), cast(IO[str], process.stdout)
            answer = ""
            try:
                with suppress(OSError):
                    asked.write(f"{line}\n")
                    asked.flush()
                    if _readable(answers, self._seconds):
                        answer = answers.readline()
            finally:
                # An answer that comes later would be taken for that to the next line.
                if not answer:
                    self._end()
            return answer

    def end(self) -> None:
        """End it; it may be begun again."""
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                # Ctrl-C is for us, and what is under way there is no concern of it. No session of its own: Linux would
                # divide the processor between sessions, whatever they say of their priority.
                process_group=0,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    cast(IO[str], stream).close()


def _readable(stream: IO[str], seconds: float) -> bool:
    """Whether something can be read within so many seconds, be it the end."""
    with DefaultSelector() as selector:
        selector.register(stream, EVENT_READ)
        return bool(selector.select(seconds))
