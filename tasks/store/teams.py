"""Table of teams: portions of a run that are asked in parallel share their budget and progress here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Row, delete, func, select, update

from contrapose.tasks.core.records import Usage
from contrapose.tasks.store.base import StorePart, retry_transaction
from contrapose.tasks.store.claims import LEASE_SECONDS
from contrapose.tasks.store.engine import build_insert
from contrapose.tasks.store.owners import get_database_time, is_gone, new_owner
from contrapose.tasks.store.schema import PORTIONS, RATES


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamCounts:
    """Progress of a portion, or of all portions of a team together."""

    done: int = 0
    """Questions answered, found or given up; one that several cases share counts for each of them."""
    from_store: int = 0
    """Of these, found in the store."""
    failed: int = 0
    """Of these, given up."""
    requests: int = 0
    """Requests made, the failed ones too."""
    cost: float = 0.0
    """US dollars that they took; 0 where a price is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a portion may spend from now on, and the progress of its team."""

    usage: Usage
    """All that the portion may spend, from its beginning on; what it has spent already is part of it."""
    others: Usage = field(default_factory=Usage)
    """What the other portions of the team may spend, or have spent."""
    others_idle: bool = True
    """Return whether none of the others has a request under way, or room for one."""


class Teams(StorePart):
    """Teams of portions in a database. A team has a row of its own, and each of its portions has one."""

    @retry_transaction
    def begin(self) -> str:
        """Create a team and return its id."""
        team = uuid4().hex
        with self.engine.begin() as connection:
            moment = get_database_time(connection)
            connection.execute(delete(PORTIONS).where(PORTIONS.c.until < moment - LONGEST_TEAM_SECONDS))
            self._insert(connection, team=team, owner=team, label="", until=moment + LONGEST_TEAM_SECONDS)
        return team

    @retry_transaction
    def join(self, team: str, label: str) -> str:
        """Add a portion to a team, and return the id of its row, which names its process.

        The progress of an earlier unfinished portion of the same label is reset.
        """
        owner = new_owner()
        earlier = update(PORTIONS).where(PORTIONS.c.team == team, PORTIONS.c.label == label)
        with self.engine.begin() as connection:
            connection.execute(earlier.values(done=0, from_store=0, failed=0))
            until = get_database_time(connection) + LEASE_SECONDS
            self._insert(connection, team=team, owner=owner, label=label, until=until)
        return owner

    @retry_transaction
    def grant(
        self, team: str, owner: str, *, wanted: Sequence[Usage], settled: Usage, fits: Callable[[Usage], bool]
    ) -> Grant:
        """Grant a portion the first of the wanted usages with which the whole team `fits` the budget.

        The smallest usage comes last; if not even that fits, the portion keeps what it has spent,
        which is `settled`, and what is under way.
        """
        with self.engine.begin() as connection:
            # Portions that are given room one after the other never have more than all may have.
            connection.execute(select(PORTIONS.c.owner).where(PORTIONS.c.owner == team).with_for_update())
            its_others = select(PORTIONS).where(PORTIONS.c.team == team, PORTIONS.c.owner != owner)
            others = connection.execute(its_others).all()
            spoken_for = sum((_get_granted(row) for row in others), Usage())
            usage = next((one for one in wanted[:-1] if fits(spoken_for + one)), wanted[-1])
            values = {**asdict(usage), "settled": settled.calls, "until": get_database_time(connection) + LEASE_SECONDS}
            if not connection.execute(update(PORTIONS).where(PORTIONS.c.owner == owner).values(**values)).rowcount:
                # The database was made anew, and knows no portions.
                self._insert(connection, team=team, owner=owner, label="", **values)
            moment = get_database_time(connection)
            busy = any(row.calls > row.settled and not _is_ended(row, moment) for row in others)
        return Grant(usage=usage, others=spoken_for, others_idle=not busy)

    @retry_transaction
    def report(self, owner: str, counts: TeamCounts, *, spent: Usage, over: bool, stopped: str | None) -> str | None:
        """Store a portion's progress, its spending, and the reason if it stops asking.

        `over`: it has come to its end, and returns what it was granted and did not spend. Returns why nothing more is
        to be asked, where a portion of the team was stopped.
        """
        own = PORTIONS.c.owner == owner
        with self.engine.begin() as connection:
            until = get_database_time(connection) + LEASE_SECONDS
            values: dict[str, Any] = {**asdict(counts), "settled": spent.calls, "until": until}
            values |= {"stopped": stopped} if stopped else {}
            values |= asdict(spent) if over else {}
            connection.execute(update(PORTIONS).where(own).values(**values))
            team = select(PORTIONS.c.team).where(own).scalar_subquery()
            reason = select(PORTIONS.c.stopped).where(PORTIONS.c.team == team, PORTIONS.c.stopped != "").limit(1)
            return connection.execute(reason).scalar()

    def stop(self, team: str, reason: str) -> None:
        """Stop all portions of a team."""
        self.execute(update(PORTIONS).where(PORTIONS.c.owner == team).values(stopped=reason))

    def counts(self, team: str) -> TeamCounts:
        """Return the progress of all portions of a team together."""
        names = ("done", "from_store", "failed", "requests", "cost")
        wanted = select(*(func.coalesce(func.sum(PORTIONS.c[name]), 0) for name in names))
        *counts, cost = self.fetch(wanted.where(PORTIONS.c.team == team))[0]
        # PostgreSQL adds up whole numbers as decimals.
        return TeamCounts(**dict(zip(names, map(int, counts), strict=False)), cost=float(cost))

    def end(self, team: str) -> None:
        """Delete a team."""
        self.execute(delete(PORTIONS).where(PORTIONS.c.team == team))

    @retry_transaction
    def slots(self, key: str, count: float, *, rate: float) -> float:
        """Reserve the next request times under a rate per second that all processes share.

        Returns the seconds until the first of them; the others follow, `1 / rate` seconds apart.
        """
        with self.engine.begin() as connection:
            moment = get_database_time(connection)
            first = build_insert(self.dialect, RATES).values(key=key, free=moment)
            connection.execute(first.on_conflict_do_nothing(index_elements=["key"]))
            row = connection.execute(select(RATES.c.free).where(RATES.c.key == key).with_for_update()).one()
            # After a clock was set back nobody waits for it to come to the same time again.
            start = max(row.free if row.free < moment + LONGEST_SECONDS else moment, moment)
            connection.execute(update(RATES).where(RATES.c.key == key).values(free=start + count / rate))
            return float(start - moment)

    def _insert(self, connection: Connection, **row: Any) -> None:
        connection.execute(build_insert(self.dialect, PORTIONS).values(**row))


LONGEST_TEAM_SECONDS = 30 * 86_400.0
"""After which what is left of a team that was killed is forgotten."""
LONGEST_SECONDS = 3600.0
"""A place in a row that is further ahead was taken by another clock."""


def _get_granted(row: Row[Any]) -> Usage:
    return Usage(calls=row.calls, prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens)


def _is_ended(row: Row[Any], moment: float) -> bool:
    """Return whether a portion has ended: what it was granted and did not use then counts as spent."""
    return row.until < moment or (row.owner != row.team and is_gone(row.owner))
