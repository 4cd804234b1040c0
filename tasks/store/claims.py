"""Who is asking what at this moment: two runs on one store share the work and pay once."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Engine, delete, func, select, text, update

from contrapose.tasks.store.answers import insert_into, portions
from contrapose.tasks.store.engine import BUSY_SECONDS
from contrapose.tasks.store.owner import gone, new_owner
from contrapose.tasks.store.patience import patient
from contrapose.tasks.store.schema import ANSWERS, CLAIMS
from contrapose.tasks.store.silence import SILENT_SECONDS, Silence

LEASE_SECONDS = BUSY_SECONDS + 30.0
"""How long a claim holds without a sign of life; owners renew theirs every few seconds, once a busy database lets them.

It matters where an owner's end cannot be seen: one of another machine, or a part of a process that lives on."""


class Claims:
    """The claims of one owner.

    Args:
        engine: a database with the tables of `schema`.
        again: ask what is answered, too: an answer that is there does not keep a key from being claimed.
    """

    def __init__(self, engine: Engine, *, again: bool = False) -> None:
        self.engine, self.again = engine, again
        self.owner = new_owner()
        self._others = Silence(lease=LEASE_SECONDS, enough=SILENT_SECONDS)

    @patient
    def claim(self, keys: Sequence[str]) -> set[str]:
        """Those of the keys that are this owner's to ask: not answered, and claimed by nobody who lives."""
        own: set[str] = set()
        with self.engine.begin() as connection:
            self._bury(connection)
            for portion in portions(keys):
                # Claims come first: an answer that is written after them was asked by nobody else.
                claimed = self._take(connection, portion)
                answered = set() if self.again else self._answered(connection, claimed)
                own |= claimed - answered
        return own

    @patient
    def held_by_others(self, keys: Sequence[str]) -> set[str]:
        """Those of the keys that somebody else who lives is asking."""
        held: set[str] = set()
        with self.engine.begin() as connection:
            self._bury(connection)
            for portion in portions(keys):
                wanted = select(CLAIMS.c.key).where(CLAIMS.c.key.in_(portion), CLAIMS.c.owner != self.owner)
                held |= set(connection.execute(wanted).scalars())
        return held

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
        until = now(connection) + LEASE_SECONDS
        rows = [{"key": key, "owner": self.owner, "until": until} for key in sorted(keys)]
        connection.execute(insert_into(self.engine, CLAIMS).on_conflict_do_nothing(index_elements=["key"]), rows)
        mine = select(CLAIMS.c.key).where(CLAIMS.c.key.in_(keys), CLAIMS.c.owner == self.owner)
        return set(connection.execute(mine).scalars())

    def _answered(self, connection: Connection, claimed: Collection[str]) -> set[str]:
        """Those that are answered, which need no claim."""
        answered = set(connection.execute(select(ANSWERS.c.key).where(ANSWERS.c.key.in_(claimed))).scalars())
        if answered:
            own = CLAIMS.c.owner == self.owner
            connection.execute(delete(CLAIMS).where(CLAIMS.c.key.in_(answered), own))
        return answered

    def _bury(self, connection: Connection) -> None:
        """Remove the claims of whoever was silent for too long, or is a process of this machine that is gone."""
        sign = func.max(CLAIMS.c.until)
        others = select(CLAIMS.c.owner, sign).where(CLAIMS.c.owner != self.owner).group_by(CLAIMS.c.owner)
        signs = {owner: float(until) for owner, until in connection.execute(others)}
        dead = self._others.dead(signs, now=now(connection))
        for owner, until in signs.items():
            if owner in dead or gone(owner):
                # What it renews at this very moment stays its own.
                connection.execute(delete(CLAIMS).where(CLAIMS.c.owner == owner, CLAIMS.c.until <= until))


def now(connection: Connection) -> float:
    """Unix time as the database has it: the clocks of two machines differ."""
    if connection.dialect.name != "postgresql":
        return time.time()
    return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
