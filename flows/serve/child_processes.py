"""Child processes of `contrapose ui`: start them, and end them together with all that they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.home import home_folder

ENDING = 30.0
"""Seconds that a process may take to end before it is killed."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildProcess:
    """One child process, with every process that it starts itself."""

    name: str
    """Its name for people."""
    process: subprocess.Popen[bytes]
    """The head of a process group of its own: a Ctrl-C reaches only the command, which ends the parts in order."""
    log: Path
    """Its output."""

    def make_error(self) -> ConfigError:
        """Return the error for a process that ended by itself, or does not answer."""
        lines, code = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines(), self.process.poll()
        state = "does not answer" if code is None else f"ended with {code}"
        return ConfigError(
            f"the {self.name} {state}: {' '.join(lines[-1:])[:200]}",
            expected="one that runs until it is stopped",
            remedy=f"Its log says why: {self.log}",
            where="contrapose ui",
        )


@contextmanager
def catch_stop() -> Iterator[Event]:
    """Yield an event that is set by Ctrl-C, TERM or a closed terminal."""
    asked = Event()
    before = {number: signal.signal(number, lambda *_: asked.set()) for number in SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def run_module(module: str, *arguments: str, name: str) -> Iterator[ChildProcess]:
    """Run a Python module as a program until the end of the context; then end it and all that it started."""
    log = home_folder() / "ui" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield ChildProcess(name=name, process=process, log=log)
    finally:
        for number, seconds in ((signal.SIGTERM, ENDING), (signal.SIGKILL, None)):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
