"""Make texts safe to display: mask toxic words, show hidden characters, cut long texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from contrapose.tasks.probes.toxic_words import count_toxic
from contrapose.tasks.probes.toxic_words.count import mask_word
from contrapose.tasks.text.cleaning import ESCAPE, cut_text, show_hidden

Show = Callable[[str], str]
"""A raw text to the text that people see."""

LONGEST = 4_000
"""Characters of one text in a report; the whole text is in the results file."""


def make_shower(*, show_toxic: bool, longest: int = LONGEST) -> Show:
    """Return the function that makes raw texts of one report safe to display and cuts them to `longest` characters."""

    # Articles, options and short replies recur, and masking is the slowest step of a report.
    @lru_cache(maxsize=8_192)
    def show(text: str) -> str:
        kept = cut_text(text, longest)
        # Masking sees through zero-width characters only while they are still there.
        return show_hidden(kept if show_toxic else mask_toxic(kept))

    return show


def mask_toxic(text: str) -> str:
    """Return the text with each bad word as its first letter and asterisks ("f***"); mild words stay."""
    pieces, place = list[str](), 0
    for start, end in find_bad_words(text):
        pieces += text[place:start], mask_word(text[start:end])
        place = end
    return "".join([*pieces, text[place:]])


def mask_values(value: object, *, show_toxic: bool) -> Any:
    """Return a value with bad words masked in all texts and field names, or unchanged if `show_toxic` is set."""
    if show_toxic:
        return value
    if isinstance(value, str):
        return mask_toxic(value)
    if isinstance(value, Mapping):
        return {mask_toxic(str(name)): mask_values(own, show_toxic=False) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [mask_values(own, show_toxic=False) for own in value]
    return value


# The blanks among the control characters part words, so they are not in it.
_SILENT = r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"
_LEFT_OUT = (re.compile(rf"{ESCAPE.pattern}|{_SILENT}"), re.compile(_SILENT))
"""What a terminal swallows, and the control characters alone: a reader may take the rest of a sequence for letters."""

Span = tuple[int, int]
"""Start and end in a text."""


def find_bad_words(text: str) -> list[Span]:
    r"""Return the spans of bad words except mild ones, in order, without overlap; all of ``fu\x1b[31mck`` is one."""
    spans = [*_toxic_spans(text)]
    # Nothing to leave out where no control character stands.
    for pattern in _LEFT_OUT if hides_characters(text) else ():
        # Words are read with all left out that the pattern finds.
        left_out = {place for match in pattern.finditer(text) for place in range(*match.span())}
        places = [place for place in range(len(text)) if place not in left_out]
        rest = "".join(map(text.__getitem__, places))
        spans += [(places[start], places[end - 1] + 1) for start, end in _toxic_spans(rest)]
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def hides_characters(text: str) -> bool:
    """Return whether the text has characters that a terminal does not show and that may split a word."""
    return _LEFT_OUT[1].search(text) is not None


def _toxic_spans(text: str) -> Iterator[Span]:
    return ((match.start, match.end) for match in count_toxic(text).matches if match.tier != "mild")
