"""Find the main verb of a sentence, for example to negate it; of several readings the likeliest counts.

A word with several readings is a verb if its clause has no other verb. So the search reads the words from left to
right, keeps the most likely readings with their log-odds, and chooses the best total.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language import search
from contrapose.tasks.language.context import index_after_adverbs, index_before_adverbs, is_finite_aux
from contrapose.tasks.language.odds import INTRANSITIVE, SHORT, agrees_as_verb, score_finite_verb
from contrapose.tasks.language.sentence import Sentence
from contrapose.tasks.language.vocabulary import ends_as_adverb, is_unknown

_NO_FINITE = f.TO | f.BE | f.HAVE | f.MODAL | f.DO | f.CLITIC
_NOT_BASE = f.THIRD | f.PAST | f.EMBED
_NOMINAL_TOO = f.NOUN | f.ADJ
_POINTS = f.SUBJ | f.REL


class Clause(NamedTuple):
    """The main clause of a sentence."""

    start: int
    verb: int
    """Index of its finite verb; -1 when it has none."""
    lexical: bool
    """Whether that is a full verb, which needs "do" to be negated."""
    others: tuple[int, ...]
    """Indices of the finite verbs of further main clauses or predicates."""
    margin: float
    """Log-odds between this reading and the best one with another main verb."""


_NO_CLAUSE = Clause(start=-1, verb=-1, lexical=False, others=(), margin=search.BEAM)


def find_clause(s: Sentence, start: int) -> Clause:
    """Return the main clause that starts at word `start`."""
    verbal = ((i, s.tags[i]) for i in range(start, len(s.tags)) if s.tags[i] & search.VERBAL)
    verbs = [i for i, tag in verbal if tag & f.AUX or _may_be_finite(s, i, start)]
    if not verbs:
        # An "is" or "has" contracted with a noun: "The dog's sleeping."
        for i in range(start, len(s.words) - 1):
            k = index_after_adverbs(s, i)
            after, behind = s.tag(k), s.tag(k + 1)
            if s.words[i].endswith("'s") and (
                after & f.DET or (after & (f.ING | f.PART | f.ADJ) and not behind & (f.NOUN | f.ADJ | f.NAME))
            ):
                s.tags[i] |= f.CLITIC
                return Clause(start, i, lexical=False, others=(), margin=1.0)
        return _NO_CLAUSE
    relative = s.tags[verbs[0]] & f.CLITIC and verbs[0] > start
    if len(verbs) == 1 and not relative and not any(tag & search.OPENERS for tag in s.tags[start : verbs[0]]):
        i = verbs[0]
        odds = score_finite_verb(s, i, start)
        margin = search.BEAM
        if not s.tags[i] & f.AUX or odds <= search.BEAM:
            margin = search.score_main_verb(s, i, start, odds) - search.score_ending(s, has_verb=False)
        if margin <= 0:
            return _NO_CLAUSE
        return Clause(start, i, not s.tags[i] & f.AUX, (), margin - _score_weakness(s, i, start))
    mains, further = dict[int, float](), tuple[int, ...]()
    verb, most = -1, -math.inf
    for (main, others, waiting, inner, _), odds in search.search_clauses(s, start, verbs).items():
        total = odds + search.score_ending(s, has_verb=main >= 0, waiting=len(waiting), inner=inner)
        mains[main] = max(total, mains.get(main, total))
        if total > most:
            verb, further, most = main, others, total
    rivals = [odds for main, odds in mains.items() if main != verb]
    margin = most - max(rivals) if rivals else search.BEAM
    return Clause(
        start, verb, verb >= 0 and not s.tags[verb] & f.AUX, further, margin - _score_weakness(s, verb, start)
    )


def _may_be_finite(s: Sentence, i: int, start: int) -> bool:
    """Return whether a full verb may be finite, by its neighbours."""
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


_NO_VERB = f.NOUN | f.ADJ | f.PART | f.CLOSED
_NO_OBJECT = f.PREP | f.LOOSE | f.TO | f.SUB | f.ADV | search.JOINTS


def _score_weakness(s: Sentence, i: int, start: int) -> float:
    """Return the log-odds to subtract from a full verb's margin, because a noun may look like a verb in its place."""
    tag, before, after = s.tag(i), s.tag(index_before_adverbs(s, i)), s.tag(index_after_adverbs(s, i))
    aim = s.tags[start] & f.TO and "," not in s.words[start:i]
    hidden = any(word & search.OPENERS for word in s.tags[start:i])
    if tag & f.AUX and i > start and aim and any(word & f.EMBED for word in s.tags[start:i]):
        return 5.0  # "To make sure it is …"
    finite = f.EMBED | f.USUALLY_VERB
    telling = (word for word in s.tags[start + 1 : i - 1] if word & finite == finite and word & (f.PAST | f.THIRD))
    if tag & f.AUX and not s.closed and not hidden and any(not word & f.BASE for word in telling):
        return 3.0  # "Minister denies talks will fail"
    pronoun = before & f.SUBJ and not before & f.DET
    if i <= start or tag & f.AUX or not tag & _NO_VERB or pronoun or agrees_as_verb(s, i):
        return 0.0
    has_object = bool(after & (f.DET | f.OBJ | f.QUANT | f.QUOTED | f.NUMBER)) and not after & f.REL
    opened = tag & f.THIRD and i + 1 == len(s.words) and s.tags[start] & (f.DET | f.QUANT)  # "The Moon orbits"
    ended = s.closed or opened or s.words[-1] == ":" or s.tags[-1] & search.UNFINISHED
    lost = 0.0 if ended else 0.8
    third = tag & f.THIRD and (has_object or (before & f.NAME and (opened or after & f.TO)))
    if tag & f.USUALLY_NOUN and not third and not ends_as_adverb(s.word(i + 1)):
        lost += 1.0
    if tag & (f.BASE | f.PART) and not ended and not has_object and s.tags[i - 1] & f.THIRD:
        lost += 2.5 * bool(s.tag(i - 2) & (f.NAME | f.SINGULAR))  # "NASA schedules launch date"
    if is_unknown(s.words[i]):
        lost += 1.0
    if tag & f.USUALLY_ADJ and before & f.THIRD and not has_object:
        lost += 1.5  # "sounds fine"
    speaks = tag & f.EMBED and s.tags[start] & (f.DET | f.QUANT) and (not after or after & f.BREAK)
    surely = s.words[i] in INTRANSITIVE or speaks
    if tag & f.PART and not tag & f.BASE and not surely and (not after or after & _NO_OBJECT):
        lost += 2.5 if not ended else 0.0 if after & f.TO else 0.5
    elif tag & f.PART and not ended and (after & f.USUALLY_ADJ or (after & (f.ADJ | f.ING) and not after & f.NOUN)):
        lost += 2.0  # "Journalist reported missing"
    sure = surely if tag & f.PART else opened
    if not sure and (after & search.JOINTS or (not after and tag & (f.NOUN | f.PART))):
        lost += 1.0
    stem = tag & f.PART and not tag & f.EMBED and (s.asks or not s.closed)
    if stem and after & f.NOUN and not after & f.CLOSED:
        behind = range(i + 1, len(s.words))
        stop = next((k for k in behind if s.tags[k] & (f.OPENER | search.JOINTS) or is_finite_aux(s, k)), i)
        lost += 2.5 * (stop > i and is_finite_aux(s, stop))  # "Light cured resin is …"
    if aim or (s.tags[start] & f.PREP and "," not in s.words[start:i] and not before & f.NAME):
        lost += 3.0 if aim else 1.0
    if before & (f.ADJ | f.NUMBER) and not has_object:
        lost += 0.8
    order = s.tags[start] & f.BASE and not s.tags[start] & (f.CLOSED | f.USUALLY_NOUN | f.USUALLY_ADJ)
    noun = tag & f.NOUN or (tag & f.PART and not has_object)
    if s.words[i] == "like" or (order and (noun or before & search.JOINTS or hidden)):
        lost += 2.5  # "Rub orange peels on skin.", "Treat cracked skin."
    short = s.closed and not order and not aim and len(s.words) <= SHORT  # "The gate creaked."
    return max(lost - 1.5, -0.5) if short else lost
