"""Checks of retrained models: each is decided and promoted only once, however often it is announced."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal

from sqlalchemy import Connection, Engine, delete, select, update

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.store.base import StorePart, retry_transaction
from contrapose.tasks.store.engine import build_insert
from contrapose.tasks.store.owners import OwnerWatch, get_database_time, is_gone, new_owner, send_beats
from contrapose.tasks.store.replay import make_put_receipt
from contrapose.tasks.store.schema import CHECKS

State = Literal["checking", "decided", "told", "promoted"]
"""`told`: the verdict is promote, everybody knows, and nothing followed; an announcement that wants more gets it."""
LEASE_SECONDS = 60.0
"""How long a check is left to an owner who gives no sign of life; a sign is given four times in that time."""
LOOK_SECONDS = 1.0
"""Between two looks at a check that another one works on."""
LEFT = 0.0
"""The `until` of a check that its owner has left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """A stored check of a retrained model."""

    key: str
    model: str
    revision: str
    training_run: str
    state: State
    verdict: str | None
    """None while it is checked."""
    decision: str | None
    """JSON of the decision; None while it is checked."""
    flow_run: str
    """Which works on it, or did."""
    owner: str
    """Process that works on it, or did."""
    until: float
    """Unix time after which the owner is taken for dead."""
    started: float
    """Unix time at which its model was announced, or the check began anew: the later one is promoted."""

    @property
    def open(self) -> bool:
        """Return whether the check can continue without a person."""
        return self.state == "checking" or (self.state == "decided" and self.verdict == "promote")


class CheckTakenOverError(ContraposeError):
    """Another process has taken the check over, because this process seemed dead."""


class Checks(StorePart):
    """The checks in a database, as one owner uses them.

    A resumed or retried flow run owns the check that it began.
    """

    def __init__(self, engine: Engine, *, flow_run: str) -> None:
        super().__init__(engine)
        self.flow_run = flow_run
        self.owner = new_owner()
        self._others = OwnerWatch(lease=LEASE_SECONDS, enough=LEASE_SECONDS / 2)

    def begin(
        self,
        key: str,
        *,
        model: str,
        revision: str,
        training_run: str,
        announced: float | None = None,
        again: bool = False,
        wanted: bool = False,
    ) -> CheckRow:
        """Take a check, or wait until another owner has finished it; return it as it then is.

        One whose owner has died is taken over as it is, with the decision if there was one. The model was announced at
        a Unix time, or now; checks may begin in another order. With `again` the check begins anew where it is decided,
        not promoted, and not this flow run's: that has begun anew already. With `wanted` something is to follow a
        promotion; it does, where nothing has so far.
        """
        candidate = {"model": model, "revision": revision, "training_run": training_run}
        while True:
            row = self._take(key, candidate, announced=announced, again=again, wanted=wanted)
            if row is not None and (row.owner == self.owner or not row.open):
                return row
            time.sleep(LOOK_SECONDS)

    def get(self, key: str) -> CheckRow | None:
        """Return a check, or None if there is none."""
        rows = self.fetch(select(CHECKS).where(CHECKS.c.key == key))
        return CheckRow(**rows[0]._mapping) if rows else None

    def decide(self, key: str, *, verdict: str, decision: str) -> None:
        """Store a decision; like `close` and `confirm`, raise CheckTakenOverError if another owner has the check."""
        self._set(key, state="decided", verdict=verdict, decision=decision)

    def confirm(self, key: str) -> None:
        """Raise CheckTakenOverError if the check is no longer this owner's; call it before irreversible steps."""
        self._set(key)

    def close(self, key: str, *, promoted: bool) -> None:
        """Note that the check is finished, and whether the model was promoted."""
        self._set(key, state="promoted" if promoted else "told")

    def find_newer(self, key: str, *, alike: str) -> CheckRow | None:
        """Return the last promoted check that was announced after this one, or None if there is none.

        `alike` is what the keys of those that it is measured with begin with.
        """
        began = select(CHECKS.c.started).where(CHECKS.c.key == key).scalar_subquery()
        later = (CHECKS.c.key.startswith(alike), CHECKS.c.state == "promoted", CHECKS.c.started > began)
        rows = self.fetch(select(CHECKS).where(*later).order_by(CHECKS.c.started.desc()).limit(1))
        return CheckRow(**rows[0]._mapping) if rows else None

    def release(self, key: str) -> None:
        """Delete an undecided check of this owner, so that the next announcement begins a new one."""
        own = (CHECKS.c.key == key, CHECKS.c.owner == self.owner, CHECKS.c.state == "checking")
        self.execute(delete(CHECKS).where(*own), {"do": "drop", "table": "checks", "by": "key", "of": [key]})

    @contextmanager
    def keep_alive(self, key: str) -> Iterator[None]:
        """Mark the owner as alive during the work inside; afterwards any process may take an unfinished check."""
        mine = update(CHECKS).where(CHECKS.c.key == key, CHECKS.c.owner == self.owner)
        try:
            # Where a sign fails for long, another process takes over, and the next write raises.
            with send_beats(partial(self.confirm, key), every=LEASE_SECONDS / 4):
                yield
        finally:
            self.execute(mine.values(until=LEFT))

    @retry_transaction
    def _take(
        self, key: str, candidate: Mapping[str, str], *, announced: float | None, again: bool, wanted: bool
    ) -> CheckRow | None:
        """Return the check, taken by this owner if it was free, or None if it was just deleted."""
        with self.engine.begin() as connection:
            moment = get_database_time(connection)
            own = {"flow_run": self.flow_run, "owner": self.owner, "until": moment + LEASE_SECONDS}
            # Of two clocks: nothing was announced in the future.
            started = moment if announced is None else min(announced, moment)
            row = {"key": key, **candidate, "state": "checking", **own, "started": started}
            connection.execute(build_insert(self.dialect, CHECKS).on_conflict_do_nothing(index_elements=["key"]), row)
            current = _read_row(connection, key)
            if current is not None and current.owner != self.owner:
                # Not in the flow run that a person may just have answered.
                is_over = not current.open and current.state != "promoted" and current.flow_run != self.flow_run
                if again and is_over:
                    own |= {"state": "checking", "verdict": None, "decision": None, "started": moment}
                elif wanted and current.state == "told":
                    own |= {"state": "decided"}
                elif not self._is_free(current, moment):
                    return current
                connection.execute(update(CHECKS).where(CHECKS.c.key == key).values(**own))
            return self._record_row(connection, key)

    def _record_row(self, connection: Connection, key: str) -> CheckRow | None:
        """Write a receipt of a check's present row, and return the check."""
        row = _read_row(connection, key)
        if row is not None:
            self.record(connection, make_put_receipt("checks", asdict(row)))
        return row

    def _is_free(self, row: CheckRow, moment: float) -> bool:
        """Return whether this owner may take a check: no living owner works on it, or this flow run began it."""
        if row.flow_run == self.flow_run:
            return row.state != "promoted"
        dead = self._others.find_dead({row.owner: row.until}, now=moment)
        return row.open and (row.until == LEFT or bool(dead) or is_gone(row.owner))

    @retry_transaction
    def _set(self, key: str, **values: str) -> None:
        mine = update(CHECKS).where(CHECKS.c.key == key, CHECKS.c.owner == self.owner)
        with self.engine.begin() as connection:
            until = get_database_time(connection) + LEASE_SECONDS
            if connection.execute(mine.values(**values, until=until)).rowcount != 1:
                raise CheckTakenOverError(
                    "another process has taken the check over",
                    expected="a sign of life every minute",
                    remedy="Nothing is left to do here: the other process ends the check.",
                    where=key[-12:],
                )
            if values:
                self._record_row(connection, key)


def _read_row(connection: Connection, key: str) -> CheckRow | None:
    row = connection.execute(select(CHECKS).where(CHECKS.c.key == key).with_for_update()).one_or_none()
    return None if row is None else CheckRow(**row._mapping)
