"""What the word after a candidate says of its being a finite verb. Log-odds, as in `odds`."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import is_finite_aux
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.words import words

_SET = f.CLOSED | f.QUOTED | f.NAME
_OBJECT = f.DET | f.OBJ | f.QUOTED
_SUBJECT = f.QUANT | f.SUBJ
_PHRASE = f.PREP | f.LOOSE
_COMPOUND = f.NOUN | f.ADJ
_THIRD_OR_PAST = f.THIRD | f.PAST
_TAKES_OF = words(
    """
    consist consists consisted think thinks thought dream dreams dreamed hear heard smell smells smelt smelled
    speak spoke tell die died know knew dispose
    """
)
_NAMING = words(
    """
    called named titled dubbed given entitled considered termed offered shown awarded taught paid made left known
    """
)


def after(s: Sentence, i: int) -> float:
    """Log-odds by the word after candidate `i`."""
    form, k = s.tags[i], i + 1
    participle = form & f.PART and not form & f.BASE
    if k == len(s.tags):
        return _at_end(s, i) if s.closed else -0.2 if participle else 0.0
    tag = s.tags[k]
    if not tag & _SET:
        return _before_open(s, i, k)
    if tag & f.BREAK:
        return -0.2 if participle else 0.0
    if tag & _OBJECT:
        return 0.5 if s.words[i] in _NAMING else 3.0
    word = s.words[k]
    if word == "of":
        return 0.5 if s.words[i] in _TAKES_OF else -3.0
    if word == "by" and participle:
        return -2.5
    if is_finite_aux(s, k):
        return -0.5 if form & f.EMBED else -4.0
    if tag & _SUBJECT:
        return 1.5
    if tag & f.REL:
        return 2.0 if form & f.EMBED else -0.5
    if tag & f.TO:
        return -0.3 if participle else 0.8
    if tag & _PHRASE:
        return -0.2 if participle else 0.2
    return 0.7 if tag & f.NAME else _before_open(s, i, k)


def _at_end(s: Sentence, i: int) -> float:
    """The last word of a sentence: a noun rather than a verb where it is one in most texts ("Risk factors.")."""
    before, form = s.tags[i - 1], s.tags[i]
    if form & f.BASE and before & f.PLURAL and not before & f.NAME:
        return 0.0  # "Dogs bark."
    compound = before & _COMPOUND and not before & f.CLOSED
    return -2.5 if compound and form & f.NOUN and not form & f.USUALLY_VERB else 0.0


def _before_open(s: Sentence, i: int, k: int) -> float:
    tag, form = s.tags[k], s.tags[i]
    if tag & f.ADV or s.words[k].endswith("ly"):
        return 0.6
    if tag & f.COORD:
        return -0.5
    if tag & f.ADJ and not tag & f.NOUN:
        return 1.0
    if tag & f.ING:
        return 0.3
    if tag & f.NOUN:
        if form & f.PART:
            return 1.2  # no participle behind a noun takes an object: "announced plans"
        return 0.4 if form & _THIRD_OR_PAST or s.tags[i - 1] & f.PLURAL else -0.2
    return 0.0
