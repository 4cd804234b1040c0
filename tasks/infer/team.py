"""One portion of a run beside others that are asked at the same time: it shares their budget, and their end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.budget import Budget, Limits, counted
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.store import Store
from contrapose.tasks.store.teams import Grant, TeamCounts

REPORT_SECONDS = 0.5
"""Between two reports of a portion: so late may one learn that another was stopped."""
AGAIN_SECONDS = 0.1
"""How long a portion that was refused room does not ask for it again, unless some of its own becomes free."""
MOST = 1024
"""Requests for which room is asked at once at most."""


class Stoppable(Protocol):
    """What asks, and can be stopped."""

    budget: Budget
    """What it may spend."""
    stopped: str | None
    """Why it asks nothing more; None while it does."""

    def stop(self, reason: str) -> None:
        """Ask nothing more."""


@dataclass(slots=True, kw_only=True)
class TeamBudget(Budget):
    """What a team may still spend, as one of its portions sees it.

    Room is granted by the store for many requests at once, so that few of them wait for a database. What all portions
    were granted never exceeds the limits; a portion that needs no more gives back what it did not spend. What a killed
    process was granted counts as spent until the run is begun again: it may have been.
    """

    team: str
    """Id of the team."""
    owner: str
    """The portion's row in the store."""
    own: Usage = field(default_factory=Usage)
    """What the portion has spent; `spent` is what the run had before the team began."""
    granted: Usage = field(default_factory=Usage)
    """What it may spend in all."""
    _others: Usage = field(default_factory=Usage)
    _others_idle: bool = False
    _refused_until: float = 0.0
    _block: int = 1
    _asked: bool = False

    def reserve(self, most: Usage) -> bool:
        """Set aside what a request may take at most; False where the team as a whole has no room for it now."""
        with self._lock:
            self._asked = True
            needed = self.own + self.reserved + most
            if self.limits != Limits() and not _covers(self.granted, needed) and not self._granted(needed, most):
                return False
            self.reserved += most
            return True

    def settle(self, most: Usage, used: Usage) -> None:
        """Replace a reservation by what the request took; a count below 0 is none, and what was reserved stands."""
        used = counted(used, most)
        with self._lock:
            self.reserved -= most
            self.own += used
            self._refused_until = 0.0

    def idle(self) -> bool:
        """Whether no request of the team was under way when room was refused last: what did not fit never will."""
        return self.reserved.calls <= 0 and self._others_idle

    def cost(self) -> float | None:
        """US dollars that this portion has spent; None where the price is unknown."""
        return None if self.price is None else self.price.of(self.own)

    def before(self) -> Usage:
        """What counts before any reservation: all that was spent, and what the other portions were granted."""
        return self.spent + self._others + self.own

    def give_back(self) -> None:
        """Leave to the others what has not been asked for since this was called last."""
        with self._lock:
            held = self.own + self.reserved
            if not self._asked and held != self.granted and self.limits != Limits():
                self._set(Store().teams.grant(self.team, self.owner, wanted=(held,), settled=self.own, fits=self._fits))
            self._asked = False

    def _granted(self, needed: Usage, most: Usage) -> bool:
        if time.monotonic() < self._refused_until:
            return False
        held = self.own + self.reserved
        ample = needed
        for _ in range(self._block - 1):
            ample += most
        wanted = (ample, needed, held)
        grant = Store().teams.grant(self.team, self.owner, wanted=wanted, settled=self.own, fits=self._fits)
        self._set(grant)
        self._block = min(2 * self._block, MOST) if grant.usage == ample else 1
        if _covers(grant.usage, needed):
            return True
        self._refused_until = time.monotonic() + AGAIN_SECONDS
        return False

    def _set(self, grant: Grant) -> None:
        self.granted, self._others, self._others_idle = grant.usage, grant.others, grant.others_idle

    def _fits(self, together: Usage) -> bool:
        return self._exceeded(self.spent + together) is None


def _covers(granted: Usage, needed: Usage) -> bool:
    return (
        needed.calls <= granted.calls
        and needed.prompt_tokens <= granted.prompt_tokens
        and needed.completion_tokens <= granted.completion_tokens
    )


@contextmanager
def reporting(owner: str, asking: Stoppable, meter: Meter) -> Iterator[None]:
    """Tell the team how far a portion has come, as long as it is asked, and stop it when another one was stopped.

    Args:
        owner: the portion's row in the store.
        asking: what asks.
        meter: what it counts on.
    """
    over = threading.Event()

    def report(*, last: bool = False) -> None:
        counts = TeamCounts(
            done=meter.done,
            from_store=meter.from_store,
            failed=meter.failed,
            requests=meter.requests,
            cost=meter.cost or 0.0,
        )
        if isinstance(asking.budget, TeamBudget):
            asking.budget.give_back()
            spent = asking.budget.own
        else:
            spent = Usage(calls=meter.requests)
        reason = Store().teams.report(owner, counts, spent=spent, over=last, stopped=asking.stopped)
        if reason and not asking.stopped:
            asking.stop(reason)

    def go_on() -> None:
        while not over.wait(REPORT_SECONDS):
            # A report that cannot be given is not worth the work: answers that cannot be kept stop it anyway.
            with suppress(ContraposeError):
                report()

    thread = threading.Thread(target=go_on, name="contrapose-team", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(ContraposeError):
            report(last=True)
