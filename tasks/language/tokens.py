"""What a spelling is, wherever it stands: a word and its flags, or a mark."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from contrapose.tasks.language import closed, vocabulary
from contrapose.tasks.language import flags as f

WORD, IDLE, BREAK, QUOTE = range(4)
"""What a token is: a word, a mark that says nothing, a comma or dash, a quotation mark or bracket."""
BREAKS = ",;:-\u2013—…"

_QUOTES = "\"'`“”\u2018«»()[]"
_NO_NAMES = ("should", "would", "could", "must")


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


@lru_cache(maxsize=1 << 16)
def read_token(spelled: str) -> Token:
    """Return the token of a word or a single mark.

    A capitalised word inside a sentence is a name, and no verb, unless it is a word that names rarely are. An adverb in
    the dictionary is such a word; one by its ending alone ("Rugely") is not.
    """
    first = spelled[0]
    if not first.isalnum() and first != "_":
        kind = BREAK if first in BREAKS else QUOTE if first in _QUOTES else IDLE
        return Token(spelled, f.BREAK, 0, kind)
    word = spelled.lower().replace("\u2019", "'").replace("`", "'").replace("\u00b4", "'")
    tag = flags_of(word)
    if not first.isupper():
        return Token(word, tag, 0, WORD)
    guessed = vocabulary.ends_as_adverb(word) and word not in vocabulary.vocabulary().flags
    if tag & f.CLOSED and (not tag & f.MODAL or word in _NO_NAMES) and spelled not in closed.ACRONYMS and not guessed:
        return Token(word, tag, tag, WORD)
    name = f.NAME | (tag & f.NOUN or f.SINGULAR) | (f.NEG if word.endswith("n't") else 0)
    return Token(word, tag, name, WORD)


def flags_of(word: str) -> int:
    """Return the flags of everything that a word in lower case can be."""
    known = closed.table().get(word)
    if known is not None:
        nominal = vocabulary.look_up(word) & (f.NOUN | f.ADJ) if word in closed.OPEN_NOMINALS else 0
        return known | (vocabulary.look_up(word) if word in closed.OPEN_TOO else nominal)
    if word.endswith("n't"):
        return f.NEG
    if word[0].isdigit():
        return f.NUMBER | f.SINGULAR | f.PLURAL
    return vocabulary.look_up(word)


def is_unknown(word: str) -> bool:
    """Return whether neither dictionary nor ending gives a word in lower case a class: with a capital it is a name."""
    return word.isalpha() and word not in vocabulary.vocabulary().flags and not flags_of(word) & ~f.NOUN
