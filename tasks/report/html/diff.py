"""Which words two texts do not share."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

MOST_TOKENS = 400
"""Longer texts are shown without marks."""

_MOST_PAIRS = 10_000
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")

Segments = tuple[str, ...]
"""A text in pieces, shared and own ones in turn; the first is a shared one and may be empty."""


class Marked(NamedTuple):
    """Two texts, with what each has of its own set apart."""

    original: Segments
    changed: Segments


def mark(original: str, changed: str) -> Marked:
    """Set apart the words that only one of the two texts has.

    Joined, the segments give the text again. Texts that are missing or longer than `MOST_TOKENS`
    come back whole, as one shared segment.
    """
    left, right = _TOKEN.findall(original), _TOKEN.findall(changed)
    if not left or not right or max(len(left), len(right)) > MOST_TOKENS:
        return Marked((original,), (changed,))
    head = _shared(left, right)
    tail = _shared(left[head:][::-1], right[head:][::-1])
    ends = (left[:head], left[len(left) - tail :])
    own_left, own_right = left[head : len(left) - tail], right[head : len(right) - tail]
    first, second = _middle(own_left, own_right)
    return Marked(_segments(first, *ends), _segments(second, *ends))


Pieces = list[tuple[bool, str]]


def _middle(left: list[str], right: list[str]) -> tuple[Pieces, Pieces]:
    # The search takes time in proportion to this product, and more on texts made to be slow.
    if len(left) * len(right) > _MOST_PAIRS:
        return [(True, "".join(left))], [(True, "".join(right))]
    first: Pieces = []
    second: Pieces = []
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        first.append((kind != "equal", "".join(left[a:b])))
        second.append((kind != "equal", "".join(right[c:d])))
    return first, second


def _segments(middle: Pieces, head: list[str], tail: list[str]) -> Segments:
    """Neighbours of one kind joined, so that the kinds alternate."""
    joined = [""]
    for own, text in [(False, "".join(head)), *middle, (False, "".join(tail))]:
        if not text:
            continue
        if own == (len(joined) % 2 == 0):
            joined[-1] += text
        else:
            joined.append(text)
    return tuple(joined)


def _shared(left: list[str], right: list[str]) -> int:
    """How many tokens at the beginning are the same."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(left), len(right)))
