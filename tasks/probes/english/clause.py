"""Finds the finite verb of the main clause: the reading in which every clause has exactly one.

A word of many readings is a verb where its clause would else have none. So the words are read left to right, the
likeliest readings of openers ("that", "because", "who") and candidates are kept with their log-odds, and the best
total decides: a beam search over a handful of states.
"""

from __future__ import annotations

from typing import NamedTuple

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import after_adverbs
from contrapose.tasks.probes.english.links import NO, link
from contrapose.tasks.probes.english.odds import FRONTED, NEVER, agreement, finite_odds, relative_odds
from contrapose.tasks.probes.english.reading import Sentence

_VERBAL = f.FINITE | f.AUX
_OPENERS = f.OPENER | f.LOOSE
_NO_FINITE = f.TO | f.BE | f.HAVE | f.MODAL | f.DO | f.CLITIC
_NOT_BASE = f.THIRD | f.PAST | f.EMBED
_NOMINAL_TOO = f.NOUN | f.ADJ
_NOMINAL = f.NP_START | f.NAME
_LINKING = _OPENERS | _NOMINAL
_BEFORE_CONTACT = f.NOUN | f.SUBJ | f.EMBED
_SUBJECT = f.NOUN | f.SUBJ | f.NAME | f.QUANT | f.ING | f.QUOTED | f.WH | f.NUMBER
_BEAM = 4.5
_MOST_STATES = 24
_UNLICENSED = -7.0
_DEEPEST = 3

_State = tuple[int, tuple[int, ...], tuple[int, ...], bool, int]
"""Main verb (-1: none yet), further main verbs, where each open clause began, whether the last verb was an inner
one, and the last comma or "and" behind a verb (-1: none)."""
_States = dict[_State, float]


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


_NO_CLAUSE = Clause(start=-1, verb=-1, lexical=False, others=(), margin=_BEAM)


def find_clause(s: Sentence, start: int) -> Clause:
    """The main clause that starts at word `start`."""
    tags = s.tags
    verbs = _candidates(tags, start)
    if not verbs:
        return _contracted(s, start)
    if len(verbs) == 1 and not any(tag & _OPENERS for tag in tags[start : verbs[0]]):
        return _only(s, verbs[0], start)
    states: _States = {(-1, (), (), False, -2): 0.0}
    joints = _last_joint(tags)
    for i in range(start, verbs[-1] + 1):
        tag = tags[i]
        if tag & (f.BREAK | f.COORD):
            states = _join(states, i, comma=bool(tag & f.BREAK))
        elif i in verbs or tag & _OPENERS or (tag & _NOMINAL and i > start and tags[i - 1] & _BEFORE_CONTACT):
            states = _read(s, i, start, tag, states)
            if i > joints and _settled(states):
                break
    return _decide(s, start, states)


def _candidates(tags: list[int], start: int) -> list[int]:
    """Indices of the words that may be finite verbs, judged by the words next to them alone."""
    found = []
    before = behind = 0  # the word before; the same, adverbs stepped over
    last = len(tags) - 1
    for i in range(start, last + 1):
        tag = tags[i]
        if tag & _VERBAL and not tag & f.NAME:
            noun = tag & _NOMINAL_TOO and not tag & f.CLOSED
            if tag & f.AUX or not (
                behind & _NO_FINITE
                or (noun and before & f.DET and not before & (f.SUBJ | f.REL))
                or (noun and i < last and tags[i + 1] & f.AUX and before & f.SINGULAR and not tag & _NOT_BASE)
            ):
                found.append(i)
        if not tag & f.ADV:
            behind = tag if not (tag & f.AUX and before & f.DET) else 0  # "the can"
        before = tag
    return found


def _contracted(s: Sentence, start: int) -> Clause:
    """The clause whose verb is an "is" or "has" contracted with a noun: "The dog's sleeping."."""
    for i in range(start, len(s.words) - 1):
        k = after_adverbs(s, i)
        after, behind = s.tag(k), s.tag(k + 1)
        says = after & f.DET or (after & (f.ING | f.PART | f.ADJ) and not behind & (f.NOUN | f.ADJ | f.NAME))
        if s.words[i].endswith("'s") and s.tags[i] & f.NOUN and says:
            s.tags[i] |= f.CLITIC
            return Clause(start, i, lexical=False, others=(), margin=1.0)
    return _NO_CLAUSE


def _only(s: Sentence, i: int, start: int) -> Clause:
    """The clause whose one candidate is word `i`, with no opener before it."""
    odds = finite_odds(s, i, start)
    if s.tags[i] & f.AUX and odds > _BEAM and i > start:
        return Clause(start, i, lexical=False, others=(), margin=_BEAM)
    if odds != NEVER:
        odds = _main_odds(s, i, start, odds)
    margin = odds - _ending(s, (-1, (), (), False, -1))
    if margin <= 0:
        return _NO_CLAUSE
    return Clause(start, i, lexical=not s.tags[i] & f.AUX, others=(), margin=margin)


def _last_joint(tags: list[int]) -> int:
    """Index of the last comma or "and"; -1 when there is none."""
    for i in range(len(tags) - 1, -1, -1):
        if tags[i] & (f.BREAK | f.COORD):
            return i
    return -1


def _settled(states: _States) -> bool:
    """Whether all states have one and the same main verb, so that nothing behind it can change that."""
    if len(states) == 1:
        (state,) = states
        return state[0] >= 0
    mains = {state[0] for state in states}
    return len(mains) == 1 and -1 not in mains


def _decide(s: Sentence, start: int, states: _States) -> Clause:
    if len(states) == 1:
        (only,) = states
        lexical = only[0] >= 0 and not s.tags[only[0]] & f.AUX
        return Clause(start, only[0], lexical, only[1], _BEAM)
    totals = {state: odds + _ending(s, state) for state, odds in states.items()}
    best = max(totals, key=totals.__getitem__)
    rivals = [odds for state, odds in totals.items() if state[0] != best[0]]
    return Clause(
        start=start,
        verb=best[0],
        lexical=best[0] >= 0 and not s.tags[best[0]] & f.AUX,
        others=best[1],
        margin=totals[best] - max(rivals) if rivals else _BEAM,
    )


def _ending(s: Sentence, state: _State) -> float:
    main, _, waiting, inner, _ = state
    missing = (-5.0 if s.closed else -1.5) * len(waiting)
    if main >= 0:
        return missing
    dependent = inner or waiting  # "Because it rained." is no sentence
    long = -0.5 if len(s.words) > 3 else 0.0
    return missing + ((-3.0 if dependent else long) if s.closed else (-0.5 if dependent else 0.4))


def _join(states: _States, i: int, *, comma: bool) -> _States:
    """A comma or "and": a further verb may follow."""
    found: _States = {}
    for (main, others, waiting, inner, _), odds in states.items():
        state = (main, others, waiting, inner, i)
        found[state] = max(found.get(state, NEVER), odds - 1.0 if comma and waiting else odds)
    return found


def _read(s: Sentence, i: int, start: int, tag: int, states: _States) -> _States:
    """Every state under every reading of word `i`; unlikely ones are dropped."""
    opener = link(s, i, start) if tag & _LINKING else None
    verb = _Verb(s, i, start) if tag & _VERBAL and not tag & f.NAME else None
    if opener is None and verb is None:
        return states
    lost = _unexplained(s, i, tag) if tag & f.PAST else 0.0
    found: _States = {} if opener is not None and opener.passes == NO else dict(states)
    if lost:
        found = {state: odds - lost for state, odds in found.items()}
    if opener is not None:
        at = i + (not tag & _NOMINAL)
        stuck = tag & (f.DET | f.SUBJ) and i > start and not s.tags[start] & FRONTED
        for state, odds in states.items():
            if stuck and state[0] < 0 and not state[2]:
                found[state] = odds - 1.5  # two noun phrases in a row, and no verb yet: "the cake my mother …"
            _open(found, state, odds, opener.opens, opener.passes, at)
    if verb is not None:
        for state, odds in states.items():
            for after, gain in verb.readings(state):
                _keep(found, after, odds + gain)
    if len(found) == 1:
        return found
    floor = max(found.values()) - _BEAM
    if len(found) > _MOST_STATES:
        floor = max(floor, sorted(found.values())[-_MOST_STATES])
    return {state: odds for state, odds in found.items() if odds >= floor}


def _unexplained(s: Sentence, i: int, tag: int) -> float:
    """Log-odds lost by not reading a past form as a verb where no participle would stand: "The story cried."."""
    last = i + 1 == len(s.tags) and s.closed
    stray = (
        last and tag & f.PAST and not tag & (f.BASE | f.ADJ) and s.tag(i - 1) & f.NOUN and not s.tag(i - 1) & f.CLOSED
    )
    return 2.0 if stray else 0.0


def _open(found: _States, state: _State, odds: float, opens: float, passes: float, at: int) -> None:
    main, others, waiting, inner, joint = state
    if passes not in (NO, 0.0):
        found[state] = odds + passes
    if opens != NO and len(waiting) < _DEEPEST:
        _keep(found, (main, others, (*waiting, at), inner, joint), odds + opens)
    elif passes == NO:
        _keep(found, state, odds)


def _keep(found: _States, state: _State, odds: float) -> None:
    if odds > found.get(state, NEVER):
        found[state] = odds


class _Verb:
    """A candidate, and what it can do to a state; what does not depend on the state is worked out once."""

    __slots__ = ("_inner", "_main", "i", "odds", "s", "start")

    def __init__(self, s: Sentence, i: int, start: int) -> None:
        self.s, self.i, self.start = s, i, start
        self.odds = finite_odds(s, i, start)
        self._main: float | None = None
        self._inner: dict[int, float] = {}

    def readings(self, state: _State) -> list[tuple[_State, float]]:
        """The states that it leads to as a finite verb, with the log-odds of each."""
        main, others, waiting, inner, joint = state
        if waiting:
            return self._as_inner(state)
        if self.odds == NEVER:
            return []
        if main < 0:
            return self._as_main(state)
        if joint == -1:
            return [(state, self.odds + _UNLICENSED)]
        odds = self.odds + _joined(self.s, self.i, joint, main) + (0.5 if others else -0.5)
        another = (main, (*others, self.i)[:4], waiting, False, -1)
        if inner:
            return [((main, others, waiting, inner, -1), odds), (another, odds - 1.0)]
        return [(another, odds)]

    def _as_main(self, state: _State) -> list[tuple[_State, float]]:
        _, others, waiting, inner, joint = state
        s, i = self.s, self.i
        if self._main is None:
            self._main = _main_odds(s, i, self.start, self.odds)
        found: list[tuple[_State, float]] = [((i, others, waiting, False, -1), self._main)]
        if s.tags[i] & f.EMBED:
            found.append(((i, others, (i + 1,), False, -1), self._main - 1.0))
        if inner and joint != -1 and s.tag(i - 1) & f.COORD:
            found.append(((-1, others, waiting, inner, -1), self.odds - 0.5))
        return found

    def _as_inner(self, state: _State) -> list[tuple[_State, float]]:
        main, others, waiting, _, _ = state
        begin = waiting[-1]
        odds = self._inner.get(begin)
        if odds is None:
            odds = self._inner[begin] = _inner_odds(self.s, self.i, begin)
        if odds <= NEVER / 2:
            return []
        found: list[tuple[_State, float]] = [((main, others, waiting[:-1], True, -1), odds)]
        if self.s.tags[self.i] & f.EMBED:
            found.append(((main, others, (*waiting[:-1], self.i + 1), True, -1), odds - 2.0))
        return found


def _main_odds(s: Sentence, i: int, start: int, odds: float) -> float:
    """Log-odds that a candidate with `odds` is the verb of the main clause that starts at `start`."""
    return odds + agreement(s, i, start) + _aside(s, i, start) + _subject(s, i, start)


def _inner_odds(s: Sentence, i: int, begin: int) -> float:
    """Log-odds that word `i` is the verb of the inner clause that began at `begin`."""
    if after_adverbs(s, begin - 1) == i:
        return relative_odds(s, i) if s.tag(begin - 1) & f.REL else finite_odds(s, i, begin) - 4.0
    odds = finite_odds(s, i, begin)
    return odds if odds == NEVER else odds + agreement(s, i, begin)


def _joined(s: Sentence, i: int, joint: int, main: int) -> float:
    """Log-odds that a verb behind a comma or "and" belongs to a further clause or predicate."""
    shared = after_adverbs(s, joint) == i
    if shared and s.tags[main] & (f.BE | f.HAVE) and s.tags[i] & f.PART:
        return -5.0  # "was heated and weighed"
    comma = -2.0 if s.words[joint] == "," and not shared else 0.0
    return comma if shared else comma + agreement(s, i, joint + 1)


def _subject(s: Sentence, i: int, start: int) -> float:
    """Log-odds lost where no word before could be a subject, and the verb is no order either."""
    if i == start or any(tag & _SUBJECT for tag in s.tags[start:i]):
        return 0.0
    return 0.0 if s.tags[i] & f.BASE else -4.0


def _aside(s: Sentence, i: int, start: int) -> float:
    """Log-odds lost by a full verb between two commas behind the subject: "Anna, a maker of aids, …"."""
    if s.tags[i] & f.EMBED and s.word(i - 2) == "," == s.word(i + 1):
        return -8.0  # "The film, I think, starts at eight."
    if s.tags[i] & f.AUX or s.tags[start] & FRONTED or s.words[i - 1] == ",":
        return 0.0
    inside = s.words[start:i].count(",") == 1 and "," in s.words[i:]
    return -2.5 if inside else 0.0
