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


def disguised_word(word: str, book: Lexicon) -> str | None:
    """Return the listed word that a single written word stands for, or None."""
    if word in book.words:
        return word
    if word.isalpha():
        return _stretched_word(word, book)
    if len(word) > MAX_LENGTH:
        word = _LONG_RUN.sub(r"\1\1\1", word)
    if not 4 <= len(word) <= MAX_LENGTH:
        return None
    if listed := _lettered_word(word, book) or _masked_word(word, book):
        return listed
    # Digits before or behind a word of four letters or more, as in users' names: "fuck123".
    core = word.strip(digits)
    if len(core) < 4 or core == word or core in book.names or core in book.symbols:
        return None
    listed = core if core in book.words else _lettered_word(core, book)
    return listed if listed and book.words[listed].tier != "mild" else None


def _stretched_word(word: str, book: Lexicon) -> str | None:
    """Return the word of which a letter is written three times or more for one or two: "fuuuuck"."""
    if not TRIPLE.search(word):
        return None
    short = runs(_LONG_RUN.sub(r"\1\1\1", word))
    for listed, form in book.stretched.get("".join(letter for letter, _ in short), ()):
        if all(n == m or (n >= 3 and m <= 2) for (_, n), (_, m) in zip(short, form, strict=True)):
            return listed
    return None


def _lettered_word(word: str, book: Lexicon) -> str | None:
    """Return the word of four letters or more, two of them real, with digits and symbols like letters: "sh1t"."""
    if _LOOKALIKES.isdisjoint(word) or sum(map(str.isalpha, word)) < 2:
        return None
    if len(word) < 5 and not _RARELY_LETTERS.isdisjoint(word):
        return None
    for table in _LETTERS_FOR:
        reading = word.translate(table)
        if reading in book.words:
            return reading
        # Digits alone are not stretched: "#ff5555" is a color.
        if stretched := TRIPLE.search(word) and _stretched_word(reading, book):
            return stretched
    return None


def _masked_word(word: str, book: Lexicon) -> str | None:
    """Return the word with symbols in place of letters, whose first and last letter are shown: "f**k"."""
    marks = [char for char in word if char in MARKS]
    if not marks or not (word[0].isalpha() and word[-1].isalpha()) or _PRODUCT.fullmatch(word):
        return None
    for listed in book.masked.get((word[0], word[-1], len(word)), ()):
        pairs = [(mark, letter) for mark, letter in zip(word, listed, strict=True) if mark != letter]
        if not all(mark in MARKS and (mark != "@" or letter in "aeiou") for mark, letter in pairs):
            continue
        # The mask can hardly be anything else: "k**e" may be a power, and "p@ss" a password.
        term = book.words[listed]
        known = term.tier in ("strong", "sexual") or set(marks) == {"*"}
        if term.text in book.often_masked if 2 * len(marks) >= len(listed) else known:
            return listed
    return None


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

    "ß" stays as it is: as "ss" it would turn a German verb ("er aß") into a bad word. Greek, Cyrillic and Armenian
    look-alikes become Latin letters in words that have a Latin letter too: the Greek spirit "ρακί" would be a slur.
    """
    if text.isascii():
        # An underscore joins words as a space parts them.
        return Folded(text.lower().replace("_", " "), None)
    foreign = {ord(char): _fold_char(char) for char in set(text) if not char.isascii()}
    table = _ASCII | foreign
    folded = text.translate(table)
    if not _FOREIGN_LETTERS.isdisjoint(folded):
        folded = _WORD.sub(lambda word: word[0].translate(_LOOK_ALIKES) if _LATIN.search(word[0]) else word[0], folded)
    if all(len(piece) == 1 for piece in foreign.values()):
        return Folded(folded, None)
    offsets = [index for index, char in enumerate(text) for _ in table[ord(char)]]
    return Folded(folded, [*offsets, len(text)])


@lru_cache(maxsize=8192)
def _fold_char(char: str) -> str:
    if char in _PLAIN:
        return _PLAIN[char]
    letters = []
    for part in unicodedata.normalize("NFKD", char):
        if unicodedata.category(part) not in _UNSEEN:
            named = None if part.isascii() else _LATIN_LETTER.fullmatch(unicodedata.name(part, ""))
            letters.append(named[1] if named else part)
    return "".join(letters).lower()
