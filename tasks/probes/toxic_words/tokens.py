"""The words of a text that may count, disguised ones as what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from contrapose.tasks.probes.toxic_words.joined import joined
from contrapose.tasks.probes.toxic_words.lexicon import Lexicon
from contrapose.tasks.probes.toxic_words.spelling import meant
from contrapose.tasks.probes.toxic_words.suspects import SPELLED, Span, suspects

_WORD = re.compile(r"\w+")
_GESTURE = "\N{REVERSED HAND WITH MIDDLE FINGER EXTENDED}"
_GESTURES = re.compile(f"{_GESTURE}[\N{EMOJI MODIFIER FITZPATRICK TYPE-1-2}-\N{EMOJI MODIFIER FITZPATRICK TYPE-6}]?")
_NO_WORD = {code: " " for code in range(128) if not chr(code).isalnum()}


class Token(NamedTuple):
    """A word of a folded text."""

    start: int
    """Where it starts in the folded text."""
    end: int
    """Where it ends, exclusive."""
    word: str
    """The listed word that is meant, or the word as it stands."""


class Reading(NamedTuple):
    """What the counter sees of a text."""

    words: int
    """All words of the text: runs of letters and digits."""
    tokens: list[Token]
    """The words that may count or be part of a phrase, in order, disguised ones as what they mean."""


def read(text: str, book: Lexicon) -> Reading:
    """The words of a folded text."""
    bare = text.translate(_NO_WORD) if text.isascii() else re.sub(r"\W", " ", text)
    words = bare.split()
    present = set(words)
    spans = suspects(text, bare, present)
    runs = joined(bare, present, book)
    gestures = [Token(*each.span(), _GESTURE) for each in _GESTURES.finditer(text)] if _GESTURE in text else []
    # Most texts end here, and the set tells it far faster than a look at each word.
    if not spans and not runs and not gestures and book.triggers.isdisjoint(present):
        return Reading(len(words), [])
    disguised = [token for start, end in spans for token in _read(text[start:end].replace("-", "*"), start, book)]
    telling = book.triggers.intersection(present).union(token.word for token in disguised)
    wanted = telling.union(*(book.companions.get(word, ()) for word in telling)) & present
    rest = _without(bare, spans)
    return Reading(len(words), sorted([*gestures, *disguised, *_plain(rest, wanted), *_joined(rest, runs)]))


def _plain(bare: str, wanted: Iterable[str]) -> Iterator[Token]:
    """Every place of some words in a text of words and spaces."""
    padded = f" {bare} "
    for word in wanted:
        found = padded.find(f" {word} ")
        while found >= 0:
            yield Token(found, found + len(word), word)
            found = padded.find(f" {word} ", found + len(word) + 1)


def _joined(bare: str, runs: Mapping[str, Iterable[str]]) -> Iterator[Token]:
    """Every part of every run of words."""
    for start, _, run in _plain(bare, runs):
        for part in runs[run]:
            yield Token(start, start + len(part), part)
            start += len(part)


def _without(bare: str, spans: Iterable[Span]) -> str:
    pieces, position = list[str](), 0
    for start, end in spans:
        pieces += bare[position:start], " " * (end - start)
        position = end
    return "".join(pieces) + bare[position:]


def _read(found: str, start: int, book: Lexicon) -> Iterator[Token]:
    """A run of letters, digits and symbols: one disguised word, or else the words between the symbols."""
    if found.isalpha():
        if word := meant(found, book):
            yield Token(start, start + len(found), word)
        return
    if whole := _spelled(found, start, book) or _whole(found, start, book):
        yield whole
        return
    for part in _WORD.finditer(found):
        word = part[0] if part[0] in book.known else meant(part[0], book)
        if word:
            yield Token(start + part.start(), start + part.end(), word)


def _spelled(found: str, start: int, book: Lexicon) -> Token | None:
    """A word spelled out, "f.u.c.k"; an article before it is not part of it: "a f u c k i n g mess"."""
    if found[1:2].isalnum() or not SPELLED.fullmatch(found):
        return None
    for skipped in (0, 2) if found[:2] in ("a ", "i ") else (0,):
        joined = re.sub(r"[^a-z]", "", found[skipped:])
        if len(joined) >= 4 and joined in book.words:
            return Token(start + skipped, start + len(found), joined)
    return None


def _whole(found: str, start: int, book: Lexicon) -> Token | None:
    core = found.lstrip("*#%!")
    start += len(found) - len(core)
    core = core.rstrip("#%!")
    # Asterisks at the end are emphasis or a footnote unless the spelling is one that everybody uses.
    word = None if found[0] == "*" else book.spellings.get(core)
    if not word:
        core = core.rstrip("*#%!")
        word = book.spellings.get(core) or meant(core, book)
    return Token(start, start + len(core), word) if word else None
