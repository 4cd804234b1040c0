"""Find the most likely division of a sentence into clauses, by the odds of its verbs."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import index_after_adverbs, index_before_adverbs, is_finite_aux, takes_complement
from contrapose.tasks.language.odds import (
    FRONTED,
    NEVER,
    PARTICLES,
    SURE,
    score_agreement,
    score_finite_verb,
    score_relative_verb,
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
_UNLICENSED = -7.0
"""Log-odds lost by a finite verb that no clause waits for."""
_LINKING = OPENERS | NOMINAL
_MOST_STATES = 24
_DEEPEST = 3

State = tuple[int, tuple[int, ...], tuple[int, ...], bool, int]
"""Main verb (-1: none yet), further main verbs, where each open clause began, whether the last verb was an inner
one, and the last comma or "and" behind a verb (-1: none)."""
States = dict[State, float]
_NOTHING_READ: State = (-1, (), (), False, -1)


def search_clauses(s: Sentence, start: int, verbs: Collection[int]) -> States:
    """Return the search states after the last candidate in `verbs` for the verb of the main clause from `start`."""
    tags, states = s.tags, {_NOTHING_READ: 0.0}
    joint = max((i for i, tag in enumerate(tags) if tag & JOINTS), default=-1)
    for i in range(start, max(verbs) + 1):
        tag = tags[i]
        if tag & JOINTS:
            comma = bool(tag & f.BREAK)
            reached: States = {}
            for (main, others, waiting, inner, _), odds in states.items():
                state = (main, others, waiting, inner, i)
                reached[state] = max(reached.get(state, NEVER), odds - 2.0 if comma and waiting else odds)
            states = reached
        elif i in verbs or tag & OPENERS or _may_open(s, i):
            states = _read(s, i, start, tag, states)
            mains = {state[0] for state in states}
            if i > joint and (len(mains) == 1 and -1 not in mains):
                break
    return states


def _may_open(s: Sentence, i: int) -> bool:
    """Return whether a noun phrase that starts at word `i` may open a clause without a conjunction."""
    tag, before = s.tags[i], s.tag(i - 1)
    if tag & NOMINAL:
        return bool(before & _BEFORE_CONTACT)
    return bool(tag & f.NOUN and not tag & f.CLOSED) and _is_reporting_verb(s, i - 1)


def _is_reporting_verb(s: Sentence, i: int) -> bool:
    """Return whether a clause without a conjunction may follow the verb: "declares | country is at war"."""
    return bool(s.tag(i) & f.EMBED and not s.tag(i) & f.USUALLY_NOUN) and not takes_complement(s, i)


def _read(s: Sentence, i: int, start: int, tag: int, states: States) -> States:
    """Return the states after each possible reading of word `i`, without the unlikely states."""
    opener = read_opener(s, i, start) if tag & _LINKING or _may_open(s, i) else None
    if opener is None and not tag & VERBAL:
        return states
    lost = _score_unread_verb(s, i) if i + 1 == len(s.tags) else 0.0
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
                continue
            main, others, waiting, inner, joint = state
            if opener.passes not in (NO, 0.0):
                reached[state] = odds + opener.passes
            if len(waiting) < _DEEPEST:
                _keep_best(reached, (main, others, (*waiting, at), inner, joint), odds + opener.opens)
            elif opener.passes == NO:
                _keep_best(reached, state, odds)
    if tag & VERBAL and (opener is None or not tag & f.CLITIC or opener.passes != NO):
        _read_verb(s, i, start, states, reached)
    floor = max(reached.values()) - _GIVEN_UP
    if len(reached) > _MOST_STATES:
        floor = max(floor, sorted(reached.values())[-_MOST_STATES])
    return {state: odds for state, odds in reached.items() if odds >= floor}


def _keep_best(reached: States, state: State, odds: float) -> None:
    reached[state] = max(reached.get(state, NEVER), odds)


def _read_verb(s: Sentence, i: int, start: int, states: States, reached: States) -> None:
    """Add to `reached` the states that follow `states` if word `i` is a finite verb."""
    begins = {state[2][-1] for state in states if state[2]}
    inner_gains = {begin: score_inner_verb(s, i, begin) for begin in begins}
    finite = score_finite_verb(s, i, start) if any(not state[2] for state in states) else NEVER
    first = NEVER
    if finite != NEVER and any(state[0] < 0 and not state[2] for state in states):
        first = score_main_verb(s, i, start, finite)
        free = s.tags[start] & FRONTED and "," not in s.words[start:i]
        if s.tags[i] & f.CLITIC and i > start and s.tags[i - 1] & f.NOUN and not free:
            first -= 6.0  # "the people | I've met"
    k = index_before_adverbs(s, i)
    joins = s.tag(k) & f.COORD and (k >= start or s.tags[i] & f.EMBED)  # after "So" or "And", only "let", "think" …
    for state, odds in states.items():
        main, others, waiting, inner, joint = state
        behind_and = inner and joint >= 0 and s.tags[joint] & f.COORD
        if waiting:
            gain = inner_gains[waiting[-1]]
            if gain != NEVER:
                _keep_best(reached, (main, others, waiting[:-1], True, -1), odds + gain)
                if s.tags[i] & f.EMBED:
                    _keep_best(reached, (main, others, (*waiting[:-1], i + 1), True, -1), odds + (gain - 2.0))
        elif finite == NEVER:
            continue
        elif main < 0:
            gain = first + (score_relative_object(s, i) if inner else 0.0)
            if joins or (behind_and and s.tags[start] & FRONTED):
                gain -= 4.0  # "If it rains and the road is wet, …": no main clause starts with "and"
            _keep_best(reached, (i, others, waiting, False, -1), odds + gain)
            if s.tags[i] & f.EMBED:
                _keep_best(reached, (i, others, (i + 1,), False, -1), odds + (gain - 1.0))
            if behind_and:
                gain = finite + score_joined_verb(s, i, joint, -1) - 0.5
                _keep_best(reached, (-1, others, waiting, inner, -1), odds + gain)
        elif joint == -1:
            _keep_best(reached, state, odds + (finite + _UNLICENSED))
        else:
            gain = finite + score_joined_verb(s, i, joint, main) + (0.5 if others else -0.5)
            if inner:
                _keep_best(reached, (main, others, waiting, inner, -1), odds + gain)
                gain -= 1.0
            _keep_best(reached, (main, (*others, i), waiting, False, -1), odds + gain)


UNFINISHED = f.PREP | f.DET | f.TO | f.AUX
"""What the last word of a sentence that is to be continued may be."""
_SUBJECT = f.NOUN | f.SUBJ | f.NAME | f.QUANT | f.ING | f.QUOTED | f.WH | f.NUMBER


def score_main_verb(s: Sentence, i: int, start: int, odds: float) -> float:
    """Return the log-odds that a candidate with `odds` is the verb of the main clause that starts at `start`."""
    tag, commas = s.tags[i], s.words[start:i].count(",")
    # Lost where no word before could be a subject, and the verb is no order either.
    subject = 0.0 if i == start or tag & f.BASE or any(word & _SUBJECT for word in s.tags[start:i]) else -4.0
    if s.tags[start] & f.PREP and s.tag(start + 1) & f.ING and not commas and "," in s.words[i:]:
        subject = -4.0  # "Despite being on the list, …"
    if tag & f.AUX:
        return odds + subject
    # Lost by a full verb between two commas behind the subject: "Anna, a maker of aids, …".
    behind = not s.tags[start] & FRONTED and s.words[i - 1] != ","
    aside = -2.5 if behind and commas == 1 and "," in s.words[i:] else 0.0
    if tag & f.EMBED and s.word(i - 2) == "," == s.word(i + 1):
        aside = -8.0  # "The film, I think, starts at eight."
    return odds + score_agreement(s, i, start) + aside + subject


def score_inner_verb(s: Sentence, i: int, begin: int) -> float:
    """Return the log-odds that word `i` is the verb of the inner clause that began at `begin`."""
    if index_after_adverbs(s, begin - 1) == i:
        return score_relative_verb(s, i) if s.tag(begin - 1) & f.REL else score_finite_verb(s, i, begin) - 4.0
    odds = score_finite_verb(s, i, begin)
    return odds if odds == NEVER else odds + score_agreement(s, i, begin)


def score_relative_object(s: Sentence, i: int) -> float:
    """Return log-odds lost after a relative clause: "makes leaves green is …", not "The train that stops leaves"."""
    k = index_before_adverbs(s, i)
    if s.tags[i] & f.AUX or not s.tag(index_before_adverbs(s, k)) & f.REL:
        return 0.0
    completed = s.tag(i + 1) & f.ADJ and s.tag(i + 2) & VERBAL
    return -5.0 if completed or takes_complement(s, k) else -1.0


def score_joined_verb(s: Sentence, i: int, joint: int, main: int) -> float:
    """Return the log-odds that a verb after a comma or "and" belongs to another clause or predicate."""
    shared = index_after_adverbs(s, joint) == i
    if s.words[i - 1] == "please":
        return -3.0
    if shared and s.tag(main) & (f.BE | f.HAVE) and s.tags[i] & f.PART:
        return -5.0  # "was heated and weighed"
    comma = -2.0 if s.words[joint] == "," and not shared else 0.0
    return comma if shared else comma + score_agreement(s, i, joint + 1)


def _score_unread_verb(s: Sentence, i: int) -> float:
    """Return log-odds lost if the last word is not read as a verb, but no participle fits: "The story cried."."""
    past = s.tags[i] & f.PAST and not s.tags[i] & (f.BASE | f.ADJ)
    before = s.tag(i - 1)
    return 2.0 if s.closed and past and before & f.NOUN else 0.0


def score_ending(s: Sentence, *, has_verb: bool, waiting: int = 0, inner: bool = False) -> float:
    """Return the log-odds of a sentence's end, with or without a main verb, and `waiting` clauses without a verb."""
    complete = s.closed or s.tags[-1] & UNFINISHED  # nothing that ends in "is" or "the" is a title
    missing = (-5.0 if complete else -1.5) * waiting
    if has_verb:
        return missing
    dependent = waiting or (inner and s.tags[0] & FRONTED)  # "Because it rained." is no sentence
    long = -0.5 if len(s.words) > 3 else 0.0
    if not complete:
        return missing + (-0.5 if dependent else 0.4)
    return missing + (-3.0 if dependent else -2.2 if inner else long)


NO = -math.inf
_NO_CLAUSE = words("of than as")
_TIMES = words("time day night week month year morning evening afternoon")
_AS_BEFORE = words("soon long far much just best well")
_TO_INFINITIVE = words("how what where when whether who which")


class OpenerOdds(NamedTuple):
    """Log-odds of the two readings of a word that may or may not begin a clause."""

    opens: float
    passes: float
    """It does not; `NO` when it must."""


def read_opener(s: Sentence, i: int, start: int) -> OpenerOdds | None:
    """Return the log-odds of word `i` as the first word of a clause, or None if it cannot be one."""
    tag, word, before, after = s.tags[i], s.words[i], s.tag(i - 1), s.tag(i + 1)
    if word == "that" and tag & f.OPENER:
        # It opens a clause, or points at something: "that book", "That is good".
        if after & f.BREAK:
            return OpenerOdds(-4.0, 0.0)
        if i == start or before & (f.PREP | f.TO) or s.word(i - 1) in ("than", "as", "like"):
            return OpenerOdds(0.0, -2.0 if after & f.NP_START else 1.0)
        if before & f.NOUN and not before & f.VERB:
            return OpenerOdds(0.0, -4.0)
        return OpenerOdds(0.0, 0.0 if before & (f.BREAK | f.COORD) and is_finite_aux(s, i + 1) else -1.5)
    if tag & f.OPENER:
        if word in _TO_INFINITIVE and s.word(i + 1) == "to":
            return None
        if word in ("what", "which", "whose") and before & f.PREP and not after & (f.NP_START | f.AUX):
            return OpenerOdds(0.0, 0.0)
        if tag & f.SUB and after & (f.ING | f.PART | f.ADJ | f.PREP | f.BREAK):
            return OpenerOdds(-0.5, 0.0)  # "while driving", "if possible"
        return OpenerOdds(0.0, NO)
    if tag & f.LOOSE and (not tag & f.FINITE or word == "like"):
        return OpenerOdds(_score_loose_opener(s, i, start), -1.0 if i == start else 0.0)
    if not tag & NOMINAL:
        return OpenerOdds(-1.0, 0.0) if i > start and not tag & f.CLOSED and _is_reporting_verb(s, i - 1) else None
    if (not tag & f.AUX or tag & f.CLITIC) and i > start and _follows_noun(s, i):
        odds = -0.7 if tag & f.SUBJ and not tag & f.DET else -1.8
        determined = (s.tag(i - 2) | (s.tag(i - 3) if s.tag(i - 2) & f.ADJ else 0)) & (f.DET | f.QUANT)
        if s.words[i - 1] in _TIMES or (tag & f.NAME and not determined):
            odds -= 2.0  # "Later that day | he left.", "the striker | Anna Hill"
        return OpenerOdds(odds, 0.0)
    return None


def _score_loose_opener(s: Sentence, i: int, start: int) -> float:
    """Return the log-odds that "after", "as", "than" … begins a clause, not a phrase."""
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
    """Return whether a noun phrase may begin a clause without a conjunction: "the food they eat", "I think he is"."""
    before = s.tags[i - 1]
    if before & f.OBJ and not before & f.SUBJ:
        return bool(s.tag(i - 2) & f.EMBED)  # "tell him | the boy had left"
    if before & f.QUOTED or before & s.tags[i] & f.NAME:
        return bool(before & f.QUOTED) and i > 1
    if s.words[i - 1] in PARTICLES and s.tag(i - 2) & f.EMBED:
        return True  # "found out | it was"
    return bool(before & f.EMBED) or (bool(before & (f.NOUN | f.SUBJ)) and not before & (f.CLOSED & ~f.SUBJ))
