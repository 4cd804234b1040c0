"""Where two lists of tokens differ, by the fewest additions and removals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

MOST_EDITS = 200
"""Tokens added and taken away; beyond, what lies between the first and the last change counts as replaced whole."""

_MOST_STEPS = 1_000_000


class Span(NamedTuple):
    """Tokens `start` to `end` of the original have become tokens `first` to `last` of the changed text."""

    start: int
    end: int
    first: int
    last: int


def spans(left: Sequence[str], right: Sequence[str]) -> list[Span]:
    """Where two lists of tokens differ; each span is one token, or all that lies between two shared ends."""
    head = shared(left, right)
    tail = shared(left[head:][::-1], right[head:][::-1])
    own_left, own_right = left[head : len(left) - tail], right[head : len(right) - tail]
    reached = _search(own_left, own_right)
    if reached is None:
        return [Span(head, len(left) - tail, head, len(right) - tail)]
    steps = _way_back(reached, len(own_left), len(own_right))
    return [Span(*(position + head for position in span)) for span in steps][::-1]


def _search(left: Sequence[str], right: Sequence[str]) -> list[dict[int, int]] | None:
    """How far each diagonal reaches with 0, 1, 2, … edits (Myers 1986); None when that takes too many."""
    reach, reached, steps = {1: 0}, [], 0
    for count in range(min(len(left) + len(right), MOST_EDITS) + 1):
        reached.append(dict(reach))
        for diagonal in range(-count, count + 1, 2):
            x = start = _enter(reach, diagonal, count)
            while x < len(left) and x - diagonal < len(right) and left[x] == right[x - diagonal]:
                x += 1
            reach[diagonal] = x
            if x >= len(left) and x - diagonal >= len(right):
                return reached
            steps += 1 + x - start
        if steps > _MOST_STEPS:
            break
    return None


def _enter(reach: dict[int, int], diagonal: int, count: int) -> int:
    """Where an edit enters a diagonal: an addition comes from the one above, a removal from the one below."""
    return reach[diagonal + 1] if _adds(reach, diagonal, count) else reach[diagonal - 1] + 1


def _adds(reach: dict[int, int], diagonal: int, count: int) -> bool:
    return diagonal == -count or (diagonal != count and reach[diagonal - 1] < reach[diagonal + 1])


def _way_back(reached: Sequence[dict[int, int]], x: int, y: int) -> Iterator[Span]:
    """The edits of the shortest way, from the last to the first."""
    for count in range(len(reached) - 1, 0, -1):
        reach, diagonal = reached[count], x - y
        adds = _adds(reach, diagonal, count)
        before = diagonal + 1 if adds else diagonal - 1
        x, y = reach[before], reach[before] - before
        yield Span(x, x + (not adds), y, y + adds)


def shared(left: Sequence[str], right: Sequence[str]) -> int:
    """How many items at the beginning are the same."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(left), len(right)))
