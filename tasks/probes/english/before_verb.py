"""What the word before a candidate says of its being a finite verb. Log-odds, as in `odds`."""

from __future__ import annotations

import math

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import before_adverbs, is_complement, is_finite_aux
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.words import words

NEVER = -math.inf
_HELPED = f.BE | f.HAVE | f.CLITIC
_OPENS = f.BREAK | f.OPENER | f.COORD | f.LOOSE
_DETERMINED = f.DET | f.QUANT
_JOINED = f.BREAK | f.COORD
_BASE_OR_PAST = f.BASE | f.PAST
_BEHIND_ORDER = f.DET | f.QUANT | f.OBJ
_FRONTED = f.SUB | f.LOOSE | f.PREP | f.TO
_CLAUSE = f.REL | f.SUB
_PHRASE = f.PREP | f.ADV | f.LOOSE
_THIRD_OR_PAST = f.THIRD | f.PAST
_NOMINAL = f.NOUN | f.ADJ
_NOMINATIVE = words("i he she we they")
_HEADLESS = words("some many most few several all both these those others this that one two three four five each such")
_HELPING = words("having being been be")
PARTICLES = words("out up off down away over back along around through")


def before(s: Sentence, i: int, start: int) -> float:
    """Log-odds by the word before candidate `i`, adverbs left out; NEVER when it rules a finite verb out."""
    k, form = before_adverbs(s, i, start), s.tags[i]
    if k < start:
        return _as_order(s, i)
    word, tag = s.words[k], s.tags[k]
    if tag & f.CLOSED:
        return _behind_closed(s, i, k, start)
    if word in _HELPING:
        return NEVER
    if word in _HEADLESS and form & _BASE_OR_PAST and _is_first(s, k, start):
        return -0.5
    return -6.0 if word.endswith(("'s", "s'")) else _behind_open(s, i, k, start)


def _behind_closed(s: Sentence, i: int, k: int, start: int) -> float:
    word, tag, form = s.words[k], s.tags[k], s.tags[i]
    if word in _NOMINATIVE:
        return 5.0
    if tag & f.AUX and (tag & _HELPED or is_finite_aux(s, k)):
        return NEVER
    if tag & f.TO:
        return NEVER
    if tag & f.SUBJ:
        direct = k == start or s.tags[k - 1] & _OPENS
        return (3.5 if direct else 1.0) - (3.0 if tag & f.DET and not _points(word, form) else 0.0)
    if word in _HEADLESS and form & _BASE_OR_PAST and _is_first(s, k, start):
        return -0.5
    if tag & f.QUANT and form & f.THIRD and not form & f.USUALLY_NOUN:
        return -0.5  # "Five plus seven equals twelve."
    if tag & _DETERMINED:
        return -6.0
    if tag & f.PREP:
        return _behind_preposition(s, k)
    return -2.0 if tag & f.OBJ else _behind_link(s, i, k, start)


def _behind_link(s: Sentence, i: int, k: int, start: int) -> float:
    """Behind an opener, "and" or a comma; behind other words as behind those of an open class."""
    tag = s.tags[k]
    if tag & f.OPENER:
        return -4.0
    if tag & f.COORD:
        return _behind_and(s, i, k)
    return _behind_comma(s, i, k, start) if tag & f.BREAK else _behind_open(s, i, k, start)


def _behind_open(s: Sentence, i: int, k: int, start: int) -> float:
    tag, form = s.tags[k], s.tags[i]
    if tag & f.QUOTED:
        return 1.0
    if tag & f.BASE and s.tag(k - 1) & f.TO:
        return -2.0 if k - 1 > start else 0.5  # "To forgive takes courage."
    if tag & f.NAME:
        return 2.0
    if is_complement(s, k):
        return 0.8
    if tag & f.NUMBER:
        return -3.0 if form & f.NOUN and not s.tag(i + 1) & _BEHIND_ORDER else 0.0
    if tag & f.NOUN:
        if tag & f.PLURAL and not tag & f.SINGULAR and not form & f.ADJ:
            return 2.0
        return -0.5 if tag & f.USUALLY_VERB and (k > start or tag & f.BASE) else 0.8
    if tag & f.ING:
        return 0.0
    if tag & f.PART:
        return -1.0
    return -0.5 if not tag & f.ADJ else -2.5 if form & _NOMINAL else -1.0


def _is_first(s: Sentence, k: int, start: int) -> bool:
    """Whether word `k` opens its clause or stands behind a comma or "and"."""
    return k == start or bool(s.tags[k - 1] & _JOINED)


def _behind_preposition(s: Sentence, k: int) -> float:
    """A stranded preposition or a particle may end a relative clause: "where I grew up", "that we rely on"."""
    verb_before = s.tag(k - 1) & f.VERB and not s.tag(k - 1) & f.CLOSED
    if not verb_before:
        return -3.5
    return -0.8 if s.words[k] in PARTICLES else -2.0


def _as_order(s: Sentence, i: int) -> float:
    """A verb without a subject: an order, or nothing."""
    form, after = s.tags[i], s.tag(i + 1)
    if not form & f.BASE:
        return -6.0
    if after & f.PAST and not after & f.NOUN:
        return -4.0  # "Google dubbed …"
    polite = 3.0 if s.word(i - 1) == "please" else 0.0
    if after & _CLAUSE and not form & f.NOUN:
        return polite + 2.0
    if after & _BEHIND_ORDER or s.word(i + 1) in PARTICLES:
        return polite + 0.8
    return polite + (0.3 if after & _PHRASE else -0.7)


def _behind_comma(s: Sentence, i: int, k: int, start: int) -> float:
    """Behind an appositive a verb is likely; a participle that another comma closes off is none."""
    if s.tags[i] & f.BASE and s.tags[start] & _FRONTED:
        return _as_order(s, i) + 0.5  # "If it rains, stay inside."
    if "," in s.words[start:k]:
        return 1.0
    aside = s.tags[i] & f.PART and "," in s.words[i:] and s.tags[k - 1] & f.NOUN
    return -2.5 if aside else -0.5


def _points(word: str, form: int) -> bool:
    """Whether "this" or "that" stands alone before a verb: "This means …"."""
    if word in ("these", "those"):
        return bool(form & f.BASE) and not form & f.NOUN
    return bool(form & _THIRD_OR_PAST) and not (form & f.SINGULAR and not form & f.USUALLY_VERB)


def _behind_and(s: Sentence, i: int, k: int) -> float:
    """After "and": a noun when a noun stands before, unless the form is a verb alone."""
    if k != i - 1:
        return 0.5
    noun_before = s.tag(k - 1) & f.NOUN and not s.tag(k - 1) & f.CLOSED
    return -2.0 if s.tags[i] & f.NOUN and noun_before else 0.0
