"""Listed words that mean something else in some places: a bitch may be a dog, and ice may retard a reaction.

Only the sentence around a word is looked at, and of it no more than a fixed length.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from contrapose.tasks.language.closed import words

REACH = 160
"""Characters on either side of a word that are looked at."""

_SENTENCE_END = re.compile(r"[.!?\n]")
_WORD = re.compile(r"\w+")
_ADJOINING = re.compile(r"[\s'’-]{0,4}\w")
_BEFORE_VERB = words(
    "to will would can could may might must should shall cannot not t ll it which they we further greatly severely"
)
_AFTER_VERB = words("the a an its their any each such further by")
_ABUSING = words(
    "you u ya fucking fuckin bloody damn goddamn stupid dumb dirty filthy disgusting ugly nasty vile worthless useless "
    "pathetic lousy sick evil idiotic arrogant"
)
_BEFORE_NOUN = words("a an the another every your")
_BEFORE_NOUN_TOO = words("this that such some no like of called")
_AFTER_NOUN = words(
    "is are was were be am s should could can will would must may might do does did don has have had who whom "
    "whose that which if when because at as in on to with for from like than then too so not never i he she we they "
    "you here there"
)
_YOU_ARE = re.compile(r"\b(?:you are|you re|youre|ur|u r) (?!not\b|right\b|welcome\b)")
_OURSELVES = words("we us our fellow im am")


class Sense(NamedTuple):
    """In what places a listed word is not the bad one."""

    beside: frozenset[str]
    """Words of the same sentence that tell its harmless sense."""
    verb: bool
    """Whether it is harmless as a verb."""
    only: Literal["", "noun", "abuse"]
    """Where alone it is bad: as a noun ("a prick"), or as abuse ("you are a …", "filthy …")."""
    own: bool
    """Whether a group calls itself so: as an adjective, or of "us", it is no abuse."""


class WordPlace(NamedTuple):
    """The sentence around a word."""

    before: list[str]
    """The words before it; the last of them stands next to it."""
    after: list[str]
    """The words after it."""
    opened: bool
    """Whether punctuation, or nothing, stands directly before it."""
    closed: bool
    """Whether punctuation, or nothing, follows directly."""


def place(text: str, start: int, end: int) -> WordPlace:
    """Return the sentence around a word of a folded text."""
    before = _SENTENCE_END.split(text[max(0, start - REACH) : start])[-1]
    behind = text[end : end + REACH]
    after = _SENTENCE_END.split(behind)[0]
    opened = not _ADJOINING.match(before[::-1])
    return WordPlace(_WORD.findall(before), _WORD.findall(after), opened, not _ADJOINING.match(behind))


def is_harmless(word: str, sense: Sense, at: WordPlace) -> bool:
    """Return whether a listed word has its harmless sense in a place; as abuse it never has."""
    last, following = at.before[-1] if at.before else "", at.after[0] if at.after else ""
    # It stands before the noun that it describes: "queer theory", "queer and trans people".
    describes = not at.closed and following not in _AFTER_NOUN
    if sense.own and (describes or not _OURSELVES.isdisjoint(at.before[-3:])):
        return True
    if last in _ABUSING:
        return False
    if not sense.beside.isdisjoint([*at.before, *at.after]):
        return True
    # "isn't retarded" is no verb.
    is_verb = following in _AFTER_VERB or (last in _BEFORE_VERB and not (last == "t" and word.endswith("ed")))
    if sense.verb and is_verb:
        return True
    if sense.only and at.opened and at.closed:
        return False  # set off on both sides, as in "hey, you fool, wait": somebody is called so
    if sense.only == "abuse":
        # "You are nothing but a …", "a … like you".
        return at.after[:2] != ["like", "you"] and not _YOU_ARE.search(" ".join(at.before[-8:]))
    if sense.only != "noun":
        return False
    # A word that is a verb too is a noun behind an article, or where no object of a verb follows.
    if following == "of" or last in _BEFORE_VERB or last == "bit":
        return True  # "It is a bit queer" says how it is.
    plural = word.endswith("s")
    if not plural and not _BEFORE_NOUN.isdisjoint(at.before[-3:]):
        return False
    return describes or not (plural or last in _BEFORE_NOUN_TOO)
