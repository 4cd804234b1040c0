"""The words of a text that may count, disguised ones as what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from string import ascii_lowercase
from typing import NamedTuple

from contrapose.tasks.language.closed import table, words
from contrapose.tasks.language.vocabulary import vocabulary
from contrapose.tasks.probes.toxic_words.lexicon import Lexicon
from contrapose.tasks.probes.toxic_words.spelling import MARKS, MAX_LENGTH, TRIPLE, disguised_word

_WORD = re.compile(r"\w+")
_GESTURE = "\N{REVERSED HAND WITH MIDDLE FINGER EXTENDED}"
_GESTURES = re.compile(f"{_GESTURE}[\N{EMOJI MODIFIER FITZPATRICK TYPE-1-2}-\N{EMOJI MODIFIER FITZPATRICK TYPE-6}]?")
_NO_WORD = {code: " " for code in range(128) if not chr(code).isalnum()}
Span = tuple[int, int]
"""Where a stretch of text starts, and where it ends, exclusive."""

SPELLED = re.compile(r"(?<!\w)[a-z](\. |[ .*-])[a-z](?:\1[a-z]){2,24}(?!\w)")
"""A word spelled out: "f.u.c.k"."""

_DASHED = re.compile(r"(?<![\w-])[a-z]+--+[a-z]+(?![\w-])")
# It begins with a set of characters, for which re has a fast search; ordinals and decades are ordinary words.
_MARKED = re.compile(
    r"[0-9*#%@$!](?:(?<=[a-z][0-9*#%@$])|(?<=[a-z]!)[*#%@$!]*\w|(?<=[0-9@$])[*@$!]{0,3}(?!(?:s|st|nd|rd|th)\b)[a-z])"
)
_LETTERS = frozenset(ascii_lowercase)
_SELDOM_ALONE = frozenset("bcfghjklnpruvwxyz")
"""Letters unlike those of "it's", "don't" and "a"; of the listed words only "tits" has none of them."""

# A backslash belongs to a run, so that the escape "\n*****" is no mask.
_NO_RUN = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in MARKS + "\\"}
_NOT_IN_RUNS = re.compile(rf"[^\w{MARKS}\\]")
SHORTEST = 3
"""Letters of any English word that may stand beside a listed one; of shorter ones only those below may."""

_CAREFUL = ("shit", "cunt", "slut")
"""Stems that names of people and places hold ("Harshit"): beside them a word has a letter more."""

_BESIDE = words(
    "all and big dirty dumb eat face get go hell her him holy hot it little me my no of off oh piece please so son "
    "stupid suck that the them this up us what ya yall yes you your yourself "
    "any are but can did for gay god had has how jew let lol man men not now one our out see she shut too was who why"
)
"""Short words that may stand beside a listed word; nothing as short as an ending: "shita" is Japanese."""

_BEFORE = words("an as at be by do he i if in is on or to un we")
"""What may stand at the beginning of a run, or between two words that are not listed."""

_SHORT = words("a an as at be by do go he i if in is it me my no of off on or so to up us we the and you all")
"""The short words of harmless runs: "pushit" is "push it"."""


class ToxicToken(NamedTuple):
    """A word of a folded text."""

    start: int
    """Where it starts in the folded text."""
    end: int
    """Where it ends, exclusive."""
    word: str
    """The listed word that is meant, or the word as it stands."""


class WordReading(NamedTuple):
    """The words of a text as the counter sees them."""

    words: int
    """All words of the text: runs of letters and digits."""
    tokens: list[ToxicToken]
    """The words that may count or be part of a phrase, in order, disguised ones as what they mean."""


def read(text: str, book: Lexicon) -> WordReading:
    """Read the words of a folded text."""
    bare = text.translate(_NO_WORD) if text.isascii() else re.sub(r"\W", " ", text)
    words = bare.split()
    present = set(words)
    spans = suspects(text, bare, present)
    runs = joined_words(bare, present, book)
    gestures = [ToxicToken(*match.span(), _GESTURE) for match in _GESTURES.finditer(text)] if _GESTURE in text else []
    # Most texts end here, and the set shows it far faster than a look at each word.
    if not spans and not runs and not gestures and book.triggers.isdisjoint(present):
        return WordReading(len(words), [])
    disguised = [token for start, end in spans for token in _read_run(text[start:end].replace("-", "*"), start, book)]
    telling = book.triggers.intersection(present).union(token.word for token in disguised)
    wanted = telling.union(*(book.companions.get(word, ()) for word in telling)) & present
    for start, end in spans:
        bare = bare[:start] + " " * (end - start) + bare[end:]
    parts = []
    for start, _, run in _places(bare, runs):
        for part in runs[run]:
            parts.append(ToxicToken(start, start + len(part), part))
            start += len(part)
    return WordReading(len(words), sorted([*gestures, *disguised, *_places(bare, wanted), *parts]))


def _places(bare: str, wanted: Iterable[str]) -> Iterator[ToxicToken]:
    """Yield the places of some words in a text of words and spaces."""
    padded = f" {bare} "
    for word in wanted:
        at = padded.find(f" {word} ")
        while at >= 0:
            yield ToxicToken(at, at + len(word), word)
            at = padded.find(f" {word} ", at + len(word) + 1)


def _read_run(run: str, start: int, book: Lexicon) -> Iterator[ToxicToken]:
    """Read a run of letters, digits and symbols: one disguised word, or else the words between the symbols."""
    if run.isalpha():
        if word := disguised_word(run, book):
            yield ToxicToken(start, start + len(run), word)
        return
    # A word spelled out, "f.u.c.k"; an article before it is not part of it: "a f u c k i n g mess".
    if not run[1:2].isalnum() and SPELLED.fullmatch(run):
        for skipped in (0, 2) if run[:2] in ("a ", "i ") else (0,):
            letters = re.sub(r"[^a-z]", "", run[skipped:])
            if len(letters) >= 4 and letters in book.words:
                yield ToxicToken(start + skipped, start + len(run), letters)
                return
    core = run.lstrip("*#%!")
    begin = start + len(run) - len(core)
    core = core.rstrip("#%!")
    # Asterisks at the end are emphasis or a footnote unless the spelling is one that everybody uses.
    word = None if run[0] == "*" else book.spellings.get(core)
    if not word:
        core = core.rstrip("*#%!")
        word = book.spellings.get(core) or disguised_word(core, book)
    if word:
        yield ToxicToken(begin, begin + len(core), word)
        return
    for part in _WORD.finditer(run):
        word = part[0] if part[0] in book.known else disguised_word(part[0], book)
        if word:
            yield ToxicToken(start + part.start(), start + part.end(), word)


def joined_words(text: str, present: Iterable[str], book: Lexicon) -> dict[str, list[str]]:
    """Return the words that are several in one, and what they are made of: "fuckyou" of "fuck" and "you".

    A listed word stands next to English words, and nothing may be left over: "Scunthorpe" is no such word. Neither is
    one that is English itself ("bastardize"), nor one that is also made of harmless words alone ("pushit").

    Args:
        text: a folded text.
        present: its words.
        book: what counts.
    """
    # Few texts hold any of them.
    likely = [
        word for stem in book.stems if stem in text for word in present if stem in word and word not in book.known
    ]
    return {word: parts for word in likely if len(word) <= MAX_LENGTH and (parts := _parts(word, book))}


def _parts(word: str, book: Lexicon) -> list[str] | None:
    shortest = SHORTEST + any(stem in word for stem in _CAREFUL)

    def is_listed(part: str) -> bool:
        return part in book.words and part.startswith(book.stems)

    def is_ordinary(part: str) -> bool:
        return len(part) >= shortest and part not in book.words and _is_english(part)

    def may_stand(part: str, start: int) -> bool:
        if is_listed(part) or part in _BESIDE or is_ordinary(part):
            return True
        # A short word is at the beginning, or between words that are no stem: "shitan" is a name.
        leads = start + len(part) < len(word) and not word[:start].endswith(book.stems)
        return part in _BEFORE and leads

    if _is_english(word) or word in book.never_joined:
        return None
    if plain := _split(word, lambda part, start: part in _SHORT or is_ordinary(part)):
        # Where no stem is made of whole parts, it is another word: "pushit" is, "wetback" of "wet" and "back" is not.
        edges = {0, *accumulate(map(len, plain))}
        places = ((word.find(stem), len(stem)) for stem in book.stems)
        if not any({place, place + length} <= edges for place, length in places if place >= 0):
            return None
    parts = _split(word, may_stand)
    return parts if parts and any(map(is_listed, parts)) else None


def _is_english(word: str) -> bool:
    return word in vocabulary().flags or word in table()


def _split(word: str, may_stand: Callable[[str, int], bool]) -> list[str] | None:
    """Split a word into the longest words first from the left, and shorter ones where the rest would be left over."""
    # From the right, so that each rest is read once however many ways lead to it.
    rest: list[list[str] | None] = [*([None] * len(word)), []]
    for start in reversed(range(len(word))):
        for end in range(len(word), start, -1):
            after = rest[end]
            if after is not None and may_stand(word[start:end], start):
                rest[start] = [word[start:end], *after]
                break
    return rest[0]


def suspects(text: str, bare: str, present: set[str]) -> list[Span]:
    """Return where a word may be in disguise: separate from each other, in order.

    Args:
        text: a folded text.
        bare: the same with a space for every character that is not part of a word.
        present: the words of `bare`.
    """
    spans = list(_around([match.start() for match in TRIPLE.finditer(bare)], bare))
    if marked := [match.start() for match in _MARKED.finditer(text)]:
        spans += _around(marked, text.translate(_NO_RUN) if text.isascii() else _NOT_IN_RUNS.sub(" ", text))
    if len(present & _LETTERS) >= 3 and not present.isdisjoint(_SELDOM_ALONE):
        spans += (match.span() for match in SPELLED.finditer(text))
    if "--" in text:
        spans += (match.span() for match in _DASHED.finditer(text))
    kept: list[Span] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _around(places: Iterable[int], spaced: str) -> Iterator[Span]:
    """Yield the stretches between spaces that some places lie in, each once."""
    end = 0
    for place in places:
        if place >= end:
            start = spaced.rfind(" ", end, place) + 1 or end
            end = spaced.find(" ", place)
            end = len(spaced) if end < 0 else end
            yield start, end
