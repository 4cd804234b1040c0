"""How likely a word is the finite verb of a clause, judged by its form and its neighbours.

The numbers are log-odds set by hand: 0 means "as likely as not", 3 about twenty to one.
"""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import before_adverbs, is_finite_aux
from contrapose.tasks.probes.english.number import is_plural_phrase
from contrapose.tasks.probes.english.reading import Sentence
from contrapose.tasks.probes.english.words import words

NEVER = -99.0
SURE = 6.0
FRONTED = f.PREP | f.TO | f.SUB | f.LOOSE | f.ADV | f.ING | f.PART
_ONE = words("a an this each every another")
_NOMINATIVE = words("i he she we they")
_TAKES_OF = words(
    """
    consist consists consisted think thinks thought dream dreams dreamed hear heard smell smells smelt smelled
    speak spoke tell die died know knew dispose
    """
)
_PARTICLES = words("out up off down away over back along around through")
_HEADLESS = words("some many most few several all both these those others this that one two three four five each such")
_INTRANSITIVE = words(
    """
    sat stood lived died arrived happened occurred existed appeared disappeared slept remained lasted belonged
    consisted seemed resigned emerged collapsed smiled laughed departed vanished expired elapsed rained snowed
    """
)
_NAMING = words(
    """
    called named titled dubbed given entitled considered termed offered shown awarded taught paid made left known
    """
)


def relative_odds(s: Sentence, i: int) -> float:
    """Log-odds that word `i`, right behind "who", "which" or "that", is the verb of that relative clause."""
    tag = s.tags[i]
    if tag & f.AUX:
        return _of_auxiliary(s, i)
    if not tag & f.FINITE or tag & f.NAME or tag & f.CLOSED & ~(f.PREP | f.ADV | f.LOOSE):
        return NEVER
    return min(_of_form(s, i), 1.0) + _after(s, i) + 2.5


def finite_odds(s: Sentence, i: int, start: int) -> float:
    """Log-odds that word `i` is a finite verb in the clause that starts at `start`; NEVER when it cannot be.

    Agreement with the subject is left out (`agreement`).
    """
    tag = s.tags[i]
    if tag & f.AUX:
        return _of_auxiliary(s, i)
    if not tag & f.FINITE or tag & f.NAME or tag & f.CLOSED & ~(f.PREP | f.ADV | f.LOOSE):
        return NEVER
    k = before_adverbs(s, i, start)
    before = _before(s, i, k, start)
    if before == NEVER:
        return NEVER
    return _of_form(s, i) + before + _after(s, i)


def agreement(s: Sentence, i: int, start: int) -> float:
    """Log-odds for word `i` agreeing in number with the subject that starts at `start`."""
    tag = s.tags[i]
    if tag & f.AUX:
        return 0.0
    if s.tags[start] & FRONTED:
        start = _after_comma(s, start, i)
    plural = is_plural_phrase(s, start, before_adverbs(s, i, start))
    odds = []
    if tag & f.PAST:
        odds.append(0.0)
    if tag & f.THIRD:
        odds.append({True: -3.0, False: 1.5, None: 0.0}[plural])
        if s.words[start] in _ONE and i > start + 1:
            odds[-1] += 1.5  # "a prism splits" is no noun phrase
    if tag & f.BASE:
        odds.append({True: 1.5, False: -4.0, None: -0.3}[plural])
    return max(odds)


def _after_comma(s: Sentence, start: int, end: int) -> int:
    """Where the subject starts behind a fronted phrase that a comma ends."""
    return next((k + 1 for k in range(start, end) if s.words[k] == ","), start)


def _of_auxiliary(s: Sentence, i: int) -> float:
    tags = s.tags
    if i and tags[i] & f.BE and not tags[i - 1] & (f.AUX | f.TO | f.ADV | f.SEMI) and not tags[i] & f.NAME:
        return SURE + 2
    if not is_finite_aux(s, i):
        return NEVER
    k = before_adverbs(s, i, 0)
    if k >= 0 and s.tags[k] & (f.BE | f.HAVE | f.DO | f.MODAL) and is_finite_aux(s, k):
        return 1.0
    return SURE + 2


def _of_form(s: Sentence, i: int) -> float:
    """What the word alone says."""
    tag = s.tags[i]
    if tag & f.RARELY_VERB:
        return -2.5
    if not tag & (f.NOUN | f.ADJ | f.CLOSED | f.PART):
        return 3.0
    if s.words[i] in _INTRANSITIVE:
        return 3.0
    if tag & f.PART and not tag & (f.NOUN | f.ADJ):
        return 0.8
    if tag & f.USUALLY_VERB:
        return 0.8
    if tag & f.CLOSED:
        return -1.0
    return -1.5 if tag & f.USUALLY_ADJ else -0.9


def _before(s: Sentence, i: int, k: int, start: int) -> float:
    """What the word before it says, adverbs left out."""
    tag, form = s.tag(k), s.tags[i]
    if k < start:
        return _as_order(s, i)
    word = s.words[k]
    if word in _NOMINATIVE:
        return 5.0
    if tag & (f.MODAL | f.DO) and is_finite_aux(s, k):
        return NEVER
    if tag & f.TO and word == "to":
        return NEVER if form & f.BASE else -2.0
    if tag & (f.BE | f.HAVE | f.CLITIC) or word in ("having", "being", "been"):
        return NEVER
    if tag & f.SUBJ:
        direct = k == start or s.tags[k - 1] & (f.BREAK | f.OPENER | f.COORD | f.LOOSE)
        return (3.5 if direct else 1.0) - (3.0 if tag & f.DET and not _points(s, i, k) else 0.0)
    if word in _HEADLESS and form & (f.BASE | f.PAST) and (k == start or s.tags[k - 1] & (f.BREAK | f.COORD)):
        return -0.5
    if tag & f.QUANT and form & f.THIRD and not form & f.USUALLY_NOUN:
        return -0.5  # "Five plus seven equals twelve."
    if tag & (f.DET | f.QUANT) or word.endswith(("'s", "s'")):
        return -6.0
    if tag & f.PREP:
        return _after_preposition(s, k)
    if tag & f.OBJ:
        return -2.0
    return _before_open(s, i, k, tag, start)


def _before_open(s: Sentence, i: int, k: int, tag: int, start: int) -> float:
    if tag & f.QUOTED:
        return 1.0
    if tag & f.OPENER:
        return -4.0
    if tag & f.COORD:
        return _coordinated(s, i, k)
    if tag & f.BREAK:
        return _behind_comma(s, i, k, start)
    if tag & f.BASE and s.tag(k - 1) & f.TO:
        return -2.0 if k - 1 > start else 0.5  # "To forgive takes courage."
    if tag & f.NAME:
        return 2.0
    if tag & f.NUMBER:
        return -3.0 if s.tags[i] & f.NOUN and not s.tag(i + 1) & (f.DET | f.QUANT | f.OBJ) else 0.0
    if tag & f.NOUN:
        if tag & f.PLURAL and not tag & f.SINGULAR and not s.tags[i] & f.ADJ:
            return 2.0
        return -0.5 if tag & f.USUALLY_VERB and (k > start or tag & f.BASE) else 0.8
    if tag & f.ING:
        return 0.0
    if tag & f.PART:
        return -1.0
    if tag & f.ADJ:
        return -1.0 if not s.tags[i] & (f.NOUN | f.ADJ) else -2.5
    return -0.5


def _after_preposition(s: Sentence, k: int) -> float:
    """A stranded preposition or a particle may end a relative clause: "where I grew up", "that we rely on"."""
    verb_before = bool(s.tag(k - 1) & f.VERB) and not s.tag(k - 1) & f.CLOSED
    if verb_before:
        return -0.8 if s.words[k] in _PARTICLES else -2.0
    return -3.5


def _as_order(s: Sentence, i: int) -> float:
    """A verb without a subject: an order, or nothing."""
    if not s.tags[i] & f.BASE:
        return -6.0
    after = s.tag(i + 1)
    polite = 3.0 if s.word(i - 1) == "please" else 0.0
    if after & (f.REL | f.SUB) and not s.tags[i] & f.NOUN:
        return polite + 2.0
    if after & (f.DET | f.QUANT | f.OBJ):
        return polite + 0.8
    if s.word(i + 1) in _PARTICLES:
        return polite + 0.8
    return polite + (0.3 if after & (f.PREP | f.ADV | f.LOOSE) else -0.7)


def _behind_comma(s: Sentence, i: int, k: int, start: int) -> float:
    """Behind an appositive a verb is likely; a participle that another comma closes off is none."""
    if s.tags[i] & f.BASE and s.tags[start] & (f.SUB | f.LOOSE | f.PREP | f.TO):
        return _as_order(s, i) + 0.5  # "If it rains, stay inside."
    if "," in s.words[start:k]:
        return 1.0
    aside = s.tags[i] & f.PART and "," in s.words[i:] and k > start and s.tags[k - 1] & f.NOUN
    return -2.5 if aside else -0.5


def _points(s: Sentence, i: int, k: int) -> bool:
    """Whether "this" or "that" stands alone before a verb: "This means …"."""
    tag = s.tags[i]
    if s.words[k] in ("these", "those"):
        return bool(tag & f.BASE) and not tag & f.NOUN
    return bool(tag & (f.THIRD | f.PAST)) and not (tag & f.SINGULAR and not tag & f.USUALLY_VERB)


def _coordinated(s: Sentence, i: int, k: int) -> float:
    """After "and": a noun when a noun stands before, unless the form is a verb alone."""
    if k != i - 1:
        return 0.5
    noun_before = s.tag(k - 1) & f.NOUN and not s.tag(k - 1) & f.CLOSED
    return -2.0 if s.tags[i] & f.NOUN and noun_before else 0.0


def _after(s: Sentence, i: int) -> float:
    """What the word after it says."""
    tag, word, form = s.tag(i + 1), s.word(i + 1), s.tags[i]
    participle = bool(form & f.PART) and not form & f.BASE
    if not word or tag & f.BREAK:
        return _at_end(s, i) if not word and s.closed else -0.2 if participle else 0.0
    if word == "of":
        return 0.5 if s.words[i] in _TAKES_OF else -3.0
    if word == "by" and participle:
        return -2.5
    if tag & (f.DET | f.OBJ | f.QUOTED) and not tag & f.AUX:
        return 0.5 if s.words[i] in _NAMING else 3.0
    if is_finite_aux(s, i + 1):
        return -0.5 if form & f.EMBED else -4.0
    if tag & f.QUANT or tag & f.SUBJ:
        return 1.5
    if word == "that" or tag & f.REL:
        return 2.0 if form & f.EMBED else -0.5
    if tag & f.TO:
        return 0.8 if not participle else -0.3
    if tag & f.PREP or tag & f.LOOSE:
        return -0.2 if participle else 0.2
    if tag & f.NAME:
        return 0.7
    return _after_open(s, i, tag)


def _at_end(s: Sentence, i: int) -> float:
    """The last word of a sentence: a noun rather than a verb where it is one in most texts ("Risk factors.")."""
    before, form = s.tags[i - 1], s.tags[i]
    if form & f.BASE and before & f.PLURAL and not before & f.NAME:
        return 0.0  # "Dogs bark."
    compound = before & (f.NOUN | f.ADJ) and not before & f.CLOSED
    return -2.5 if compound and form & f.NOUN and not form & f.USUALLY_VERB else 0.0


def _after_open(s: Sentence, i: int, tag: int) -> float:
    if s.words[i + 1].endswith("ly") or tag & f.ADV:
        return 0.6
    if tag & f.COORD:
        return -0.5
    if tag & f.ADJ and not tag & f.NOUN:
        return 1.0
    if tag & f.ING:
        return 0.3
    if tag & f.NOUN:
        if s.tags[i] & f.PART:
            return 1.2  # no participle behind a noun takes an object: "announced plans"
        return 0.4 if s.tags[i] & (f.THIRD | f.PAST) or s.tags[i - 1] & f.PLURAL else -0.2
    return 0.0
