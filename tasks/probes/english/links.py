"""How likely a word opens a clause of its own: "that", "because", "after", a bare relative. Log-odds, as in `odds`."""

from __future__ import annotations

import math
from typing import NamedTuple

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import is_finite_aux
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.words import words

NO = -math.inf
_NO_CLAUSE = words("of than as")
_AS_BEFORE = words("soon long far much just")
_TO_INFINITIVE = words("how what where when whether who which")


class Link(NamedTuple):
    """Log-odds of the two readings of a word that may open a clause."""

    opens: float
    """It opens one."""
    passes: float
    """It does not; `NO` when it must."""


def link(s: Sentence, i: int, start: int) -> Link | None:
    """The readings of word `i` as an opener; None when it is none."""
    tag = s.tags[i]
    if tag & f.OPENER:
        return _that(s, i, start) if s.words[i] == "that" else _opener(s, i, tag)
    if tag & f.LOOSE and not tag & f.FINITE:
        return Link(_loose(s, i, start), -1.0 if i == start else 0.0)
    if tag & (f.NP_START | f.NAME) and not tag & f.AUX and i > start and _follows_noun(s, i):
        return Link(-0.7 if tag & f.SUBJ and not tag & f.DET else -1.8, 0.0)
    return None


def _opener(s: Sentence, i: int, tag: int) -> Link | None:
    word, after = s.words[i], s.tag(i + 1)
    if word in _TO_INFINITIVE and s.word(i + 1) == "to":
        return None
    if word in ("what", "which", "whose") and s.tag(i - 1) & f.PREP and not after & (f.NP_START | f.AUX):
        return Link(0.0, 0.0)
    if tag & f.SUB and after & (f.ING | f.PART | f.ADJ | f.PREP | f.BREAK):
        return Link(-0.5, 0.0)  # "while driving", "if possible"
    return Link(0.0, NO)


def _that(s: Sentence, i: int, start: int) -> Link:
    """Whether "that" opens a clause, or points at something: "that book", "That is good"."""
    before, after = s.tag(i - 1), s.tag(i + 1)
    if i == start or before & (f.PREP | f.TO) or s.word(i - 1) in ("than", "as", "like"):
        return Link(0.0, -2.0 if after & f.NP_START else 1.0)
    if before & f.NOUN and not before & f.VERB:
        return Link(0.0, -4.0)
    if before & (f.BREAK | f.COORD) and is_finite_aux(s, i + 1):
        return Link(0.0, 0.0)
    return Link(0.0, -1.5)


def _loose(s: Sentence, i: int, start: int) -> float:
    """Log-odds that "after", "as", "than" … opens a clause rather than a phrase."""
    if s.words[i] == "as" and (s.word(i - 1) in _AS_BEFORE or (i == start + 1 and s.tags[start] & f.ADJ)):
        return 0.5  # "as soon as", "strange as it seems"
    if i == start:
        return 1.0 if s.word(i + 1) not in _AS_BEFORE else -3.0
    return -3.0 if s.words[i] in _NO_CLAUSE else -0.3


def _follows_noun(s: Sentence, i: int) -> bool:
    """Whether a noun phrase may open a clause without a conjunction: "the food they eat", "I think he is"."""
    before = s.tags[i - 1]
    return bool(before & f.EMBED) or (bool(before & (f.NOUN | f.SUBJ)) and not before & (f.CLOSED & ~f.SUBJ))
