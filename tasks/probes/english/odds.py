"""How likely a word is the finite verb of a clause, judged by its form and its neighbours.

The numbers are log-odds set by hand: 0 means "as likely as not", 3 about twenty to one.
"""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.after_verb import after
from contrapose.tasks.probes.english.before_verb import NEVER, before
from contrapose.tasks.probes.english.context import before_adverbs, is_finite_aux
from contrapose.tasks.probes.english.number import is_plural_phrase
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.words import words

__all__ = ["FRONTED", "NEVER", "SURE", "agreement", "finite_odds", "relative_odds"]

SURE = 8.0
"""Log-odds of an auxiliary that nothing speaks against."""
FRONTED = f.PREP | f.TO | f.SUB | f.LOOSE | f.ADV | f.ING | f.PART
_FINITE_AUX = f.BE | f.HAVE | f.DO | f.MODAL
_INFLECTED = f.THIRD | f.BASE
_OTHER_CLASSES = f.NOUN | f.ADJ | f.CLOSED | f.PART
_NOMINAL = f.NOUN | f.ADJ
_ONE = words("a an this each every another")
_INTRANSITIVE = words(
    """
    sat stood lived died arrived happened occurred existed appeared disappeared slept remained lasted belonged
    consisted seemed resigned emerged collapsed smiled laughed departed vanished expired elapsed rained snowed
    """
)


def relative_odds(s: Sentence, i: int) -> float:
    """Log-odds that word `i`, right behind "who", "which" or "that", is the verb of that relative clause."""
    tag = s.tags[i]
    if tag & f.AUX:
        return _of_auxiliary(s, i)
    return min(_of_form(s.words[i], tag), 1.0) + after(s, i) + 2.5


def finite_odds(s: Sentence, i: int, start: int) -> float:
    """Log-odds that word `i` is a finite verb in the clause that starts at `start`; NEVER when it cannot be.

    Agreement with the subject is left out (`agreement`).
    """
    tag = s.tags[i]
    if tag & f.AUX:
        return _of_auxiliary(s, i)
    odds = before(s, i, start)
    return odds if odds == NEVER else _of_form(s.words[i], tag) + odds + after(s, i)


def agreement(s: Sentence, i: int, start: int) -> float:
    """Log-odds for word `i` agreeing in number with the subject that starts at `start`; the best of its forms."""
    tag = s.tags[i]
    if not tag & _INFLECTED:
        return 0.0  # of auxiliaries there are few, and a past form agrees with all
    if s.tags[start] & FRONTED:
        start = _after_comma(s, start, i)
    plural = is_plural_phrase(s, start, before_adverbs(s, i, start))
    odds = 0.0 if tag & f.PAST else NEVER
    if tag & f.THIRD:
        third = 0.0 if plural is None else -3.0 if plural else 1.5
        if s.words[start] in _ONE and i > start + 1:
            third += 1.5  # "a prism splits" is no noun phrase
        odds = max(odds, third)
    if tag & f.BASE:
        odds = max(odds, -0.3 if plural is None else 1.5 if plural else -4.0)
    return odds


def _after_comma(s: Sentence, start: int, end: int) -> int:
    """Where the subject starts behind a fronted phrase that a comma ends."""
    return next((k + 1 for k in range(start, end) if s.words[k] == ","), start)


def _of_auxiliary(s: Sentence, i: int) -> float:
    if not is_finite_aux(s, i):
        return NEVER
    k = before_adverbs(s, i)
    return 1.0 if s.tag(k) & _FINITE_AUX and is_finite_aux(s, k) else SURE


def _of_form(word: str, tag: int) -> float:
    """What the word alone says."""
    if tag & f.RARELY_VERB:
        return -2.5
    if not tag & _OTHER_CLASSES or word in _INTRANSITIVE:
        return 3.0
    if tag & f.USUALLY_VERB or (tag & f.PART and not tag & _NOMINAL):
        return 0.8
    if tag & f.CLOSED:
        return -1.0
    return -1.5 if tag & f.USUALLY_ADJ else -0.9
