"""What was changed in a text: words, or the part of a word where it was only inflected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

_MOST_WORD_PAIRS = 9
# Chinese and Japanese put no blanks between words: there each character is a token.
_TOKEN = re.compile(r"\s+|[\u2e80-\u9fff\uf900-\ufaff]|[^\W\u2e80-\u9fff\uf900-\ufaff]+|[^\w\s]")
_WORD = re.compile(r"\w+")

Segments = tuple[str, ...]
"""A text in pieces, shared and own ones in turn; the first is a shared one and may be empty."""


class WordChange(NamedTuple):
    """A part of a text and what stands there instead. Positions are characters of the original."""

    start: int
    """Where the part begins."""
    end: int
    """Where it ends; `start` when something is only added."""
    new: str
    """What stands there instead; empty when something is only taken away."""


class Marked(NamedTuple):
    """Two texts, with what each has of its own set apart."""

    original: Segments
    changed: Segments


def edits(original: str, changed: str) -> list[WordChange]:
    """What turns one text into the other, in order and without overlap; from last to first they can be applied."""
    left, right = _TOKEN.findall(original), _TOKEN.findall(changed)
    at, to = ([0, *accumulate(map(len, tokens))] for tokens in (left, right))
    whole = [
        WordChange(at[span.start], at[span.end], changed[to[span.first] : to[span.last]])
        for span in _joined(spans(left, right), original, at, to)
    ]
    return [part for edit in whole for part in _refined(edit, original)]


def mark(original: str, changed: str) -> Marked:
    """Set apart what only one of two texts has; joined, the segments give the text again.

    When one of the texts is missing, nothing is set apart.
    """
    if not original or not changed:
        return Marked((original,), (changed,))
    first, second, place = [""], [""], 0
    for edit in edits(original, changed):
        _put(first, original[place : edit.start], original[edit.start : edit.end])
        _put(second, original[place : edit.start], edit.new)
        place = edit.end
    _put(first, original[place:], "")
    _put(second, original[place:], "")
    return Marked(_segments(first), _segments(second))


def _put(segments: list[str], kept: str, own: str) -> None:
    segments[-1] += kept
    if own:
        segments += [own, ""]


def _segments(tokens: list[str]) -> Segments:
    return tuple(tokens if tokens[-1] or len(tokens) == 1 else tokens[:-1])


def _joined(changes: Sequence[Span], original: str, at: Sequence[int], to: Sequence[int]) -> list[Span]:
    """Neighbours in a line made one where little lies between, at most half of either: such scraps tell nothing."""
    joined: list[Span] = []
    for span in changes:
        last = joined[-1] if joined else Span(0, 0, 0, 0)
        between = original[at[last.end] : at[span.start]]
        little = between.isspace() or 2 * len(between) <= min(_size(last, at, to), _size(span, at, to))
        if joined and little and "\n" not in between:
            joined[-1] = Span(last.start, span.end, last.first, span.last)
        else:
            joined.append(span)
    return joined


def _size(span: Span, at: Sequence[int], to: Sequence[int]) -> int:
    return max(at[span.end] - at[span.start], to[span.last] - to[span.first])


def _refined(edit: WordChange, original: str) -> Iterator[WordChange]:
    """The edit without the part of a word that it keeps: of "eats" and "does not eat", "eat"."""
    old = original[edit.start : edit.end]
    if old == edit.new:
        return
    kept = _kept(old, edit.new)
    if kept is None:
        yield edit
        return
    there, here, length = kept
    yield from _refined(WordChange(edit.start, edit.start + there, edit.new[:here]), original)
    yield from _refined(WordChange(edit.start + there + length, edit.end, edit.new[here + length :]), original)


def _kept(old: str, new: str) -> tuple[int, int, int] | None:
    """Where words of both begin alike, or one ends in the other: both positions, and the length."""
    left, right = list(_WORD.finditer(old)), list(_WORD.finditer(new))
    if not 0 < len(left) * len(right) <= _MOST_WORD_PAIRS:
        return None
    candidates = [alike for a in left for b in right for alike in _alike(a, b)]
    return max(candidates, key=lambda alike: alike[2], default=None)


def _alike(a: re.Match[str], b: re.Match[str]) -> Iterator[tuple[int, int, int]]:
    one, other = a.group(), b.group()
    if one == other:
        return
    least, shorter = (max(len(one), len(other)) + 1) // 2, min(len(one), len(other))
    head, tail = shared(one, other), shared(one[::-1], other[::-1])
    if head >= least and (head >= 3 or head == shorter):
        yield a.start(), b.start(), head
    if tail >= least and tail == shorter:
        yield a.end() - tail, b.end() - tail, tail


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
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count
