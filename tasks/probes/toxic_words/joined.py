"""See through words that are written without the spaces between them."""

from __future__ import annotations

from collections.abc import Iterable

from contrapose.tasks.probes.english.words import words
from contrapose.tasks.probes.toxic_words.lexicon import Lexicon
from contrapose.tasks.probes.toxic_words.spelling import MAX_LENGTH

STEMS = ("fuck", "shit", "bitch", "cunt", "asshole")
"""A run of words may count when one of these is in it; hardly any innocent word holds them."""

_BESIDE = words(
    "all and big dirty dumb eat face get go hell her him holy hot it little me my no of off oh piece please so son "
    "stupid suck that the them this up us what ya yall yes you your yourself"
)
"""What may stand beside a listed word; nothing as short as an ending: "shita" is Japanese."""


def joined(text: str, present: Iterable[str], book: Lexicon) -> dict[str, list[str]]:
    """The words that are several in one, and what they are made of: "fuckyou" of "fuck" and "you".

    Nothing may be left over: "Scunthorpe" is no such word.

    Args:
        text: a folded text.
        present: its words.
        book: what counts.
    """
    # Few texts hold any of them.
    likely = [word for stem in STEMS if stem in text for word in present if stem in word and word not in book.known]
    return {word: parts for word in likely if len(word) <= MAX_LENGTH and (parts := _parts(word, book))}


def _parts(word: str, book: Lexicon) -> list[str] | None:
    """The longest words first from the left, and shorter ones where the rest would be left over."""
    # From the right, so that each rest is read once however many ways lead to it.
    rest: list[list[str] | None] = [*([None] * len(word)), []]
    for start in reversed(range(len(word))):
        for end in range(len(word), start, -1):
            after, part = rest[end], word[start:end]
            if after is not None and (part in _BESIDE or (part in book.words and part.startswith(STEMS))):
                rest[start] = [part, *after]
                break
    return rest[0]
