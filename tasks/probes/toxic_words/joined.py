"""See through words that are written without the spaces between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate

from contrapose.tasks.probes.english.closed import table
from contrapose.tasks.probes.english.vocabulary import vocabulary
from contrapose.tasks.probes.english.words import words
from contrapose.tasks.probes.toxic_words.lexicon import Lexicon
from contrapose.tasks.probes.toxic_words.spelling import MAX_LENGTH

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


def joined(text: str, present: Iterable[str], book: Lexicon) -> dict[str, list[str]]:
    """The words that are several in one, and what they are made of: "fuckyou" of "fuck" and "you".

    A listed word stands beside English words, and nothing may be left over: "Scunthorpe" is no such word. Neither is
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

    def listed(part: str) -> bool:
        return part in book.words and part.startswith(book.stems)

    def ordinary(part: str) -> bool:
        return len(part) >= shortest and part not in book.words and _is_english(part)

    def may_stand(part: str, start: int) -> bool:
        return (
            listed(part) or part in _BESIDE or ordinary(part) or (part in _BEFORE and _leads(word, start, part, book))
        )

    if _is_english(word) or word in book.never_joined:
        return None
    plain = _split(word, lambda part, start: part in _SHORT or ordinary(part))
    parts = None if plain and _cuts_through(plain, word, book) else _split(word, may_stand)
    return parts if parts and any(map(listed, parts)) else None


def _is_english(word: str) -> bool:
    return word in vocabulary().flags or word in table()


def _leads(word: str, start: int, part: str, book: Lexicon) -> bool:
    """Whether a short word is at the beginning, or between words that are no stem: "shitan" is a name."""
    return start + len(part) < len(word) and not word[:start].endswith(book.stems)


def _cuts_through(parts: list[str], word: str, book: Lexicon) -> bool:
    """Whether no stem is made of whole parts: "wetback" of "wet" and "back" is no other word, "pushit" is."""
    edges = {0, *accumulate(map(len, parts))}
    places = ((word.find(stem), len(stem)) for stem in book.stems)
    return not any({place, place + length} <= edges for place, length in places if place >= 0)


def _split(word: str, may_stand: Callable[[str, int], bool]) -> list[str] | None:
    """The longest words first from the left, and shorter ones where the rest would be left over."""
    # From the right, so that each rest is read once however many ways lead to it.
    rest: list[list[str] | None] = [*([None] * len(word)), []]
    for start in reversed(range(len(word))):
        for end in range(len(word), start, -1):
            after = rest[end]
            if after is not None and may_stand(word[start:end], start):
                rest[start] = [word[start:end], *after]
                break
    return rest[0]
