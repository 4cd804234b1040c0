"""What people may see of a text: toxic words masked, nothing hidden, not endless."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from contrapose.tasks.probes.toxic_words.count import mask_word
from contrapose.tasks.report.cleaning import cut, visible
from contrapose.tasks.report.offending import offending

Show = Callable[[str], str]
"""A raw text to the text that people see."""

LONGEST = 4_000
"""Characters of one text in a report; the whole text is in the results file."""


def shower(*, show_toxic: bool, longest: int = LONGEST) -> Show:
    """The function that makes raw texts of one report fit to be seen.

    Args:
        show_toxic: leave toxic words as they are.
        longest: characters kept of one text.
    """

    # Articles, options and short replies recur, and masking is the slowest step of a report.
    @lru_cache(maxsize=8_192)
    def show(text: str) -> str:
        kept = cut(text, longest)
        # Masking sees through zero-width characters only while they are still there.
        return visible(kept if show_toxic else masked(kept))

    return show


def masked(text: str) -> str:
    """The text with each bad word as its first letter and asterisks ("f***"); mild ones stay."""
    pieces, place = list[str](), 0
    for start, end in offending(text):
        pieces += text[place:start], mask_word(text[start:end])
        place = end
    return "".join([*pieces, text[place:]])
