"""See through the usual disguises of a word: masks, digits for letters, stretching, spelling out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from contrapose.tasks.probes.toxic_words.lexicon import Lexicon, runs

MAX_LENGTH = 40
"""Characters beyond which nothing is taken for a disguised word; it keeps the time linear."""

_MASKS = frozenset("*#%&@$!")
_LOOKALIKES = frozenset("013457@$!")
_LETTERS_FOR = tuple(str.maketrans("013457@$!", letters) for letters in ("oieastasi", "oleastasi"))
_READ_AS = {
    "f***": "fuck",
    "f******": "fucking",
    "sh**": "shit",
    "bullsh**": "bullshit",
    "a$$": "ass",
    "@ss": "ass",
}
"""Spellings that leave too little of the word for the general rules."""

_SPELLED = r"(?<!\w)[a-z]([ .*-])[a-z](?:\1[a-z]){2,24}(?!\w)"
_TOKEN = re.compile(rf"{_SPELLED}|[\w*#%&@$!]+")
_WORD = re.compile(r"\w+")
# It begins with a set of characters, for which re has a fast search; ordinals and decades are ordinary words.
_MARKED = re.compile(
    r"[0-9*#%&@$!](?:(?<=[a-z][0-9*#%&@$])|(?<=[a-z]!)[*#%&@$!]*\w|(?<=[0-9@$])[*@$!]{0,3}(?!(?:s|st|nd|rd|th)\b)[a-z])"
)
_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
_TRIPLE = re.compile(r"([a-z])\1\1")
_TRIPLES = tuple(letter * 3 for letter in "abcdefghijklmnopqrstuvwxyz")
_LONG_RUN = re.compile(r"(.)\1{3,}")


class Token(NamedTuple):
    """A word of a folded text."""

    word: str
    """The listed word that is meant, or the word as it stands."""
    start: int
    """Where it starts in the folded text."""
    end: int
    """Where it ends, exclusive."""


def harmless(text: str, book: Lexicon) -> bool:
    """Whether a folded text certainly holds nothing listed, told without looking at each word."""
    # Translating is far faster than a regular expression, but only where every character is ASCII.
    words = text.translate(_SPACES).split() if text.isascii() else _WORD.findall(text)
    return (
        book.triggers.isdisjoint(words) and not _MARKED.search(text) and not any(triple in text for triple in _TRIPLES)
    )


def tokens(text: str, book: Lexicon) -> Iterator[Token]:
    """The words of a folded text that the lexicon knows, in order, disguised ones as what they mean."""
    stretched = any(triple in text for triple in _TRIPLES)
    for match in _TOKEN.finditer(text):
        found = match[0]
        if found in book.known:
            yield Token(found, match.start(), match.end())
        elif (stretched and _TRIPLE.search(found)) if found.isalpha() else not found.isdecimal():
            yield from _read(found, match.start(), book)


def meant(word: str, book: Lexicon) -> str | None:
    """The listed word that a single written word stands for, or None."""
    if word in book.words:
        return word
    if word.isalpha():
        return _stretched(word, book)
    if len(word) > MAX_LENGTH:
        word = _LONG_RUN.sub(r"\1\1\1", word)
    return _lettered(word, book) or _masked(word, book) if 4 <= len(word) <= MAX_LENGTH else None


def _read(found: str, start: int, book: Lexicon) -> Iterator[Token]:
    """A run of letters, digits and symbols: one disguised word, or else the words between the symbols."""
    if whole := _spelled(found, start, book) or _whole(found, start, book):
        yield whole
        return
    for part in _WORD.finditer(found):
        word = part[0] if part[0] in book.known else meant(part[0], book)
        if word:
            yield Token(word, start + part.start(), start + part.end())


def _spelled(found: str, start: int, book: Lexicon) -> Token | None:
    joined = found[::2]
    if len(joined) < 4 or joined not in book.words or found.isalnum():
        return None
    return Token(joined, start, start + len(found))


def _whole(found: str, start: int, book: Lexicon) -> Token | None:
    core = found.lstrip("*#%&!")
    start += len(found) - len(core)
    core = core.rstrip("#%&!")
    word = _READ_AS.get(core)
    if not word:
        # Asterisks at the end are emphasis or a footnote unless the spelling is one that everybody uses.
        core = core.rstrip("*#%&!")
        word = meant(core, book)
    return Token(word, start, start + len(core)) if word else None


def _stretched(word: str, book: Lexicon) -> str | None:
    """A letter written three times or more stands for one or two of it: "fuuuuck"."""
    if not _TRIPLE.search(word):
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
    for table in _LETTERS_FOR:
        reading = word.translate(table)
        if reading in book.words:
            return reading
        if found := _stretched(reading, book):
            return found
    return None


def _masked(word: str, book: Lexicon) -> str | None:
    """Symbols in place of letters, with the first and the last letter shown: "f**k"."""
    if _MASKS.isdisjoint(word):
        return None
    ends = word[0].translate(_LETTERS_FOR[0]), word[-1].translate(_LETTERS_FOR[0])
    inner = word[1:-1]
    for listed in book.masked.get((*ends, len(word)), ()):
        if all(shown in _MASKS or shown == letter for shown, letter in zip(inner, listed[1:-1], strict=True)):
            return listed
    return None
