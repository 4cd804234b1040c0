"""Texts of the page's data: toxic words are set apart, so that the page can mask and reveal them."""

from __future__ import annotations

from collections.abc import Iterable

from contrapose.tasks.probes.toxic_words.screen import doubtful
from contrapose.tasks.report.cleaning import cut, visible
from contrapose.tasks.report.offending import offending, split

PageText = str | list[str]
"""A text; or pieces of it, in which every second one is a toxic word, raw."""


def page_texts(raw: Iterable[str], *, show_toxic: bool, longest: int) -> list[PageText]:
    """Every text as the page holds it, in the same order.

    Args:
        raw: as they lie in the results.
        show_toxic: set no word apart, because none is to be masked.
        longest: characters kept of one text.
    """
    kept = [cut(text, longest) for text in raw]
    # Reading a text for toxic words takes far longer than this glance at all of them.
    doubts = [False] * len(kept) if show_toxic else doubtful(kept)
    return [
        _apart(text) if doubt or (not show_toxic and split(text)) else visible(text)
        for text, doubt in zip(kept, doubts, strict=True)
    ]


def _apart(text: str) -> PageText:
    """Cleaned after the words are found: reading sees through hidden characters only while they are there."""
    pieces, place = list[str](), 0
    for start, end in offending(text):
        pieces += visible(text[place:start]), visible(text[start:end])
        place = end
    return [*pieces, visible(text[place:])] if pieces else visible(text)
