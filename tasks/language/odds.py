"""Score how likely a word is the finite verb of a clause, by its form and its neighbours.

The numbers are log-odds set by hand: 0 means "as likely as not", 3 about twenty to one.
"""

from __future__ import annotations

import math

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import (
    index_after_adverbs,
    index_before_adverbs,
    is_bare_verb_after_object,
    is_complement,
    is_finite_aux,
)
from contrapose.tasks.language.inflection import RATHER_PAST, is_plural_phrase
from contrapose.tasks.language.sentence import Sentence
from contrapose.tasks.language.vocabulary import ends_as_adverb

SHORT = 9
"""Words of a sentence in which few things can be mistaken for its verb."""
SURE = 8.0
"""Log-odds of an auxiliary that nothing speaks against."""
FRONTED = f.PREP | f.TO | f.SUB | f.LOOSE | f.ADV | f.ING | f.PART
_FINITE_AUX = f.BE | f.HAVE | f.DO | f.MODAL
_INFLECTED = f.THIRD | f.BASE
_OTHER_CLASSES = f.NOUN | f.ADJ | f.CLOSED | f.PART
_NOMINAL = f.NOUN | f.ADJ
_ONE = words("a an this each every another")
INTRANSITIVE = words("""
    sat stood lived died arrived happened occurred existed appeared disappeared slept remained lasted belonged consisted
    seemed resigned emerged collapsed smiled laughed departed vanished expired elapsed rained snowed went came worked
    walked cycled travelled traveled danced waited stayed listened stared wandered marched grinned coughed cried
""")
"""Past forms of verbs that have no object, and so no passive."""


def score_relative_verb(s: Sentence, i: int) -> float:
    """Return the log-odds that word `i`, right after "who", "which" or "that", is the verb of the relative clause."""
    tag = s.tags[i]
    if tag & f.AUX:
        return _score_auxiliary(s, i)
    return min(_score_form(s.words[i], tag), 1.0) + score_word_after(s, i) + 2.5


def score_finite_verb(s: Sentence, i: int, start: int) -> float:
    """Return the log-odds that word `i` is a finite verb of the clause from `start`; NEVER if it cannot be."""
    tag = s.tags[i]
    if tag & f.AUX:
        return _score_auxiliary(s, i)
    odds = score_word_before(s, i, start) - (
        3.0 if s.words[i] == "like" and len(s.words) > (SHORT if s.closed else 4) else 0.0
    )
    if tag & f.BASE and not tag & _THIRD_OR_PAST and i > start and is_bare_verb_after_object(s, i):
        odds -= 4.0
    plain = s.closed and i + 1 == len(s.words) <= SHORT
    noun = tag & f.USUALLY_NOUN and not plain and i > start and not s.tag(i - 1) & (f.SUBJ | f.REL)
    if noun and not s.tag(i + 1) & _OBJECT_OR_NAME and not agrees_as_verb(s, i):
        odds -= 1.0
    return odds if odds == NEVER else _score_form(s.words[i], tag) + odds + score_word_after(s, i)


def agrees_as_verb(s: Sentence, i: int) -> bool:
    """Return whether a plural noun is before a bare form: "cranes rest". Before a noun this is rare."""
    before = s.tags[index_before_adverbs(s, i)]
    bare = s.tags[i] & (f.BASE | f.RARELY_VERB) == f.BASE and s.words[i] not in RATHER_PAST
    if before & f.THIRD and s.tag(i - 2) & (f.NAME | f.SINGULAR) and not s.closed:
        # "NASA schedules launch date"
        return bool(s.tag(i + 1) & _OBJECT_OR_NAME) or any(word in _PLURAL for word in s.words[: i - 1])
    if s.tags[i] & f.USUALLY_NOUN and s.tag(i + 1) & f.COORD:
        return False  # "business figures and interests"
    return bool(bare and before & f.PLURAL) and not before & (f.SINGULAR | f.CLOSED | f.USUALLY_VERB)


def score_agreement(s: Sentence, i: int, start: int) -> float:
    """Return the log-odds that word `i` agrees in number with the subject that starts at `start`."""
    tag = s.tags[i]
    if not tag & _INFLECTED:
        return 0.0  # of auxiliaries there are few, and a past form agrees with all
    if s.tags[start] & FRONTED:
        start = max((k + 1 for k in range(start, i) if s.words[k] == ","), default=start)
    plural = is_plural_phrase(s, start, index_before_adverbs(s, i, start))
    odds = 0.0 if tag & f.PAST else NEVER
    if tag & f.THIRD:
        third = 0.0 if plural is None else -3.0 if plural else 1.5
        if s.words[start] in _ONE and i > start + 1:
            # "a prism splits" is no noun phrase
            third = -3.0 if s.tags[i - 1] & (f.NOUN | f.CLOSED) == f.PLURAL else third + 1.5
        odds = max(odds, third)
    if tag & f.BASE:
        odds = max(odds, -0.3 if plural is None else 1.5 if plural else -4.0)
    return odds


def _score_auxiliary(s: Sentence, i: int) -> float:
    if not is_finite_aux(s, i):
        return NEVER
    k = index_before_adverbs(s, i)
    return 1.0 if s.tag(k) & _FINITE_AUX and is_finite_aux(s, k) else SURE


def _score_form(word: str, tag: int) -> float:
    """Return the log-odds of the word alone."""
    if tag & f.RARELY_VERB or ("-" in word and tag & f.PART):
        return -2.5
    if not tag & _OTHER_CLASSES or word in INTRANSITIVE:
        return 3.0
    if tag & f.USUALLY_VERB or (tag & f.PART and not tag & _NOMINAL):
        return 0.8
    if tag & f.CLOSED:
        return -1.0
    return -1.5 if tag & f.USUALLY_ADJ else -0.9


_SET = f.CLOSED | f.QUOTED | f.NAME
_OBJECT = f.DET | f.OBJ | f.QUOTED
_SUBJECT = f.QUANT | f.SUBJ
_OBJECT_OR_NAME = _OBJECT | f.QUANT | f.NAME | f.NUMBER
_PHRASE = f.PREP | f.LOOSE
_PLURAL = words("these those two three four five six seven eight nine ten many several some all both")
_THIRD_OR_PAST = f.THIRD | f.PAST
_TAKES_OF = words("""
    consist consists consisted think thinks thought dream dreams dreamed hear heard smell smells smelt smelled speak
    spoke tell die died know knew dispose
""")
_NAMING = words("""
    called named titled dubbed given entitled considered termed offered shown awarded taught paid made left known
    elected appointed crowned denied
""")


_TRANSITIVE = words("""
    killed murdered arrested injured wounded detained jailed charged accused convicted sentenced freed released seized
    rescued elected appointed nominated named shot stabbed found held kept put sent given taken brought bought made used
    needed required provided described designed located situated based built created produced published revealed
    announced discovered invented considered expected supposed regarded known shown told allowed forced suspected banned
    blamed attacked destroyed damaged caught captured hired fired dismissed suspended kidnapped heard imposed ordered
    approved cancelled delayed photographed included recycled protected affected caused collected contained recorded
""")
"""Participles of verbs that hardly do without an object: without one they are no past tense."""
_TAKES_TO = words("""
    wanted tried decided began started failed refused hoped agreed managed continued planned needed attempted promised
    wished loved liked hated seemed appeared tended happened forgot vowed pledged struggled offered
""")
_NO_OBJECT = f.PREP | f.LOOSE | f.BREAK | f.COORD | f.ADV | f.TO | f.SUB


def score_word_after(s: Sentence, i: int) -> float:
    """Return the log-odds of candidate `i` from the word after it."""
    form, k = s.tags[i], i + 1
    participle = form & f.PART and not form & f.BASE
    needs_object = s.words[i] in _TRANSITIVE and (participle or s.words[i] in RATHER_PAST)
    if k == len(s.tags) and needs_object:
        return -1.0 if s.closed else -2.5
    if k == len(s.tags) and not s.closed:
        return -0.2 if participle else 0.0
    if k == len(s.tags):
        # A noun rather than a verb where it is one in most texts: "Risk factors."; but "Dogs bark."
        before = s.tags[i - 1]
        bare = form & f.BASE and before & f.PLURAL and not before & f.NAME
        compound = before & _NOMINAL and not before & f.CLOSED
        return -2.5 if compound and not bare and form & f.NOUN and not form & f.USUALLY_VERB else 0.0
    tag = s.tags[k]
    if tag & f.NUMBER and form & _THIRD_OR_PAST and not form & f.RARELY_VERB:
        return 1.5
    if not tag & _SET:
        return _score_before_open(s, i, k)
    if tag & f.TO and s.words[i] in _TAKES_TO:
        return 2.5
    if needs_object and tag & _NO_OBJECT and s.words[k] not in PARTICLES and "that" not in s.words[k:]:
        return -2.5
    if tag & f.BREAK:
        return -0.2 if participle else 0.0
    if s.words[k] == "that" and form & f.NOUN and not form & (f.USUALLY_VERB | f.EMBED):
        return -0.5  # "drugs | that help"
    if tag & _OBJECT:
        return 0.5 if s.words[i] in _NAMING else 3.0
    word = s.words[k]
    if word == "of":
        return 0.5 if s.words[i] in _TAKES_OF else -3.0
    if word == "by" and participle:
        return -2.5
    if is_finite_aux(s, k):
        return -0.5 if form & f.EMBED else -4.0 if form & f.NOUN else -2.0
    if tag & _SUBJECT:
        return -2.0 if form & f.USUALLY_NOUN and not tag & (f.DET | f.QUANT) else 1.5  # "the thoughts | you had"
    if tag & f.REL:
        return 2.0 if form & f.EMBED else -0.5
    if tag & f.TO:
        return -0.3 if participle else 0.8
    if tag & _PHRASE:
        return -0.2 if participle else 0.2
    return 0.7 if tag & f.NAME else _score_before_open(s, i, k)


def _score_before_open(s: Sentence, i: int, k: int) -> float:
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
            return -0.5 if s.words[i] in _NAMING else 1.2  # no other participle takes an object: "announced plans"
        return 0.4 if form & _THIRD_OR_PAST or s.tags[i - 1] & f.PLURAL else -0.2
    return 0.0


NEVER = -math.inf
_HELPED = f.BE | f.HAVE | f.CLITIC
_OPENS = f.BREAK | f.OPENER | f.COORD | f.LOOSE
_DETERMINED = f.DET | f.QUANT
_JOINED = f.BREAK | f.COORD
_BASE_OR_PAST = f.BASE | f.PAST
_BEHIND_ORDER = f.DET | f.QUANT | f.OBJ
_FRONTED = f.SUB | f.LOOSE | f.PREP | f.TO
_CLAUSE = f.REL | f.SUB
_PHRASE_BEFORE = f.PREP | f.ADV | f.LOOSE
_NOMINATIVE = words("i he she we they")
_HEADLESS = words("some many most few several all both these those others this that one two three four five each such")
_COUNTED = f.QUANT | f.NUMBER
_HELPS = words("help helps helped")
_HELPING = words("having being been be")
_AWAY = words("out up off down away over back along around through left right")
PARTICLES = words("out up off down away over back along around through")


def score_word_before(s: Sentence, i: int, start: int) -> float:
    """Return the log-odds of candidate `i` from the word before it, adverbs skipped; NEVER if it cannot be finite."""
    k, form = index_before_adverbs(s, i, start), s.tags[i]
    if k < start:
        return _score_order(s, i)
    word, tag = s.words[k], s.tags[k]
    if tag & f.CLOSED:
        if word in _NOMINATIVE:
            return 5.0
        if tag & f.TO or (tag & f.AUX and (tag & _HELPED or is_finite_aux(s, k))):
            return NEVER
        if tag & f.SUBJ:
            alone = True  # "this" or "that" before a verb: "This means …"
            if tag & f.DET and word in ("these", "those"):
                alone = bool(form & f.BASE and (not form & f.NOUN or form & f.USUALLY_VERB))
            elif tag & f.DET:
                alone = bool(form & _THIRD_OR_PAST) and not (form & f.SINGULAR and not form & f.USUALLY_VERB)
            return (3.5 if k == start or s.tags[k - 1] & _OPENS else 1.0) - (0.0 if alone else 3.0)
        if word in _HEADLESS and form & _BASE_OR_PAST and (k == start or bool(s.tags[k - 1] & _JOINED)):
            return -0.5
        if tag & f.QUANT and form & f.THIRD and not form & f.USUALLY_NOUN and not s.tag(k - 1) & f.PREP:
            return -0.5  # "Five plus seven equals twelve."
        if tag & _DETERMINED:
            return -6.0
        if tag & f.PREP:
            # A stranded preposition or a particle may end a relative clause: "where I grew up", "that we rely on".
            if not s.tag(k - 1) & f.VERB or s.tag(k - 1) & f.CLOSED:
                return -3.5
            return -0.8 if word in PARTICLES else -2.0
        if tag & f.OBJ:
            return 2.0 if s.tag(k - 1) & f.PREP and s.tag(k - 2) & _COUNTED else -2.0  # "some of them | live"
        if tag & f.OPENER or word == "than":
            return -4.0
        if tag & f.COORD:
            # A noun where a noun stands before, unless the form is a verb alone.
            noun_before = s.tag(k - 1) & f.NOUN and not s.tag(k - 1) & f.CLOSED
            return 0.5 if k != i - 1 else -2.0 if form & f.NOUN and noun_before else 0.0
        return _score_behind_comma(s, i, k, start) if tag & f.BREAK else _score_behind_open(s, i, k, start)
    if word in _HELPING:
        return NEVER
    if word in _HEADLESS and form & _BASE_OR_PAST and (k == start or bool(s.tags[k - 1] & _JOINED)):
        return -0.5
    return -6.0 if word.endswith(("'s", "s'")) else _score_behind_open(s, i, k, start)


def _score_behind_open(s: Sentence, i: int, k: int, start: int) -> float:
    word, tag, form = s.words[k], s.tags[k], s.tags[i]
    if tag & f.QUOTED:
        return 1.0
    surely = (s.closed and not form & f.NOUN) or form & (f.THIRD | f.USUALLY_VERB) == f.THIRD | f.USUALLY_VERB
    if k == start and surely and form & _THIRD_OR_PAST and tag & f.SINGULAR and not tag & f.USUALLY_VERB:
        return 2.0  # a name, or a mass noun
    if tag & f.BASE and s.tag(k - 1) & f.TO:
        return -2.0 if k - 1 > start else 0.5  # "To forgive takes courage."
    if tag & f.NAME:
        return 0.5 if form & f.USUALLY_NOUN and not form & f.THIRD else 2.0
    if is_complement(s, k):
        return 0.8
    if word in _HELPS and not form & _THIRD_OR_PAST:
        return -4.0  # "helps improve"
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


def _score_order(s: Sentence, i: int) -> float:
    """Return the log-odds of a verb without a subject, which can only be an order."""
    form, after = s.tags[i], s.tag(i + 1)
    if not form & f.BASE:
        return -6.0
    k = index_after_adverbs(s, i)
    said = s.tag(k) & (_THIRD_OR_PAST | f.NOUN)
    if said & _THIRD_OR_PAST and (not said & f.NOUN or k > i + 1 or s.tag(k + 1) & (f.DET | f.OBJ)):
        return -4.0  # "Google dubbed …", "Rob also compared …"
    if s.words[i] in ("like", "right") or (i > 0 and ends_as_adverb(s.words[i - 1]) and form & f.PART):
        return -3.0  # "Right this way.", "Like a bird."
    polite = (3.0 if s.word(i - 1) == "please" else 0.0) + (1.0 if form & f.USUALLY_VERB else 0.0)
    if after & _CLAUSE and not form & f.NOUN:
        return polite + 2.0
    if after & _BEHIND_ORDER or s.word(i + 1) in _AWAY:
        return polite + 0.8
    if form & f.USUALLY_NOUN and after & f.NOUN and not after & f.CLOSED:
        return polite - 1.7  # "Match report …"
    return polite + (0.3 if after & _PHRASE_BEFORE else -0.7)


def _score_behind_comma(s: Sentence, i: int, k: int, start: int) -> float:
    """Return the log-odds of a word after a comma: verbs often follow appositions; a participle in commas is none."""
    if s.tags[i] & f.BASE and s.tags[start] & _FRONTED:
        return _score_order(s, i) + 0.5  # "If it rains, stay inside."
    names = s.tag(i + 1) & (f.NOUN | f.NAME) and not s.tag(i + 1) & f.CLOSED
    if s.tags[i] & f.EMBED and names and "," not in s.words[start:k]:
        return -3.0  # "…, says police chief"
    if not s.closed and s.words[start:].count(",") == 1:
        return -3.0  # "Spain wins cup, celebrates"
    if "," in s.words[start:k]:
        return 2.0 if s.tags[i] & f.THIRD else 1.0
    aside = s.tags[i] & f.PART and "," in s.words[i:] and s.tags[k - 1] & f.NOUN
    return -2.5 if aside else -0.5
