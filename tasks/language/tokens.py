"""What a spelling is, wherever it stands: a word and its flags, or a mark."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from contrapose.tasks.language import closed, vocabulary
from contrapose.tasks.language import flags as f

WORD, IDLE, BREAK, QUOTE = range(4)
"""What a token is: a word, a mark that says nothing, a comma or dash, a quotation mark or bracket."""
BREAKS = ",;:-\u2013—…"
MOST_SEEN = 1 << 16
"""Spellings kept; beyond it all are forgotten."""
_QUOTES = "\"'`“”\u2018«»()[]"


class Token(NamedTuple):
    """A spelling, and what it is."""

    word: str
    """Lower case, straight apostrophes."""
    tag: int
    """Its flags at the start of a sentence."""
    name: int
    """Its flags inside one, when it may be a name there; else 0."""
    kind: int
    """One of the four kinds."""


class Seen(dict[str, Token]):
    """Every spelling met so far: a dict, since looking words up is most of the work."""

    def __missing__(self, spelled: str) -> Token:
        """Note what a new spelling is."""
        if len(self) >= MOST_SEEN:
            self.clear()
        return self.setdefault(spelled, token(spelled))


@cache
def seen() -> Seen:
    """The spellings met so far in this process."""
    return Seen()


def token(spelled: str) -> Token:
    """What a word or a single mark is."""
    first = spelled[0]
    if not first.isalnum() and first != "_":
        kind = BREAK if first in BREAKS else QUOTE if first in _QUOTES else IDLE
        return Token(spelled, f.BREAK, 0, kind)
    word = spelled.lower().replace("\u2019", "'").replace("`", "'").replace("\u00b4", "'")
    tag = flags_of(word)
    return Token(word, tag, _as_name(tag, word, spelled) if first.isupper() else 0, WORD)


def flags_of(word: str) -> int:
    """All that a word in lower case can be."""
    known = closed.table().get(word)
    if known is not None:
        if word in closed.OPEN_TOO:
            return known | vocabulary.look_up(word)
        if word in closed.OPEN_NOMINALS:
            return known | vocabulary.look_up(word) & (f.NOUN | f.ADJ)
        return known
    if word.endswith("n't"):
        return f.NEG
    if word[0].isdigit():
        return f.NUMBER | f.SINGULAR | f.PLURAL
    return vocabulary.look_up(word)


def is_unknown(word: str) -> bool:
    """Whether a word in lower case has no class in the dictionary or by its ending: with a capital it is a name."""
    return word.isalpha() and word not in vocabulary.vocabulary().flags and not flags_of(word) & ~f.NOUN


_NO_NAMES = ("should", "would", "could", "must")


def _as_name(tag: int, word: str, spelled: str) -> int:
    """A capitalised word inside a sentence is a name, and no verb, unless it is a word that names rarely are.

    An adverb in the dictionary is such a word; one by its ending alone ("Rugely") is not.
    """
    guessed = vocabulary.ends_as_adverb(word) and word not in vocabulary.vocabulary().flags
    if tag & f.CLOSED and (not tag & f.MODAL or word in _NO_NAMES) and spelled not in closed.ACRONYMS and not guessed:
        return tag
    return f.NAME | (tag & f.NOUN or f.SINGULAR) | (f.NEG if word.endswith("n't") else 0)
