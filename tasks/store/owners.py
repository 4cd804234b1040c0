"""Owners are processes that work on the store; this module names them and detects dead ones."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event, Thread
from uuid import uuid4

from sqlalchemy import Connection, text

from contrapose.tasks.core.errors import ContraposeError

SILENT_SECONDS = 20.0
"""How long an owner must be seen to give no sign of life: the owners of claims give one every five to ten seconds."""
GLANCE_SECONDS = 5.0
"""What one look adds to a silence at most: a process that could not look for a minute, since the database was busy,
knows that others could not give a sign either."""


def new_owner() -> str:
    """Return `<machine>:<process>:<a random part>`, which no other owner has."""
    return f"{_get_machine()}:{os.getpid()}:{uuid4().hex[:12]}"


def is_gone(owner: str) -> bool:
    """Return whether an owner is a process of this machine that has ended."""
    machine, process, _ = owner.rsplit(":", 2)
    if os.name != "posix" or machine != _get_machine() or is_of_this_process(owner):
        return False
    try:
        os.kill(int(process), 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def is_of_this_process(owner: str) -> bool:
    """Return whether an owner belongs to this process."""
    machine, process, _ = owner.rsplit(":", 2)
    return machine == _get_machine() and int(process) == os.getpid()


def _get_machine() -> str:
    """Return host name and process namespace, because containers may share a host name."""
    namespace = ""
    with suppress(OSError):
        namespace = "".join(filter(str.isdigit, os.readlink("/proc/self/ns/pid")))
    return f"{socket.gethostname()}/{namespace}"


def get_database_time(connection: Connection) -> float:
    """Return the Unix time of the database's clock, because the clocks of machines differ."""
    if connection.dialect.name != "postgresql":
        return time.time()
    return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


class OwnerWatch:
    """A process's memory of other owners' signs of life, to find dead owners.

    A sign is the Unix time until which an owner should be taken for alive; the owner moves it as long as it lives.
    Where the clock has passed it, or is further behind it than a lease reaches (it was set back), an owner is dead if
    its sign has not moved for `enough` seconds by a clock that only measures.
    """

    def __init__(self, *, lease: float, enough: float) -> None:
        self.lease, self.enough = lease, enough
        self._looked = time.monotonic()
        self._seen: dict[str, tuple[float, float]] = {}

    def find_dead(self, signs: Mapping[str, float], *, now: float) -> set[str]:
        """Return the owners that count as dead, given their latest signs (Unix time, by owner)."""
        looked, self._looked = self._looked, time.monotonic()
        passed = min(self._looked - looked, GLANCE_SECONDS)
        seen = self._seen
        self._seen = {
            owner: (sign, seen[owner][1] + passed if owner in seen and seen[owner][0] == sign else 0.0)
            for owner, sign in signs.items()
        }
        late = {owner for owner, sign in signs.items() if not now <= sign <= now + self.lease}
        return {owner for owner in late if self._seen[owner][1] >= self.enough}


@contextmanager
def send_beats(beat: Callable[[], None], *, every: float) -> Iterator[None]:
    """Call `beat` at an interval in seconds until the work inside has ended.

    A beat that fails is left out: the work's own writes show whether the store can be used. One that takes long, since
    the database is away, may end after the work.
    """
    ended = Event()

    def beat_until_ended() -> None:
        while not ended.wait(every):
            with suppress(ContraposeError):
                beat()

    thread = Thread(target=beat_until_ended, name="contrapose-pulse", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(GLANCE_SECONDS)
