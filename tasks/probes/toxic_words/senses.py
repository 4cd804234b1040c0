"""Listed words that mean something else in some places: a bitch may be a dog, and ice may retard a reaction.

Only the sentence around a word is looked at, and of it no more than a fixed length.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from contrapose.tasks.probes.english.words import words

REACH = 160
"""Characters on either side of a word that are looked at."""

_SENTENCE_END = re.compile(r"[.!?\n]")
_WORD = re.compile(r"\w+")
_BEFORE_VERB = words(
    "to will would can could may might must should shall cannot not t ll it which they we further greatly severely"
)
_AFTER_VERB = words("the a an its their any each such further by")
_ABUSING = words(
    "you u ya fucking fuckin bloody damn goddamn stupid dumb dirty filthy disgusting ugly nasty vile worthless useless "
    "pathetic lousy sick evil idiotic arrogant"
)
_BEFORE_NOUN = words("a an the this that such another every your some no like of called")
_AFTER_NOUN = words(
    "is are was were be am s should could can will would must may might do does did don has have had who whom whose that "
    "which if when because at as in on to with for from like than then too so not never i he she we they you here there"
)
_NOT_OURSELVES = words("we us our fellow im am")


class Sense(NamedTuple):
    """In what places a listed word is not the bad one."""

    beside: frozenset[str]
    """Words of the same sentence that tell its harmless sense."""
    verb: bool
    """Whether it is harmless as a verb."""
    only: Literal["", "noun", "abuse"]
    """Where alone it is bad: as a noun ("a queer"), or right behind abuse ("you …", "filthy …")."""


class Place(NamedTuple):
    """The sentence around a word."""

    before: list[str]
    """The words before it; the last of them stands beside it."""
    after: list[str]
    """The words after it."""
    closed: bool
    """Whether punctuation, or nothing, follows directly."""


def place(text: str, start: int, end: int) -> Place:
    """The sentence around a word of a folded text."""
    before = _SENTENCE_END.split(text[max(0, start - REACH) : start])[-1]
    behind = text[end : end + REACH]
    after = _SENTENCE_END.split(behind)[0]
    return Place(_WORD.findall(before), _WORD.findall(after), not re.match(r"[\s'’-]*\w", behind))


def harmless(word: str, sense: Sense, at: Place) -> bool:
    """Whether a listed word has its harmless sense in a place; behind abuse it never has."""
    last, following = at.before[-1] if at.before else "", at.after[0] if at.after else ""
    if last in _ABUSING:
        return sense.only != "" and _describes(at, following)
    if sense.only == "abuse" or not sense.beside.isdisjoint([*at.before, *at.after]):
        return True
    if sense.verb and (last in _BEFORE_VERB or following in _AFTER_VERB) and not (last == "t" and word[-2:] == "ed"):
        return True
    return sense.only == "noun" and not _is_noun(word, at, last, following)


def _describes(at: Place, following: str) -> bool:
    """Whether a word stands before the noun that it describes: "queer theory"."""
    return not at.closed and following not in _AFTER_NOUN and following not in ("and", "or")


def _is_noun(word: str, at: Place, last: str, following: str) -> bool:
    if _describes(at, following) or following in ("and", "or") or not _NOT_OURSELVES.isdisjoint(at.before[-3:]):
        return False
    plural = word.endswith("s")
    return last not in _BEFORE_VERB and (plural or last in _BEFORE_NOUN)
