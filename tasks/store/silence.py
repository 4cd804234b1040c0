"""Who is taken for dead: whoever gives no sign of life, which no clock on a wall can say."""

from __future__ import annotations

import time
from collections.abc import Mapping

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
