"""Budget and progress of one portion of a run; portions that are asked at the same time share budget and stop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.budget import Budget, Limits, replace_invalid_usage
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.store import Store
from contrapose.tasks.store.owners import send_beats
from contrapose.tasks.store.teams import Grant, TeamCounts

REPORT_SECONDS = 0.5
"""Between two reports of a portion: so late may one learn that another was stopped."""
AGAIN_SECONDS = 0.1
"""How long a portion that was refused room does not ask for it again, unless some of its own becomes free."""
MOST = 1024
"""Requests for which room is asked at once at most."""


@dataclass(slots=True, kw_only=True)
class TeamBudget(Budget):
    """Budget of one portion in a team, which shares the limits of the run.

    Room is granted by the store for many requests at once, so that few of them wait for a database. The grants of
    all portions never exceed the limits; a portion that needs no more gives back its rest. The grant of a killed
    process counts as spent until the run is begun again: it may have been.
    """

    team: str
    """Id of the team."""
    owner: str
    """The portion's row in the store."""
    own: Usage = field(default_factory=Usage)
    """RunSpending of the portion; `spent` is that of the run before the team began."""
    granted: Usage = field(default_factory=Usage)
    """Its limit in all."""
    _others: Usage = field(default_factory=Usage)
    _others_idle: bool = False
    _refused_until: float = 0.0
    _block: int = 1
    _asked: bool = False

    def reserve(self, most: Usage) -> bool:
        """Reserve the greatest usage of a request; return False if the team has no room for it now."""
        with self._lock:
            self._asked = True
            needed = self.own + self.reserved + most
            if self.limits != Limits() and not _is_granted(self.granted, needed) and not self._ask_grant(needed, most):
                return False
            self.reserved += most
            return True

    def settle(self, most: Usage, used: Usage) -> None:
        """Replace a reservation by the real usage; if a count is below 0, the reserved usage counts."""
        used = replace_invalid_usage(used, most)
        with self._lock:
            self.reserved -= most
            self.own += used
            self._refused_until = 0.0

    def is_idle(self) -> bool:
        """Return whether the team had no request under way when room was refused; if so, it will never fit."""
        return self.reserved.calls <= 0 and self._others_idle

    def cost(self) -> float | None:
        """Return US dollars that this portion has spent, or None if the price is unknown."""
        return None if self.price is None else self.price.of(self.own)

    def base_usage(self) -> Usage:
        """Return the usage before any reservation: all spending, and the grants of the other portions."""
        return self.spent + self._others + self.own

    def give_back(self) -> None:
        """Give unused room back to the other portions: what was not needed since the last call."""
        with self._lock:
            held = self.own + self.reserved
            if not self._asked and held != self.granted and self.limits != Limits():
                self._ask_store(held)
            self._asked = False

    def _ask_grant(self, needed: Usage, most: Usage) -> bool:
        """Ask the store for room for many requests, else for one; return whether it was granted for one."""
        if time.monotonic() < self._refused_until:
            return False
        held = self.own + self.reserved
        ample = needed
        for _ in range(self._block - 1):
            ample += most
        grant = self._ask_store(ample, needed, held)
        self._block = min(2 * self._block, MOST) if grant.usage == ample else 1
        if _is_granted(grant.usage, needed):
            return True
        self._refused_until = time.monotonic() + AGAIN_SECONDS
        return False

    def _ask_store(self, *wanted: Usage) -> Grant:
        def fits(together: Usage) -> bool:
            return self._exceeded_limit(self.spent + together) is None

        grant = Store().teams.grant(self.team, self.owner, wanted=wanted, settled=self.own, fits=fits)
        self.granted, self._others, self._others_idle = grant.usage, grant.others, grant.others_idle
        return grant


def _is_granted(granted: Usage, needed: Usage) -> bool:
    return (
        needed.calls <= granted.calls
        and needed.prompt_tokens <= granted.prompt_tokens
        and needed.completion_tokens <= granted.completion_tokens
    )


@contextmanager
def report_progress(owner: str, asking: StoreBroker, meter: Meter) -> Iterator[None]:
    """Report the progress of a portion to its team, and stop the portion if another one was stopped."""

    def report(*, last: bool = False) -> None:
        numbers = {name: getattr(meter, name) for name in ("done", "from_store", "failed", "requests")}
        counts = TeamCounts(**numbers, cost=meter.cost or 0.0)
        if isinstance(asking.budget, TeamBudget):
            asking.budget.give_back()
            spent = asking.budget.own
        else:
            spent = Usage(calls=meter.requests)
        reason = Store().teams.report(owner, counts, spent=spent, over=last, stopped=asking.stopped)
        if reason and not asking.stopped:
            asking.stop(reason)

    try:
        with send_beats(report, every=REPORT_SECONDS):
            yield
    finally:
        # A report that fails is not worth the work: answers that cannot be kept stop it anyway.
        with suppress(ContraposeError):
            report(last=True)
