"""Other programs as processes that end with ours, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from types import FrameType

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.tables.table import home

ENDING = 30.0
"""Seconds that a process may take to end before it is killed."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of the processes, with everything that it starts itself."""

    name: str
    """What people call it."""
    process: subprocess.Popen[bytes]
    """The head of a process group of its own: a Ctrl-C reaches only the command, which ends the parts in order."""
    log: Path
    """What it says."""

    def stop(self) -> None:
        """End it and all that it has started."""
        _signal(self.process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(ENDING)
        _signal(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def stopping() -> Iterator[Event]:
    """An event that is set by Ctrl-C, TERM or a closed terminal."""
    asked = Event()

    def ask(_: int, __: FrameType | None) -> None:
        asked.set()

    before = {number: signal.signal(number, ask) for number in SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def running(module: str, *arguments: str, name: str) -> Iterator[Part]:
    """A Python module as a program that runs until the end of the context."""
    log = home() / "ui" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    part = Part(name=name, process=process, log=log)
    try:
        yield part
    finally:
        part.stop()


def refuse_dead(parts: Sequence[Part]) -> None:
    """Raise ConfigError when one of the processes has ended by itself."""
    for part in parts:
        if part.process.poll() is not None:
            raise ended(part)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def ended(part: Part) -> ConfigError:
    """The error that a process ended by itself, or does not answer."""
    lines = part.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    code = part.process.poll()
    return ConfigError(
        f"the {part.name} {'does not answer' if code is None else f'ended with {code}'}: {' '.join(lines[-1:])[:200]}",
        expected="one that runs until it is stopped",
        remedy=f"Its log says why: {part.log}",
        where="contrapose ui",
    )
