"""See through the usual disguises of one word: other alphabets, masks, digits for letters, stretching."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from string import digits
from typing import NamedTuple

from contrapose.tasks.probes.toxic_words.lexicon import Lexicon, runs

MAX_LENGTH = 40
"""Characters beyond which nothing is taken for a disguised word; it keeps the time linear."""

MARKS = "*#%@$!"
"""Symbols that stand for a letter. Not "&": "t&&t" is found in code alone."""

TRIPLE = re.compile(r"([a-z])\1\1")
"""A letter written three times."""

_LOOKALIKES = frozenset("013456789@$!")
_LETTERS_FOR = tuple(str.maketrans("013456789@$!", letters) for letters in ("oieasgtbgasi", "oleasgtbgasi"))
_RARELY_LETTERS = frozenset("6789")
"""They stand for letters in words of five or more alone: "ni99er"; "da90" and "SH17" are codes."""

_PRODUCT = re.compile(r"[a-z](?:\W+[a-z]){2,}")
_LONG_RUN = re.compile(r"(.)\1{3,}")


def meant(word: str, book: Lexicon) -> str | None:
    """The listed word that a single written word stands for, or None."""
    if word in book.words:
        return word
    if word.isalpha():
        return _stretched(word, book)
    if len(word) > MAX_LENGTH:
        word = _LONG_RUN.sub(r"\1\1\1", word)
    if not 4 <= len(word) <= MAX_LENGTH:
        return None
    return _lettered(word, book) or _masked(word, book) or _numbered(word, book)


def _stretched(word: str, book: Lexicon) -> str | None:
    """A letter written three times or more stands for one or two of it: "fuuuuck"."""
    if not TRIPLE.search(word):
        return None
    short = runs(_LONG_RUN.sub(r"\1\1\1", word))
    for listed, form in book.stretched.get("".join(letter for letter, _ in short), ()):
        if all(n == m or (n >= 3 and m <= 2) for (_, n), (_, m) in zip(short, form, strict=True)):
            return listed
    return None


def _lettered(word: str, book: Lexicon) -> str | None:
    """Digits and symbols that look like letters, in words of four or more with two real letters: "sh1t"."""
    if _LOOKALIKES.isdisjoint(word) or sum(map(str.isalpha, word)) < 2:
        return None
    if len(word) < 5 and not _RARELY_LETTERS.isdisjoint(word):
        return None
    for table in _LETTERS_FOR:
        reading = word.translate(table)
        if reading in book.words:
            return reading
        # Digits alone are not stretched: "#ff5555" is a color.
        if stretched := TRIPLE.search(word) and _stretched(reading, book):
            return stretched
    return None


def _numbered(word: str, book: Lexicon) -> str | None:
    """Digits before or behind a word of four letters or more, as in users' names: "fuck123"."""
    core = word.strip(digits)
    if len(core) < 4 or core == word or core in book.names or core in book.symbols:
        return None
    listed = core if core in book.words else _lettered(core, book)
    return listed if listed and book.words[listed].tier != "mild" else None


def _masked(word: str, book: Lexicon) -> str | None:
    """Symbols in place of letters, with the first and the last letter shown: "f**k"."""
    marks = [char for char in word if char in MARKS]
    if not marks or not (word[0].isalpha() and word[-1].isalpha()) or _PRODUCT.fullmatch(word):
        return None
    for listed in book.masked.get((word[0], word[-1], len(word)), ()):
        pairs = [(mark, letter) for mark, letter in zip(word, listed, strict=True) if mark != letter]
        fits = all(mark in MARKS and (mark != "@" or letter in "aeiou") for mark, letter in pairs)
        if fits and _telling(marks, listed, book):
            return listed
    return None


def _telling(marks: list[str], listed: str, book: Lexicon) -> bool:
    """Whether a mask can hardly be anything else: "k**e" may be a power, and "p@ss" a password."""
    term = book.words[listed]
    if 2 * len(marks) >= len(listed):
        return term.text in book.often_masked
    return term.tier in ("strong", "sexual") or set(marks) == {"*"}


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
