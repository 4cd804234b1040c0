"""Which replies of a test the model is to be asked about: those that could not be read, and a few to check it by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from contrapose.tasks.plan import Plan
from contrapose.tasks.probes.base import AsksBack, Embed
from contrapose.tasks.probes.reading_checks import CHECKS
from contrapose.tasks.records import FollowUp, Trial
from contrapose.tasks.registry import probe


def follow_ups(portions: Iterable[Sequence[Trial]], plan: Plan, *, embed: Embed) -> Iterator[FollowUp]:
    """Questions about the replies of trials that were answered; a failed call has no reply.

    Args:
        portions: trials of one test.
        plan: the selected test, whose settings ask back.
        embed: texts to unit vectors, called only where a reply may be read by them.

    Returns:
        All about replies that could not be read, then of those that rules read as many as a test may need.
    """
    chosen, settings = cast(AsksBack, probe(plan.test)), plan.probe_settings
    known: list[FollowUp] = []
    for portion in portions:
        answered = [trial for trial in portion if not (trial.expected.error or trial.actual.error)]
        found = chosen.follow_ups(answered, settings, embed=embed)
        yield from (each for each in found if each.known is None)
        known = drawn([*known, *(each for each in found if each.known is not None)], CHECKS)
    yield from known


def drawn(questions: Iterable[FollowUp], most: int) -> list[FollowUp]:
    """Those with the least hashes, each prompt once: the draw depends on no order, and on no other question."""
    by_prompt: dict[str, FollowUp] = {}
    for each in questions:
        by_prompt.setdefault(each.prompt, each)
    return [by_prompt[prompt] for prompt in sorted(by_prompt, key=_hash)[:most]]


def _hash(prompt: str) -> bytes:
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).digest()
