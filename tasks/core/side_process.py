"""A second Python process: it imports what takes seconds while we do something else, and answers line by line."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from threading import RLock
from typing import IO, cast


class SideProcess:
    """A second Python process, begun before it is needed, or else when it is first asked.

    It gets the arguments of Python for a program that writes a line when it is ready, and then one for each that it
    reads. It ends with ours, when nobody can write to it any more.
    """

    def __init__(self, *arguments: str, seconds: float) -> None:
        self._arguments, self._seconds = arguments, seconds
        self._process: subprocess.Popen[str] | None = None
        self._ready, self._lock = False, RLock()

    def begin(self) -> subprocess.Popen[str]:
        """Return the process, begun where there is none."""
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, *self._arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    encoding="utf-8",
                    # Ctrl-C is for us. No session of its own: Linux would divide the processor between sessions,
                    # whatever they say of their priority.
                    process_group=0,
                )
            return self._process

    def ask(self, line: str) -> str:
        """Return its answer to a line; empty where it ends or takes too long, and the next line goes to a new one."""
        with self._lock:
            process = self.begin()
            asked, answers = cast(IO[str], process.stdin), cast(IO[str], process.stdout)
            answer = ""
            try:
                # It reads nothing before, and a long line would not fit between us.
                self._ready = self._ready or bool(self._read_line(answers))
                if self._ready:
                    with suppress(OSError):
                        asked.write(f"{line}\n")
                        asked.flush()
                        answer = self._read_line(answers)
            finally:
                # An answer that comes later would be taken for that to the next line.
                if not answer:
                    self.end()
            return answer

    def _read_line(self, stream: IO[str]) -> str:
        """Return the next line; empty where it ends, or takes too long."""
        with DefaultSelector() as selector:
            selector.register(stream, EVENT_READ)
            return stream.readline() if selector.select(self._seconds) else ""

    def end(self) -> None:
        """Kill the process, if there is one, and let go of its pipes; it may be begun again."""
        with self._lock:
            process, self._process, self._ready = self._process, None, False
            if process is not None:
                process.kill()
                process.wait()
                for stream in (process.stdin, process.stdout):
                    with suppress(OSError):
                        cast(IO[str], stream).close()
