"""Find the changes between two texts: words, or the changed part of a word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, product
from typing import NamedTuple

_MOST_WORD_PAIRS = 9
# Chinese and Japanese put no blanks between words: there each character is a token.
_TOKEN = re.compile(r"\s+|[\u2e80-\u9fff\uf900-\ufaff]|[^\W\u2e80-\u9fff\uf900-\ufaff]+|[^\w\s]")
_WORD = re.compile(r"\w+")

Segments = tuple[str, ...]
"""A text in pieces, shared and own ones in turn; the first is a shared one and may be empty."""


class WordChange(NamedTuple):
    """A part of a text and its replacement; positions are characters of the original."""

    start: int
    """The offset at which the part begins."""
    end: int
    """The offset at which it ends; `start` if text is only added."""
    new: str
    """What stands there instead; empty when something is only taken away."""


class Marked(NamedTuple):
    """Two texts as segments, each shared by both or only in one."""

    original: Segments
    changed: Segments


def find_word_changes(original: str, changed: str) -> list[WordChange]:
    """Return the changes from one text to another, in order and without overlap; apply them from last to first."""
    left, right = _TOKEN.findall(original), _TOKEN.findall(changed)
    at, to = ([0, *accumulate(map(len, tokens))] for tokens in (left, right))

    def size(span: Span) -> int:
        return max(at[span.end] - at[span.start], to[span.last] - to[span.first])

    # Neighbours in a line are one where little lies between, at most half of either: such scraps say nothing.
    joined: list[Span] = []
    for span in find_spans(left, right):
        last = joined[-1] if joined else Span(0, 0, 0, 0)
        between = original[at[last.end] : at[span.start]]
        little = between.isspace() or 2 * len(between) <= min(size(last), size(span))
        if joined and little and "\n" not in between:
            joined[-1] = Span(last.start, span.end, last.first, span.last)
        else:
            joined.append(span)
    whole = (WordChange(at[span.start], at[span.end], changed[to[span.first] : to[span.last]]) for span in joined)
    return [part for edit in whole for part in _refine(edit, original)]


def mark_differences(original: str, changed: str) -> Marked:
    """Split two texts into segments that both share or only one has; without one text, nothing differs."""
    if not original or not changed:
        return Marked((original,), (changed,))
    first, second, place = [""], [""], 0
    for edit in (*find_word_changes(original, changed), WordChange(len(original), len(original), "")):
        for segments, own in ((first, original[edit.start : edit.end]), (second, edit.new)):
            segments[-1] += original[place : edit.start]
            segments += [own, ""] if own else []
        place = edit.end
    one, other = (tuple(own if own[-1] or len(own) == 1 else own[:-1]) for own in (first, second))
    return Marked(one, other)


def _refine(edit: WordChange, original: str) -> Iterator[WordChange]:
    """Yield the edit without the part of a word that it keeps, such as "eat" in "eats" and "does not eat"."""
    old = original[edit.start : edit.end]
    if old == edit.new:
        return
    left, right = list(_WORD.finditer(old)), list(_WORD.finditer(edit.new))
    # Where words of both begin alike, or one ends in the other: both positions, and the length.
    alike: list[tuple[int, int, int]] = []
    for a, b in product(left, right) if len(left) * len(right) <= _MOST_WORD_PAIRS else ():
        if (one := a.group()) == (other := b.group()):
            continue
        least, shorter = (max(len(one), len(other)) + 1) // 2, min(len(one), len(other))
        head, tail = count_common(one, other), count_common(one[::-1], other[::-1])
        if head >= least and (head >= 3 or head == shorter):
            alike.append((a.start(), b.start(), head))
        if tail >= least and tail == shorter:
            alike.append((a.end() - tail, b.end() - tail, tail))
    if not alike:
        yield edit
        return
    there, here, length = max(alike, key=lambda candidate: candidate[2])
    yield from _refine(WordChange(edit.start, edit.start + there, edit.new[:here]), original)
    yield from _refine(WordChange(edit.start + there + length, edit.end, edit.new[here + length :]), original)


MOST_EDITS = 200
"""Tokens added and taken away; beyond, what lies between the first and the last change counts as replaced whole."""

_MOST_STEPS = 1_000_000


class Span(NamedTuple):
    """A change: tokens `start` to `end` of the original became tokens `first` to `last` of the changed text."""

    start: int
    end: int
    first: int
    last: int


def find_spans(left: Sequence[str], right: Sequence[str]) -> list[Span]:
    """Return the spans in which two lists of tokens differ: single tokens, or all tokens between two shared ends."""
    head = count_common(left, right)
    tail = count_common(left[head:][::-1], right[head:][::-1])
    x, y = len(left) - tail, len(right) - tail
    reached = _search_edits(left[head:x], right[head:y])
    if reached is None:
        return [Span(head, x, head, y)]
    steps = []
    x, y = x - head, y - head
    for count in range(len(reached) - 1, 0, -1):
        # The edits of the shortest way, from the last to the first.
        reach, diagonal = reached[count], x - y
        adds = _is_addition(reach, diagonal, count)
        before = diagonal + 1 if adds else diagonal - 1
        x, y = reach[before], reach[before] - before
        steps.append(Span(head + x, head + x + (not adds), head + y, head + y + adds))
    return steps[::-1]


def _search_edits(left: Sequence[str], right: Sequence[str]) -> list[dict[int, int]] | None:
    """Return how far each diagonal reaches with 0, 1, 2, … edits (Myers 1986), or None after too many edits."""
    reach, reached, steps = {1: 0}, [], 0
    for count in range(min(len(left) + len(right), MOST_EDITS) + 1):
        reached.append(dict(reach))
        for diagonal in range(-count, count + 1, 2):
            # An edit enters a diagonal as an addition from the one above, or as a removal from the one below.
            adds = _is_addition(reach, diagonal, count)
            x = start = reach[diagonal + 1] if adds else reach[diagonal - 1] + 1
            while x < len(left) and x - diagonal < len(right) and left[x] == right[x - diagonal]:
                x += 1
            reach[diagonal] = x
            if x >= len(left) and x - diagonal >= len(right):
                return reached
            steps += 1 + x - start
        if steps > _MOST_STEPS:
            break
    return None


def _is_addition(reach: dict[int, int], diagonal: int, count: int) -> bool:
    return diagonal == -count or (diagonal != count and reach[diagonal - 1] < reach[diagonal + 1])


def count_common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the number of equal items at the beginning of two lists."""
    pairs = zip(left, right, strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
