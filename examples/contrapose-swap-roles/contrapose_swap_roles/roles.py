"""Finds the phrases before and behind a verb that can change places, and says when none surely can."""

from __future__ import annotations

from typing import NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.reading import Sentence
from contrapose_swap_roles.noun_phrase import PRONOUNS, SUBJECTS, phrase_end
from contrapose_swap_roles.verb_group import DoubtError, VerbGroup, behind_adverbs

_NOMINAL = words("about by between among regarding concerning like of than")
_DIRECTIONS = words("into onto through across along toward towards past over under behind around at on")
_TIMES = words("this last next every each one")
_REFLEXIVE = words("myself yourself itself himself herself ourselves themselves yourselves oneself")
_LOOSE = f.SUB | f.LOOSE | f.TO
_JOINED = words("and or")


class Phrase(NamedTuple):
    """The first and last word of a phrase, both inclusive."""

    start: int
    """Index of its first word."""
    end: int
    """Index of its last word."""


class Complement(NamedTuple):
    """What stands behind a verb and can change places with its subject."""

    phrase: Phrase
    """The object, or what "by" governs."""
    sure: bool
    """Whether its end, and what follows, leave no doubt."""


def complement(s: Sentence, group: VerbGroup) -> Complement:
    """The object of an active verb, or the agent of a passive one.

    Raises:
        DoubtError: there is none, or where it ends cannot be told.
    """
    if group.base in WITHOUT_OBJECT:
        raise DoubtError("no_transitive_verb")
    if group.base in INTRANSITIVE:
        raise DoubtError("no_object")
    if group.base in SYMMETRIC:
        raise DoubtError("symmetric_verb")
    start = _agent_start(s, group) if group.passive else _object_start(s, group)
    return Complement(*_bounded(s, start, group))


def _object_start(s: Sentence, group: VerbGroup) -> int:
    k = group.lexical + 1
    if f"{group.base}-{s.word(k)}" in WITH_PARTICLE:
        k += 1
    k = behind_adverbs(s, k)
    if s.word(k) in _REFLEXIVE or s.words[k : k + 2] in (["each", "other"], ["one", "another"]):
        raise DoubtError("reflexive")
    said = s.word(k) == "that" and s.tags[group.lexical] & f.EMBED
    if said or f"{group.base}-{s.word(k)}" in IDIOMS:
        raise DoubtError("no_object")
    return k


def _agent_start(s: Sentence, group: VerbGroup) -> int:
    k = behind_adverbs(s, group.lexical + 1)
    if s.tag(k) & f.PREP and s.word(k) != "by":
        k = (phrase_end(s, k + 1) or len(s.words)) + 1
    if s.word(k) != "by" or group.base in BY_PLACE or s.word(k + 1) in MEANS or s.tag(k + 1) & f.NUMBER:
        raise DoubtError("no_object")
    if s.word(k + 1) in _REFLEXIVE:
        raise DoubtError("reflexive")
    return k + 1


def _bounded(s: Sentence, start: int, group: VerbGroup) -> tuple[Phrase, bool]:
    """The phrase at `start`, and whether all is sure; a relative clause that ends the sentence belongs to it."""
    end = phrase_end(s, start, with_of=group.base not in OF_VERBS)
    if end is None:
        raise DoubtError("no_object" if not s.tag(start) & (f.NP_START | f.NOUN | f.NAME) else "doubtful_phrase")
    if s.words[end] in MEASURES:
        raise DoubtError("no_object")
    if _may_predicate(s, start, end, group):
        raise DoubtError("doubtful_phrase")
    if s.word(end + 1) in ("who", "which", "that") and not s.tags[group.lexical] & f.EMBED:
        if any(tag & (f.BREAK | f.COORD) for tag in s.tags[end:]):
            raise DoubtError("doubtful_phrase")
        return Phrase(start, len(s.words) - 1), False
    _require_one_clause(s, end + 1, group)
    return Phrase(start, end), _is_sure_rest(s, end + 1, group)


def _require_one_clause(s: Sentence, k: int, group: VerbGroup) -> None:
    """Refuse a further verb behind "and", or behind the object of a verb that takes clauses: "said repairs were …"."""
    verbs = [i for i in range(k, len(s.words)) if s.tags[i] & (f.AUX | f.FINITE) and not s.tags[i] & (f.NOUN | f.NAME)]
    if verbs and any(tag & f.COORD for tag in s.tags[k : verbs[-1]]):
        raise DoubtError("coordinated_clauses")
    introduced = any(tag & (f.OPENER | f.LOOSE | f.TO) for tag in s.tags[k : verbs[0]]) if verbs else True
    if "than" in s.words[k:] or (s.tags[group.lexical] & f.EMBED and not introduced):
        raise DoubtError("doubtful_phrase")


def _may_predicate(s: Sentence, start: int, end: int, group: VerbGroup) -> bool:
    """Whether the last word may say something of the object instead: "saw the dog run", "paints the door red"."""
    crowded = end > start and s.tags[end - 1] & f.NOUN and not s.tags[end - 1] & (f.CLOSED | f.ADJ)
    if not crowded or s.words[end - 1].endswith(("'s", "s'")):
        return False
    if s.tags[group.lexical] & f.EMBED:
        return bool(s.tags[end] & f.VERB and not s.tags[end] & f.RARELY_VERB)
    return group.base in PREDICATING or group.base in GIVING


def _is_sure_rest(s: Sentence, k: int, group: VerbGroup) -> bool:
    """Whether what follows the phrase surely belongs to the clause.

    Raises:
        DoubtError: it may belong to the phrase, or be a clause of its own.
    """
    if s.word(k) in _TIMES and s.word(k + 1) in MEASURES:
        return _is_sure_rest(s, k + 2, group)
    k = behind_adverbs(s, k)
    word, tag = s.word(k), s.tag(k)
    if not word:
        return s.closed
    if tag & f.COORD:
        raise DoubtError("coordinated_clauses")
    if tag & f.TO and s.tag(k + 1) & f.BASE and not s.tag(k + 1) & f.NOUN:
        return group.base in ASKING
    if word == "of" and group.base in OF_VERBS:
        return True
    if tag & (f.PREP | _LOOSE) and word not in _NOMINAL:
        return word in _DIRECTIONS
    if group.base in GIVING and not group.passive and phrase_end(s, k) == len(s.words) - 1:
        return False
    raise DoubtError("doubtful_phrase")


def subject(s: Sentence, start: int, end: int, *, last: bool) -> Complement:
    """The subject, words `start` to `end`, and whether it is a plain noun phrase.

    Args:
        s: the sentence.
        start: index of its first word.
        end: index of its last word.
        last: whether nothing will follow when it stands behind the verb.

    Raises:
        DoubtError: it is no noun phrase, or could not stand behind the verb.
    """
    plain = phrase_end(s, start, limit=end)
    if s.word(start) == "there":
        raise DoubtError("no_transitive_verb")
    if plain is None or any(tag & f.BREAK for tag in s.tags[start : end + 1]):
        raise DoubtError("doubtful_phrase")
    tag = s.tag(plain + 1)
    if plain < end and not (tag & f.PREP or (last and tag & (f.REL | f.ING | f.PART))):
        raise DoubtError("doubtful_phrase")
    return Complement(Phrase(start, end), plain == end)


def has_joined_pronoun(s: Sentence, phrase: Phrase) -> bool:
    """Whether a pronoun whose case would have to change is joined with something else: "Tom and I"."""
    return any(
        s.words[k] in (*PRONOUNS, *SUBJECTS) and (s.word(k - 1) in _JOINED or s.word(k + 1) in _JOINED)
        for k in range(phrase.start, phrase.end + 1)
    )


SYMMETRIC = words(
    """
    marry divorce wed meet resemble equal border adjoin neighbor neighbour match join fight battle date kiss embrace hug
    touch intersect parallel rival mirror mate befriend face encounter accompany overlap complement contradict debate
    wrestle duel approximate balance counterbalance cross combine mix
    """
)
"""What one does to the other, the other does too."""
WITHOUT_OBJECT = words(
    """
    be become remain seem appear stay cost weigh last total number measure sound look feel smell taste comprise
    constitute represent mean
    """
)
"""A noun phrase behind them is no patient: it describes the subject, or is a measure."""
INTRANSITIVE = words("go come live sleep arrive die fall walk happen occur rain snow lie rise sit stand smile exist")
"""Verbs behind which a noun phrase says when or how."""
OF_VERBS = words("accuse rob deprive remind inform convince cure strip rid relieve suspect warn assure notify acquit")
"""Verbs whose object ends before "of": "accused the man of theft"."""
IDIOMS = words(
    """
    take-place take-part take-care take-shape take-root take-effect take-note take-hold take-turns take-advantage
    take-aim take-off pay-attention make-sense make-way make-use give-birth give-way give-rise catch-fire catch-sight
    lose-weight gain-weight keep-pace keep-track have-fun play-host set-sail
    """
)
"""A verb and a bare noun that together say one thing."""
GIVING = words("give send tell show teach offer lend hand bring owe pay sell promise pass buy grant award feed")
"""Verbs that take a second object behind the first."""
ASKING = words("ask tell order force persuade teach urge allow invite encourage help advise warn beg remind convince")
"""Verbs whose object does what the infinitive behind it says."""
PREDICATING = words(
    """
    make keep leave find consider call name elect appoint paint dye color colour turn drive get render declare label
    deem think believe crown brand dub
    """
)
"""Verbs behind whose object another word may describe it."""
WITH_PARTICLE = words(
    """
    pick-up turn-on turn-off put-on put-out throw-out knock-down knock-over knock-out carry-out take-over set-up
    bring-up bring-down shut-down tear-down break-up call-off cut-down cut-off hand-over wipe-out blow-up track-down
    beat-up
    """
)
"""Verbs whose particle stands before a full object."""
BY_PLACE = words("park place put leave seat locate situate bury camp anchor dock moor find build sit stand")
"""Participles behind which "by" may say where."""
MEANS = words(
    """
    car bus train plane boat ship foot hand mail email post phone telephone radio land sea air accident mistake chance
    law default definition means way virtue noon order request midnight night day dawn dusk now then
    """
)
"""Behind "by" these say how or when, not who."""
MEASURES = words(
    """
    second seconds minute minutes hour hours day days week weeks month months year years decade decades century
    centuries time times morning afternoon evening night nights spring summer autumn fall winter weekend
    monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow
    inch inches foot feet yard yards mile miles meter meters metre metres kilometer kilometers kilometre kilometres
    centimeter centimeters centimetre centimetres pound pounds kilogram kilograms gram grams ton tons percent degrees
    """
)
"""As the last word of a phrase they say how long, how often or how much."""
