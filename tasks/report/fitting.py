"""As much of a text as a comment holds: what matters most stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contrapose.tasks.report.wording import counted

MOST = 60_000
"""Bytes of a whole comment; GitHub takes 65,536 signs, and what posts it may add some."""


class Block(NamedTuple):
    """A part of a text that stays or goes as a whole, so that what it opens it also closes."""

    rank: int
    """0 for what matters most."""
    text: str
    """Markdown."""


def fitting(blocks: Sequence[Block], *, most: int = MOST) -> str:
    """The blocks that fit, in their order, with a blank line between; a last line tells how many do not."""
    left, kept = most, set()
    for place in sorted(range(len(blocks)), key=lambda place: (blocks[place].rank, place)):
        size = len(blocks[place].text.encode()) + 2
        if size <= left:
            left -= size
            kept.add(place)
    gone = len(blocks) - len(kept)
    more = [f"Left out, for a comment holds no more: {counted('parts', gone)}. report.html has all."] if gone else []
    return "\n\n".join([*(block.text for place, block in enumerate(blocks) if place in kept), *more])
