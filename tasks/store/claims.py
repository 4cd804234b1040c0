"""Claims on questions: they record which process asks which question, so that two runs never ask the same one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, Float, Text, delete, func, literal, select, text, update

from contrapose.tasks.store.base import StorePart, retry_transaction
from contrapose.tasks.store.engine import BUSY_SECONDS, build_insert, keys_subquery
from contrapose.tasks.store.owners import SILENT_SECONDS, OwnerWatch, get_database_time, is_gone, new_owner
from contrapose.tasks.store.schema import ANSWERS, CLAIMS

LEASE_SECONDS = BUSY_SECONDS + 30.0
"""How long a claim holds without a sign of life; owners renew theirs every few seconds, once a busy database lets them.

It matters where an owner's end cannot be seen: one of another machine, or a part of a process that lives on."""


class Claims(StorePart):
    """The claims of one owner; with `again` it may also claim answered questions."""

    def __init__(self, engine: Engine, *, again: bool = False) -> None:
        super().__init__(engine)
        self.again, self.owner = again, new_owner()
        self._others = OwnerWatch(lease=LEASE_SECONDS, enough=SILENT_SECONDS)

    @retry_transaction
    def claim(self, keys: Sequence[str]) -> set[str]:
        """Claim and return the keys that are neither answered nor claimed by a living owner."""
        # Two owners that claim the same keys meet in the same order, and none waits for the other in a circle.
        wanted, sent = self.keys_parameter(sorted(keys)), keys_subquery(self.dialect)
        own = (CLAIMS.c.key.in_(sent), CLAIMS.c.owner == self.owner)
        with self.engine.begin() as connection:
            self._remove_dead(connection)
            # Claims come first: an answer that is written after them was asked by nobody else.
            until = get_database_time(connection) + LEASE_SECONDS
            # SQLite takes ON CONFLICT behind a SELECT only where that has a condition.
            rows = sent.add_columns(literal(self.owner, Text), literal(until, Float)).where(text("true"))
            claiming = build_insert(self.dialect, CLAIMS).from_select(["key", "owner", "until"], rows)
            connection.execute(claiming.on_conflict_do_nothing(index_elements=["key"]), wanted)
            claimed = set(connection.execute(select(CLAIMS.c.key).where(*own), wanted).scalars())
            if claimed and not self.again:
                known = select(ANSWERS.c.key).where(ANSWERS.c.key.in_(sent))
                answered = set(connection.execute(known, self.keys_parameter(claimed)).scalars())
                if answered:
                    connection.execute(delete(CLAIMS).where(*own), self.keys_parameter(answered))
                claimed -= answered
            if claimed:
                # Should the database be made anew meanwhile, nobody else asks what is being asked.
                entry = {"do": "claim", "owner": self.owner, "until": until, "keys": sorted(claimed)}
                self.record(connection, entry)
            return claimed

    @retry_transaction
    def held_by_others(self, keys: Sequence[str]) -> set[str]:
        """Return the keys that another living owner has claimed."""
        wanted = select(CLAIMS.c.key).where(CLAIMS.c.key.in_(keys_subquery(self.dialect)), CLAIMS.c.owner != self.owner)
        with self.engine.begin() as connection:
            self._remove_dead(connection)
            return set(connection.execute(wanted, self.keys_parameter(keys)).scalars())

    @retry_transaction
    def renew(self) -> None:
        """Extend the claims of this owner, to show that it is alive."""
        with self.engine.begin() as connection:
            until = get_database_time(connection) + LEASE_SECONDS
            connection.execute(update(CLAIMS).where(CLAIMS.c.owner == self.owner).values(until=until))

    def release(self) -> None:
        """Give up all claims of this owner."""
        self.execute(delete(CLAIMS).where(CLAIMS.c.owner == self.owner))

    def drop(self, key: str) -> None:
        """Give up one claim of this owner."""
        self.execute(delete(CLAIMS).where(CLAIMS.c.key == key, CLAIMS.c.owner == self.owner))

    def _remove_dead(self, connection: Connection) -> None:
        """Remove the claims of owners that seem dead or whose process has ended."""
        others = select(CLAIMS.c.owner, func.max(CLAIMS.c.until)).where(CLAIMS.c.owner != self.owner)
        last_signs = connection.execute(others.group_by(CLAIMS.c.owner))
        signs = {owner: float(until) for owner, until in last_signs}
        dead = self._others.find_dead(signs, now=get_database_time(connection))
        for owner, until in signs.items():
            if owner in dead or is_gone(owner):
                # What it renews at this very moment stays its own.
                connection.execute(delete(CLAIMS).where(CLAIMS.c.owner == owner, CLAIMS.c.until <= until))
