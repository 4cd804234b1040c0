"""Fold a text into the form in which words are looked up, and remember where each character came from."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

_UNSEEN = frozenset({"Mn", "Me", "Cf"})
"""Unicode categories of what is dropped: accents, enclosing marks, zero-width characters."""

_PLAIN = {"_": " ", "‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"}
"""Typographic characters and what they are typed as; an underscore joins words as a space parts them."""


class Folded(NamedTuple):
    """A text in the form in which words are looked up."""

    text: str
    """Compatibility forms resolved, lower case, without accents and invisible characters."""
    offsets: list[int] | None
    """Where each character came from, and the length at the end; None when nothing moved."""


def fold(text: str) -> Folded:
    """Fold a text: compatibility forms, case, accents, zero-width characters; underscores become spaces.

    "ß" stays as it is: as "ss" it would turn a German verb ("er aß") into a bad word.
    """
    if text.isascii():
        return Folded(text.lower().replace("_", " "), None)
    table = {ord(char): _fold_char(char) for char in set(text)}
    folded = text.translate(table)
    if all(len(piece) == 1 for piece in table.values()):
        return Folded(folded, None)
    offsets = [index for index, char in enumerate(text) for _ in table[ord(char)]]
    return Folded(folded, [*offsets, len(text)])


@lru_cache(maxsize=8192)
def _fold_char(char: str) -> str:
    if char in _PLAIN:
        return _PLAIN[char]
    kept = (part for part in unicodedata.normalize("NFKD", char) if unicodedata.category(part) not in _UNSEEN)
    return "".join(kept).lower()
