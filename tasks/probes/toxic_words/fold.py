"""Fold a text into the form in which words are looked up, and remember where each character came from."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_UNSEEN = frozenset({"Mn", "Me", "Cf"})
"""Unicode categories of what is dropped: accents, enclosing marks, zero-width characters."""

_PLAIN = dict(zip("‘’“”–—¡•●∗★■█", "''\"\"--!******", strict=True))
"""Typographic characters and what they are typed as."""

_ASCII = {code: chr(code).lower().replace("_", " ") for code in range(128)}

_LATIN_LETTER = re.compile(r"(?:NEGATIVE \w+ )?LATIN .*\b(?:LETTER|CAPITAL|DOTLESS|SCRIPT) ([A-Z])(?: WITH .*)?")
"""Names of letters that do not decompose: "ø", dotless "i", small capitals, letters in dark squares."""

_FOREIGN = "авсеԁһіјкмнорԛѕтуԝхпи" + "αβεηικμνορτυωχγ" + "օսո" + "¢€"
_SHAPES = "abcedhijkmhopqstywxnu" + "abenikuvoptuwxy" + "oun" + "ce"
_LOOK_ALIKES = str.maketrans(_FOREIGN, _SHAPES)
_FOREIGN_LETTERS = frozenset(_FOREIGN)
_WORD = re.compile(r"[\w¢€]+")
_LATIN = re.compile(r"[a-z]")


class Folded(NamedTuple):
    """A text in the form in which words are looked up."""

    text: str
    """Compatibility forms resolved, lower case, without accents and invisible characters."""
    offsets: list[int] | None
    """Where each character came from, and the length at the end; None when nothing moved."""


def fold(text: str) -> Folded:
    """Fold a text: compatibility forms, case, accents, zero-width and look-alike characters; underscores are spaces.

    "ß" stays as it is: as "ss" it would turn a German verb ("er aß") into a bad word.
    """
    if text.isascii():
        # An underscore joins words as a space parts them.
        return Folded(text.lower().replace("_", " "), None)
    foreign = {ord(char): _fold_char(char) for char in set(text) if not char.isascii()}
    table = _ASCII | foreign
    folded = _unmixed(text.translate(table))
    if all(len(piece) == 1 for piece in foreign.values()):
        return Folded(folded, None)
    offsets = [index for index, char in enumerate(text) for _ in table[ord(char)]]
    return Folded(folded, [*offsets, len(text)])


@lru_cache(maxsize=8192)
def _fold_char(char: str) -> str:
    if char in _PLAIN:
        return _PLAIN[char]
    kept = (part for part in unicodedata.normalize("NFKD", char) if unicodedata.category(part) not in _UNSEEN)
    return "".join(map(_latin, kept)).lower()


def _latin(char: str) -> str:
    named = None if char.isascii() else _LATIN_LETTER.fullmatch(unicodedata.name(char, ""))
    return named[1] if named else char


def _unmixed(text: str) -> str:
    """Greek, Cyrillic and Armenian look-alikes as Latin letters, in words that have a Latin letter too.

    Words in one script stay: the Greek spirit "ρακί" would read as a slur.
    """
    if text.isascii() or _FOREIGN_LETTERS.isdisjoint(text):
        return text
    return _WORD.sub(lambda word: word[0].translate(_LOOK_ALIKES) if _LATIN.search(word[0]) else word[0], text)
