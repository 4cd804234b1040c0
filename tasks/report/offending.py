"""Where the words stand that are masked, however they are split by what a terminal does not show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contrapose.tasks.probes.toxic_words import count_toxic
from contrapose.tasks.report.cleaning import ESCAPE

# The blanks among the control characters part words, so they are not in it.
_SILENT = r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"
_LEFT_OUT = (re.compile(rf"{ESCAPE.pattern}|{_SILENT}"), re.compile(_SILENT))
"""What a terminal swallows, and the control characters alone: a reader may take the rest of a sequence for letters."""

Span = tuple[int, int]
"""Start and end in a text."""


def offending(text: str) -> list[Span]:
    r"""Spans of bad words but mild ones, in order and apart; all of ``fu\x1b[31mck`` is one."""
    found = [*_found(text)]
    if split(text):
        found += [span for pattern in _LEFT_OUT for span in _through(text, pattern)]
    return list(_apart(sorted(found)))


def split(text: str) -> bool:
    """Whether there is something in the text that a terminal does not show, and that may split a word."""
    return _LEFT_OUT[1].search(text) is not None


def _through(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    """Spans of words that are read where all that the pattern finds is left out."""
    left_out = {place for match in pattern.finditer(text) for place in range(*match.span())}
    places = [place for place in range(len(text)) if place not in left_out]
    for start, end in _found("".join(map(text.__getitem__, places))):
        yield places[start], places[end - 1] + 1


def _found(text: str) -> Iterator[Span]:
    return ((match.start, match.end) for match in count_toxic(text).matches if match.tier != "mild")


def _apart(spans: list[Span]) -> Iterator[Span]:
    """The spans; those that overlap are one."""
    start = end = 0
    for first, last in spans:
        if first >= end:
            if end:
                yield start, end
            start = first
        end = max(end, last)
    if end:
        yield start, end
