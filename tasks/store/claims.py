"""Who is asking what: claims of owners, and who of them is taken for dead."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from threading import Event, Thread
from typing import Any

from sqlalchemy import Connection, Engine, Float, Select, Table, Text, bindparam, delete, func, select, text, update

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.store.base import StorePart, patient
from contrapose.tasks.store.engine import BUSY_SECONDS, gone, insert_into, keys_subquery, new_owner, sent
from contrapose.tasks.store.schema import ANSWERS, CLAIMS

LEASE_SECONDS = BUSY_SECONDS + 30.0
"""How long a claim holds without a sign of life; owners renew theirs every few seconds, once a busy database lets them.

It matters where an owner's end cannot be seen: one of another machine, or a part of a process that lives on."""


class Claims(StorePart):
    """The claims of one owner.

    Args:
        engine: a database with the tables of `schema`.
        again: ask what is answered, too: an answer that is there does not keep a key from being claimed.
    """

    def __init__(self, engine: Engine, *, again: bool = False) -> None:
        super().__init__(engine)
        self.again, self.owner = again, new_owner()
        self._others = Silence(lease=LEASE_SECONDS, enough=SILENT_SECONDS)

    @patient
    def claim(self, keys: Sequence[str]) -> set[str]:
        """Those of the keys that are this owner's to ask: not answered, and claimed by nobody who lives.

        Args:
            keys: of questions.
        """
        with self.engine.begin() as connection:
            self._bury(connection)
            # Claims come first: an answer that is written after them was asked by nobody else.
            claimed = self._take(connection, keys)
            mine = claimed if self.again else claimed - self._answered(connection, claimed)
            if mine:
                until = now(connection) + LEASE_SECONDS
                # Should the database be made anew meanwhile, nobody else asks what is being asked.
                self.record(connection, {"do": "claim", "owner": self.owner, "until": until, "keys": sorted(mine)})
            return mine

    @patient
    def held_by_others(self, keys: Sequence[str]) -> set[str]:
        """Those of the keys that somebody else who lives is asking."""
        with self.engine.begin() as connection:
            self._bury(connection)
            wanted = _among(CLAIMS, connection.dialect.name).where(CLAIMS.c.owner != self.owner)
            return set(connection.execute(wanted, sent(connection, keys)).scalars())

    @patient
    def renew(self) -> None:
        """Say that this owner lives."""
        with self.engine.begin() as connection:
            until = now(connection) + LEASE_SECONDS
            connection.execute(update(CLAIMS).where(CLAIMS.c.owner == self.owner).values(until=until))

    @patient
    def release(self) -> None:
        """Give up whatever this owner still holds."""
        with self.engine.begin() as connection:
            connection.execute(delete(CLAIMS).where(CLAIMS.c.owner == self.owner))

    @patient
    def drop(self, key: str) -> None:
        """Give up one claim of this owner."""
        with self.engine.begin() as connection:
            connection.execute(delete(CLAIMS).where(CLAIMS.c.key == key, CLAIMS.c.owner == self.owner))

    def _take(self, connection: Connection, keys: Sequence[str]) -> set[str]:
        # Two owners that claim the same keys meet in the same order, and none waits for the other in a circle.
        values = {**sent(connection, sorted(keys)), "its": self.owner, "lease": now(connection) + LEASE_SECONDS}
        taken = set(connection.execute(_taking(connection.dialect.name), values).scalars())
        if len(taken) == len(keys):
            return taken
        mine = _among(CLAIMS, connection.dialect.name).where(CLAIMS.c.owner == self.owner)
        return set(connection.execute(mine, sent(connection, keys)).scalars())

    def _answered(self, connection: Connection, claimed: Collection[str]) -> set[str]:
        """Those that are answered, which need no claim."""
        if not claimed:
            return set()
        wanted = _among(ANSWERS, connection.dialect.name)
        answered = set(connection.execute(wanted, sent(connection, claimed)).scalars())
        if answered:
            own = delete(CLAIMS).where(
                CLAIMS.c.key.in_(keys_subquery(connection.dialect.name)), CLAIMS.c.owner == self.owner
            )
            connection.execute(own, sent(connection, answered))
        return answered

    def _bury(self, connection: Connection) -> None:
        """Remove the claims of whoever was silent for too long, or is a process of this machine that is gone."""
        signs = {owner: float(until) for owner, until in connection.execute(_signs(), {"its": self.owner})}
        dead = self._others.dead(signs, now=now(connection))
        for owner, until in signs.items():
            if owner in dead or gone(owner):
                # What it renews at this very moment stays its own.
                connection.execute(delete(CLAIMS).where(CLAIMS.c.owner == owner, CLAIMS.c.until <= until))


@cache
def _taking(dialect: str) -> Any:
    """The statement that claims the keys that are `sent` and that nobody has claimed."""
    rows = keys_subquery(dialect).add_columns(bindparam("its", type_=Text), bindparam("lease", type_=Float))
    taking = insert_into(dialect, CLAIMS).from_select(["key", "owner", "until"], rows.where(text("true")))
    return taking.on_conflict_do_nothing(index_elements=["key"]).returning(CLAIMS.c.key)


@cache
def _among(table: Table, dialect: str) -> Select[tuple[str]]:
    """Those of the keys that are `sent` which a table has."""
    return select(table.c.key).where(table.c.key.in_(keys_subquery(dialect)))


@cache
def _signs() -> Select[tuple[str, float]]:
    """The last sign of each other owner."""
    others = select(CLAIMS.c.owner, func.max(CLAIMS.c.until)).where(CLAIMS.c.owner != bindparam("its"))
    return others.group_by(CLAIMS.c.owner)


def now(connection: Connection) -> float:
    """Unix time as the database has it: the clocks of two machines differ."""
    if connection.dialect.name != "postgresql":
        return time.time()
    return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


SILENT_SECONDS = 20.0
"""How long an owner must be seen to give no sign of life: the owners of claims give one every five to ten seconds."""
GLANCE_SECONDS = 5.0
"""How much longer one look makes a silence at most. Who could not look for a minute, since the database was away or
busy, knows that others could not give a sign either."""


class Silence:
    """What one process sees of the signs that others give.

    A sign is the `until` of an owner, which the owner moves as long as it lives. Once the clock has passed it, the
    owner is late or the clock has jumped; where it is further ahead than a lease reaches, the clock was set back. In
    both cases an owner who moves it lives, and one who does not move it for a while, by a clock that only measures, is
    dead. An owner that was watched for that long before needs no further while.

    Args:
        lease: seconds that a sign holds.
        enough: seconds of silence, where the clock says that the sign does not hold.
    """

    def __init__(self, *, lease: float, enough: float) -> None:
        self.lease, self.enough = lease, enough
        self._looked = time.monotonic()
        self._seen: dict[str, tuple[float, float]] = {}

    def dead(self, signs: Mapping[str, float], *, now: float) -> set[str]:
        """Look once more: those who are taken for dead.

        Args:
            signs: Unix time, by owner, until which each should be taken for alive.
            now: Unix time.
        """
        looked, self._looked = self._looked, time.monotonic()
        passed = min(self._looked - looked, GLANCE_SECONDS)
        seen = self._seen
        self._seen = {
            owner: (sign, seen[owner][1] + passed if owner in seen and seen[owner][0] == sign else 0.0)
            for owner, sign in signs.items()
        }
        return {
            owner
            for owner, (sign, silent) in self._seen.items()
            if silent >= self.enough and not now <= sign <= now + self.lease
        }


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
