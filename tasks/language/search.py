"""The clauses of a sentence by the odds of its verbs: the most likely way to divide it."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple, TypeVar

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import after_adverbs, before_adverbs, is_finite_aux, takes_complement
from contrapose.tasks.language.odds import (
    FRONTED,
    NEVER,
    PARTICLES,
    SURE,
    agreement,
    finite_odds,
    relative_odds,
)
from contrapose.tasks.language.sentence import Sentence

BEAM = 4.5
"""The largest margin that is told: a reading so far behind the best is no rival."""
_GIVEN_UP = 7.0
"""Log-odds behind the best reading at which another is given up."""
OPENERS = f.OPENER | f.LOOSE
JOINTS = f.BREAK | f.COORD
VERBAL = f.FINITE | f.AUX
NOMINAL = f.NP_START | f.NAME
_BEFORE_CONTACT = f.NOUN | f.SUBJ | f.EMBED | f.QUOTED | f.OBJ
UNLICENSED = -7.0
"""Log-odds lost by a finite verb that no clause waits for."""
_LINKING = OPENERS | NOMINAL
_MOST_STATES = 24
_DEEPEST = 3

State = tuple[int, tuple[int, ...], tuple[int, ...], bool, int]
"""Main verb (-1: none yet), further main verbs, where each open clause began, whether the last verb was an inner
one, and the last comma or "and" behind a verb (-1: none)."""
States = dict[State, float]
_Key = TypeVar("_Key")


def search(s: Sentence, start: int, begin: int, verbs: Collection[int], states: States) -> States:
    """The states behind the last of the candidates `verbs`, from those before word `begin`."""
    tags, joint = s.tags, last_joint(s)
    for i in range(begin, max(verbs) + 1):
        tag = tags[i]
        if tag & JOINTS:
            comma = bool(tag & f.BREAK)
            reached: States = {}
            for (main, others, waiting, inner, _), odds in states.items():
                state = (main, others, waiting, inner, i)
                reached[state] = max(reached.get(state, NEVER), odds - 2.0 if comma and waiting else odds)
            states = reached
        elif i in verbs or tag & OPENERS or may_open(s, i):
            states = _read(s, i, start, tag, states)
            mains = {state[0] for state in states}
            if i > joint and (len(mains) == 1 and -1 not in mains):
                break
    return states


def may_open(s: Sentence, i: int) -> bool:
    """Return whether a noun phrase that starts at word `i` may open a clause without a conjunction."""
    tag, before = s.tags[i], s.tag(i - 1)
    if tag & NOMINAL:
        return bool(before & _BEFORE_CONTACT)
    return bool(tag & f.NOUN and not tag & f.CLOSED) and _reports(s, i - 1)


def _reports(s: Sentence, i: int) -> bool:
    """Return whether a clause without a conjunction may follow: "declares | country is at war"."""
    return bool(s.tag(i) & f.EMBED and not s.tag(i) & f.USUALLY_NOUN) and not takes_complement(s, i)


def last_joint(s: Sentence) -> int:
    """Index of the last comma or "and"; -1 when there is none."""
    return max((i for i, tag in enumerate(s.tags) if tag & JOINTS), default=-1)


def prune(readings: dict[_Key, float]) -> None:
    """Drop the readings that are much less likely than the best."""
    floor = max(readings.values()) - _GIVEN_UP
    if len(readings) > _MOST_STATES:
        floor = max(floor, sorted(readings.values())[-_MOST_STATES])
    for key in [key for key, odds in readings.items() if odds < floor]:
        del readings[key]


def _read(s: Sentence, i: int, start: int, tag: int, states: States) -> States:
    """Return every state under every reading of word `i`; unlikely ones are dropped."""
    opener = read_opener(s, i, start) if tag & _LINKING or may_open(s, i) else None
    verb = _Verb(s, i, start) if tag & VERBAL else None
    if opener is None and verb is None:
        return states
    lost = unread_verb_odds(s, i) if i + 1 == len(s.tags) else 0.0
    reached: States = {} if opener is not None and opener.passes == NO else dict(states)
    if lost:
        reached = {state: odds - lost * (state[0] < 0) for state, odds in reached.items()}
    if opener is not None:
        at = i + (not tag & (NOMINAL | f.NOUN))
        free = s.tags[start] & FRONTED and "," not in s.words[start:i]
        stuck = tag & (f.DET | f.SUBJ) and i > start and not free
        for state, odds in states.items():
            if stuck and state[0] < 0 and not state[2]:
                reached[state] = odds - 1.5  # two noun phrases in a row, and no verb yet: "the cake my mother …"
            if tag & f.CLITIC:  # the verb is there already: "anyone who's tired", "the food they've bought"
                _keep_best(reached, (*state[:3], True, state[4]), odds + opener.opens + SURE)
            else:
                _add_opened(reached, state, odds, opener.opens, opener.passes, at)
    if verb is not None and (opener is None or not tag & f.CLITIC or opener.passes != NO):
        for state, odds in states.items():
            verb.read(reached, state, odds)
    prune(reached)
    return reached


def _add_opened(reached: States, state: State, odds: float, opens: float, passes: float, at: int) -> None:
    main, others, waiting, inner, joint = state
    if passes not in (NO, 0.0):
        reached[state] = odds + passes
    if len(waiting) < _DEEPEST:
        _keep_best(reached, (main, others, (*waiting, at), inner, joint), odds + opens)
    elif passes == NO:
        _keep_best(reached, state, odds)


def _keep_best(reached: States, state: State, odds: float) -> None:
    reached[state] = max(reached.get(state, NEVER), odds)


class _Verb:
    """A candidate, and what it can do to a state; what does not depend on the state is worked out once."""

    __slots__ = ("_inner", "_main", "_odds", "i", "s", "start")

    def __init__(self, s: Sentence, i: int, start: int) -> None:
        self.s, self.i, self.start = s, i, start
        self._odds: float | None = None
        self._main: float | None = None
        self._inner: dict[int, float] = {}

    def read(self, reached: States, state: State, odds: float) -> None:
        """Add the states that `state`, whose log-odds are `odds`, leads to when this is a finite verb."""
        if state[2]:
            self._as_inner(reached, state, odds)
            return
        if self._odds is None:
            self._odds = finite_odds(self.s, self.i, self.start)
        if self._odds == NEVER:
            return
        if state[0] < 0:
            self._as_main(reached, state, odds, self._odds)
        elif state[4] == -1:
            _keep_best(reached, state, odds + (self._odds + UNLICENSED))
        else:
            self._as_further(reached, state, odds, self._odds)

    def _as_further(self, reached: States, state: State, odds: float, finite: float) -> None:
        main, others, waiting, inner, joint = state
        gain = finite + joined_odds(self.s, self.i, joint, main) + (0.5 if others else -0.5)
        if inner:
            _keep_best(reached, (main, others, waiting, inner, -1), odds + gain)
            gain -= 1.0
        _keep_best(reached, (main, (*others, self.i), waiting, False, -1), odds + gain)

    def _as_main(self, reached: States, state: State, odds: float, finite: float) -> None:
        _, others, waiting, inner, joint = state
        s, i = self.s, self.i
        if self._main is None:
            self._main = main_odds(s, i, self.start, finite)
        main = self._main + (relative_object_odds(s, i) if inner else 0.0)
        joins = s.tag(before_adverbs(s, i)) & f.COORD
        free = s.tags[self.start] & FRONTED and "," not in s.words[self.start : i]
        if s.tags[i] & f.CLITIC and i > self.start and s.tags[i - 1] & f.NOUN and not free:
            main -= 6.0  # "the people | I've met"
        if joins or (inner and joint >= 0 and s.tags[joint] & f.COORD and s.tags[self.start] & FRONTED):
            main -= 4.0  # "If it rains and the road is wet, …": no main clause starts with "and"
        _keep_best(reached, (i, others, waiting, False, -1), odds + main)
        if s.tags[i] & f.EMBED:
            _keep_best(reached, (i, others, (i + 1,), False, -1), odds + (main - 1.0))
        if inner and joint >= 0 and s.tags[joint] & f.COORD:
            _keep_best(reached, (-1, others, waiting, inner, -1), odds + (finite + joined_odds(s, i, joint, -1) - 0.5))

    def _as_inner(self, reached: States, state: State, odds: float) -> None:
        main, others, waiting, _, _ = state
        begin = waiting[-1]
        gain = self._inner.get(begin)
        if gain is None:
            gain = self._inner[begin] = inner_odds(self.s, self.i, begin)
        if gain == NEVER:
            return
        _keep_best(reached, (main, others, waiting[:-1], True, -1), odds + gain)
        if self.s.tags[self.i] & f.EMBED:
            _keep_best(reached, (main, others, (*waiting[:-1], self.i + 1), True, -1), odds + (gain - 2.0))


UNFINISHED = f.PREP | f.DET | f.TO | f.AUX
"""What the last word of a sentence that is to be continued may be."""
_SUBJECT = f.NOUN | f.SUBJ | f.NAME | f.QUANT | f.ING | f.QUOTED | f.WH | f.NUMBER


def main_odds(s: Sentence, i: int, start: int, odds: float) -> float:
    """Log-odds that a candidate with `odds` is the verb of the main clause that starts at `start`."""
    if s.tags[i] & f.AUX:
        return odds + _subject_odds(s, i, start)
    return odds + agreement(s, i, start) + _aside_odds(s, i, start) + _subject_odds(s, i, start)


def inner_odds(s: Sentence, i: int, begin: int) -> float:
    """Log-odds that word `i` is the verb of the inner clause that began at `begin`."""
    if after_adverbs(s, begin - 1) == i:
        return relative_odds(s, i) if s.tag(begin - 1) & f.REL else finite_odds(s, i, begin) - 4.0
    odds = finite_odds(s, i, begin)
    return odds if odds == NEVER else odds + agreement(s, i, begin)


def relative_object_odds(s: Sentence, i: int) -> float:
    """Log-odds lost by a main verb right behind that of a relative clause, whose object it would rather be.

    "The pigment that makes leaves green is …"; but "The train that stops leaves late."
    """
    k = before_adverbs(s, i)
    if s.tags[i] & f.AUX or not s.tag(before_adverbs(s, k)) & f.REL:
        return 0.0
    completed = s.tag(i + 1) & f.ADJ and s.tag(i + 2) & VERBAL
    return -5.0 if completed or takes_complement(s, k) else -1.0


def joined_odds(s: Sentence, i: int, joint: int, main: int) -> float:
    """Log-odds that a verb behind a comma or "and" belongs to a further clause or predicate."""
    shared = after_adverbs(s, joint) == i
    if s.words[i - 1] == "please":
        return -3.0
    if shared and s.tag(main) & (f.BE | f.HAVE) and s.tags[i] & f.PART:
        return -5.0  # "was heated and weighed"
    comma = -2.0 if s.words[joint] == "," and not shared else 0.0
    return comma if shared else comma + agreement(s, i, joint + 1)


def unread_verb_odds(s: Sentence, i: int) -> float:
    """Log-odds lost by not reading the last word as a verb where no participle would stand: "The story cried."."""
    past = s.tags[i] & f.PAST and not s.tags[i] & (f.BASE | f.ADJ)
    before = s.tag(i - 1)
    return 2.0 if s.closed and past and before & f.NOUN else 0.0


def ending_odds(s: Sentence, *, has_verb: bool, waiting: int = 0, inner: bool = False) -> float:
    """Log-odds of a sentence that ends with its main verb found or not, and `waiting` clauses still without one."""
    complete = s.closed or s.tags[-1] & UNFINISHED  # nothing that ends in "is" or "the" is a title
    missing = (-5.0 if complete else -1.5) * waiting
    if has_verb:
        return missing
    dependent = waiting or (inner and s.tags[0] & FRONTED)  # "Because it rained." is no sentence
    long = -0.5 if len(s.words) > 3 else 0.0
    if not complete:
        return missing + (-0.5 if dependent else 0.4)
    return missing + (-3.0 if dependent else -2.2 if inner else long)


def _subject_odds(s: Sentence, i: int, start: int) -> float:
    """Log-odds lost where no word before could be a subject, and the verb is no order either."""
    if s.tags[start] & f.PREP and s.tag(start + 1) & f.ING and "," not in s.words[start:i] and "," in s.words[i:]:
        return -4.0  # "Despite being on the list, …"
    if i == start or s.tags[i] & f.BASE or any(tag & _SUBJECT for tag in s.tags[start:i]):
        return 0.0
    return -4.0


def _aside_odds(s: Sentence, i: int, start: int) -> float:
    """Log-odds lost by a full verb between two commas behind the subject: "Anna, a maker of aids, …"."""
    if s.tags[i] & f.EMBED and s.word(i - 2) == "," == s.word(i + 1):
        return -8.0  # "The film, I think, starts at eight."
    if s.tags[start] & FRONTED or s.words[i - 1] == ",":
        return 0.0
    inside = s.words[start:i].count(",") == 1 and "," in s.words[i:]
    return -2.5 if inside else 0.0


NO = -math.inf
_NO_CLAUSE = words("of than as")
_TIMES = words("time day night week month year morning evening afternoon")
_AS_BEFORE = words("soon long far much just best well")
_TO_INFINITIVE = words("how what where when whether who which")


class Link(NamedTuple):
    """Log-odds of the two readings of a word that may open a clause."""

    opens: float
    """It opens one."""
    passes: float
    """It does not; `NO` when it must."""


def read_opener(s: Sentence, i: int, start: int) -> Link | None:
    """The readings of word `i` as an opener; None when it is none."""
    tag = s.tags[i]
    if tag & f.OPENER:
        return _read_that(s, i, start) if s.words[i] == "that" else _opener(s, i, tag)
    if tag & f.LOOSE and (not tag & f.FINITE or s.words[i] == "like"):
        return Link(_loose_odds(s, i, start), -1.0 if i == start else 0.0)
    if not tag & NOMINAL:
        return Link(-1.0, 0.0) if i > start and not tag & f.CLOSED and _reports(s, i - 1) else None
    if (not tag & f.AUX or tag & f.CLITIC) and i > start and _follows_noun(s, i):
        odds = -0.7 if tag & f.SUBJ and not tag & f.DET else -1.8
        if s.words[i - 1] in _TIMES or (
            tag & f.NAME
            and not (s.tag((i - 1) - 1) | (s.tag((i - 1) - 2) if s.tag((i - 1) - 1) & f.ADJ else 0)) & (f.DET | f.QUANT)
        ):
            odds -= 2.0  # "Later that day | he left.", "the striker | Anna Hill"
        return Link(odds, 0.0)
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


def _read_that(s: Sentence, i: int, start: int) -> Link:
    """Return whether "that" opens a clause, or points at something: "that book", "That is good"."""
    before, after = s.tag(i - 1), s.tag(i + 1)
    if after & f.BREAK:
        return Link(-4.0, 0.0)
    if i == start or before & (f.PREP | f.TO) or s.word(i - 1) in ("than", "as", "like"):
        return Link(0.0, -2.0 if after & f.NP_START else 1.0)
    if before & f.NOUN and not before & f.VERB:
        return Link(0.0, -4.0)
    if before & (f.BREAK | f.COORD) and is_finite_aux(s, i + 1):
        return Link(0.0, 0.0)
    return Link(0.0, -1.5)


def _loose_odds(s: Sentence, i: int, start: int) -> float:
    """Log-odds that "after", "as", "than" … opens a clause rather than a phrase."""
    after = s.tag(i + 1)
    if after & f.SUBJ and not after & f.DET and i > start:
        return 1.5
    if after & f.PREP:
        return -4.0
    if s.words[i] == "as" and (s.word(i - 1) in _AS_BEFORE or (i == start + 1 and s.tags[start] & f.ADJ)):
        return 0.5  # "as soon as", "strange as it seems"
    if i == start:
        return 1.0 if s.word(i + 1) not in _AS_BEFORE and not after & f.ING else -3.0
    return (-1.5 if s.words[i] == "as" else -3.0) if s.words[i] in _NO_CLAUSE else -0.3


def _follows_noun(s: Sentence, i: int) -> bool:
    """Return whether a noun phrase may open a clause without a conjunction: "the food they eat", "I think he is"."""
    before = s.tags[i - 1]
    if before & f.OBJ and not before & f.SUBJ:
        return bool(s.tag(i - 2) & f.EMBED)  # "tell him | the boy had left"
    if before & f.QUOTED or before & s.tags[i] & f.NAME:
        return bool(before & f.QUOTED) and i > 1
    if s.words[i - 1] in PARTICLES and s.tag(i - 2) & f.EMBED:
        return True  # "found out | it was"
    return bool(before & f.EMBED) or (bool(before & (f.NOUN | f.SUBJ)) and not before & (f.CLOSED & ~f.SUBJ))
