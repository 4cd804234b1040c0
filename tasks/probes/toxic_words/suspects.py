"""Where in a text a word may be in disguise: the few places that are worth a closer look."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from string import ascii_lowercase

from contrapose.tasks.probes.toxic_words.spelling import MARKS, TRIPLE

Span = tuple[int, int]
"""Where a stretch of text starts, and where it ends, exclusive."""

SPELLED = re.compile(r"(?<!\w)[a-z](\. |[ .*-])[a-z](?:\1[a-z]){2,24}(?!\w)")
"""A word spelled out: "f.u.c.k"."""

_DASHED = re.compile(r"(?<![\w-])[a-z]+--+[a-z]+(?![\w-])")
# It begins with a set of characters, for which re has a fast search; ordinals and decades are ordinary words.
_MARKED = re.compile(
    r"[0-9*#%@$!](?:(?<=[a-z][0-9*#%@$])|(?<=[a-z]!)[*#%@$!]*\w|(?<=[0-9@$])[*@$!]{0,3}(?!(?:s|st|nd|rd|th)\b)[a-z])"
)
_LETTERS = frozenset(ascii_lowercase)
_SELDOM_ALONE = frozenset("bcfghjklnpruvwxyz")
"""Letters unlike those of "it's", "don't" and "a"; of the listed words only "tits" has none of them."""

# A backslash belongs to a run, so that the escape "\n*****" is no mask.
_NO_RUN = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in MARKS + "\\"}
_NOT_IN_RUNS = re.compile(rf"[^\w{MARKS}\\]")


def suspects(text: str, bare: str, present: set[str]) -> list[Span]:
    """Where a word may be in disguise: apart from each other, in order.

    Args:
        text: a folded text.
        bare: the same with a space for every character that is not part of a word.
        present: the words of `bare`.
    """
    spans = list(_around([match.start() for match in TRIPLE.finditer(bare)], bare))
    if marked := [match.start() for match in _MARKED.finditer(text)]:
        spans += _around(marked, text.translate(_NO_RUN) if text.isascii() else _NOT_IN_RUNS.sub(" ", text))
    if len(present & _LETTERS) >= 3 and not present.isdisjoint(_SELDOM_ALONE):
        spans += (match.span() for match in SPELLED.finditer(text))
    if "--" in text:
        spans += (match.span() for match in _DASHED.finditer(text))
    return _apart(spans) if spans else spans


def _around(places: Iterable[int], spaced: str) -> Iterator[Span]:
    """The stretches between spaces that some places lie in, each once."""
    end = 0
    for place in places:
        if place >= end:
            start = spaced.rfind(" ", end, place) + 1 or end
            end = spaced.find(" ", place)
            end = len(spaced) if end < 0 else end
            yield start, end


def _apart(spans: Iterable[Span]) -> list[Span]:
    kept, reached = list[Span](), 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= reached:
            kept.append((start, end))
            reached = end
    return kept
