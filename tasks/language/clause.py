"""Finds the finite verb of the main clause: the reading in which every clause has exactly one.

A word of many readings is a verb where its clause would else have none. So the words are read left to right, the
likeliest readings are kept with their log-odds, and the best total decides. Until a word opens or joins a clause, a
reading is no more than the main verb it has found; `search` goes on from there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.context import after_adverbs
from contrapose.tasks.language.odds import NEVER, finite_odds
from contrapose.tasks.language.search import (
    BEAM,
    BEFORE_CONTACT,
    JOINTS,
    NOMINAL,
    OPENERS,
    UNLICENSED,
    VERBAL,
    States,
    ending,
    last_joint,
    main_odds,
    prune,
    search,
    unexplained,
)
from contrapose.tasks.language.sentence import Sentence

_TURNS = OPENERS | JOINTS
_NO_FINITE = f.TO | f.BE | f.HAVE | f.MODAL | f.DO | f.CLITIC
_NOT_BASE = f.THIRD | f.PAST | f.EMBED
_NOMINAL_TOO = f.NOUN | f.ADJ
_POINTS = f.SUBJ | f.REL


class Clause(NamedTuple):
    """The main clause of a sentence."""

    start: int
    """Index of its first word."""
    verb: int
    """Index of its finite verb; -1 when it has none."""
    lexical: bool
    """Whether that is a full verb, which needs "do" to be negated."""
    others: tuple[int, ...]
    """Indices of the finite verbs of further main clauses or predicates."""
    margin: float
    """Log-odds between this reading and the best one with another main verb."""


_NO_CLAUSE = Clause(start=-1, verb=-1, lexical=False, others=(), margin=BEAM)


def find_clause(s: Sentence, start: int) -> Clause:
    """The main clause that starts at word `start`."""
    verbs = _candidates(s, start)
    if not verbs:
        return _contracted(s, start)
    if len(verbs) == 1 and not any(tag & OPENERS for tag in s.tags[start : verbs[0]]):
        return _only(s, verbs[0], start)
    mains, joint = {-1: 0.0}, last_joint(s)
    at = start
    for i in verbs:
        turn = _turn(s, at, i)
        if turn is not None:
            states: States = {(main, (), (), False, -1): odds for main, odds in mains.items()}
            return _decide(s, start, search(s, start, turn, verbs, states))
        mains = _weigh(s, i, start, mains)
        if len(mains) == 1 and i in mains and i > joint:
            return Clause(start, i, not s.tags[i] & f.AUX, (), BEAM)
        at = i + 1
    if -1 in mains:
        mains[-1] += ending(s, has_verb=False)
    return _clause(s, start, max(mains, key=mains.__getitem__), (), mains)


def _candidates(s: Sentence, start: int) -> list[int]:
    """Indices of the words that may be finite verbs, judged by the words next to them alone."""
    verbal = ((i, s.tags[i]) for i in range(start, len(s.tags)) if s.tags[i] & VERBAL)
    return [i for i, tag in verbal if tag & f.AUX or _may_be_finite(s, i, start)]


def _may_be_finite(s: Sentence, i: int, start: int) -> bool:
    """Whether the words next to it let a full verb be finite."""
    if i == start:
        return True
    k, tag, before = i - 1, s.tags[i], s.tags[i - 1]
    while s.tag(k) & f.ADV:
        k -= 1
    if s.tag(k) & _NO_FINITE and not (s.tag(k) & f.AUX and s.tag(k - 1) & f.DET):
        return False  # but "the can rusts"
    if not tag & _NOMINAL_TOO or tag & f.CLOSED:
        return True
    if before & f.DET and not before & _POINTS:
        return False
    return not (before & f.SINGULAR and not tag & _NOT_BASE and s.tag(i + 1) & f.AUX)


def _turn(s: Sentence, begin: int, end: int) -> int | None:
    """Index of the first word, `begin` to `end` inclusive, that may open or join a clause; None when there is none."""
    for k in range(begin, end + 1):
        tag = s.tags[k]
        if tag & _TURNS or (tag & NOMINAL and s.tag(k - 1) & BEFORE_CONTACT):
            return k
    return end if s.tags[end] & f.EMBED else None


def _weigh(s: Sentence, i: int, start: int, mains: dict[int, float]) -> dict[int, float]:
    """The main verbs found so far, with candidate `i` read as a verb and as none."""
    odds = finite_odds(s, i, start)
    lost = unexplained(s, i) if i + 1 == len(s.tags) else 0.0
    if odds == NEVER and not lost:
        return mains
    weighed = {main: total - lost for main, total in mains.items()} if lost else dict(mains)
    if odds != NEVER:
        for main, total in mains.items():
            if main < 0:
                weighed[i] = total + main_odds(s, i, start, odds)
            else:
                weighed[main] = max(weighed[main], total + (odds + UNLICENSED))
    prune(weighed)
    return weighed


def _decide(s: Sentence, start: int, states: States) -> Clause:
    mains: dict[int, float] = {}
    further: tuple[int, ...] = ()
    verb, most = -1, -math.inf
    for (main, others, waiting, inner, _), odds in states.items():
        total = odds + ending(s, has_verb=main >= 0, waiting=len(waiting), inner=inner)
        mains[main] = max(total, mains.get(main, total))
        if total > most:
            verb, further, most = main, others, total
    return _clause(s, start, verb, further, mains)


def _clause(s: Sentence, start: int, main: int, others: tuple[int, ...], mains: dict[int, float]) -> Clause:
    """The clause with the main verb `main`, likelier than all others in `mains`."""
    rivals = [odds for verb, odds in mains.items() if verb != main]
    margin = mains[main] - max(rivals) if rivals else BEAM
    return Clause(start, main, main >= 0 and not s.tags[main] & f.AUX, others, margin)


def _only(s: Sentence, i: int, start: int) -> Clause:
    """The clause whose one candidate is word `i`, with no opener before it."""
    odds = finite_odds(s, i, start)
    if s.tags[i] & f.AUX and odds > BEAM:
        return Clause(start, i, False, (), BEAM)
    margin = main_odds(s, i, start, odds) - ending(s, has_verb=False)
    if margin <= 0:
        return _NO_CLAUSE
    return Clause(start, i, not s.tags[i] & f.AUX, (), margin)


def _contracted(s: Sentence, start: int) -> Clause:
    """The clause whose verb is an "is" or "has" contracted with a noun: "The dog's sleeping."."""
    for i in range(start, len(s.words) - 1):
        if s.words[i].endswith("'s") and _says(s, after_adverbs(s, i)):
            s.tags[i] |= f.CLITIC
            return Clause(start, i, lexical=False, others=(), margin=1.0)
    return _NO_CLAUSE


def _says(s: Sentence, k: int) -> bool:
    """Whether word `k` opens what is said of a subject."""
    after, behind = s.tag(k), s.tag(k + 1)
    return bool(after & f.DET or (after & (f.ING | f.PART | f.ADJ) and not behind & (f.NOUN | f.ADJ | f.NAME)))
