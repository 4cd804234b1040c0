"""Which replies of a test the model is to be asked about, since their choice could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from contrapose.tasks.plan import Plan
from contrapose.tasks.probes.base import AsksBack, Embed
from contrapose.tasks.records import FollowUp, Trial
from contrapose.tasks.registry import probe


def follow_ups(portions: Iterable[Sequence[Trial]], plan: Plan, *, embed: Embed) -> Iterator[FollowUp]:
    """Questions about the replies of trials that were answered; a failed call has no reply.

    Args:
        portions: trials of one test.
        plan: the selected test, whose settings ask back.
        embed: texts to unit vectors, called only where a reply may be read by them.
    """
    chosen, settings = cast(AsksBack, probe(plan.test)), plan.probe_settings
    for portion in portions:
        answered = [trial for trial in portion if not (trial.expected.error or trial.actual.error)]
        yield from chosen.follow_ups(answered, settings, embed=embed)
