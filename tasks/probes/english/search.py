"""The beam search behind `clause`: the likeliest readings of openers ("that", "because", "who") and candidates."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.clause_odds import behind_relative, inner_odds, joined, main_odds, unexplained
from contrapose.tasks.probes.english.links import NO, link
from contrapose.tasks.probes.english.odds import FRONTED, NEVER, finite_odds
from contrapose.tasks.probes.english.sentence import Sentence

BEAM = 4.5
"""Log-odds behind the best reading at which another is given up."""
OPENERS = f.OPENER | f.LOOSE
JOINTS = f.BREAK | f.COORD
VERBAL = f.FINITE | f.AUX
NOMINAL = f.NP_START | f.NAME
BEFORE_CONTACT = f.NOUN | f.SUBJ | f.EMBED
"""What stands before a noun phrase that may open a clause without a conjunction."""
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
            states = _join(states, i, comma=bool(tag & f.BREAK))
        elif i in verbs or tag & OPENERS or (tag & NOMINAL and s.tag(i - 1) & BEFORE_CONTACT):
            states = _read(s, i, start, tag, states)
            if i > joint and _settled(states):
                break
    return states


def last_joint(s: Sentence) -> int:
    """Index of the last comma or "and"; -1 when there is none."""
    return max((i for i, tag in enumerate(s.tags) if tag & JOINTS), default=-1)


def prune(found: dict[_Key, float]) -> None:
    """Drop the readings that are much less likely than the best."""
    floor = max(found.values()) - BEAM
    if len(found) > _MOST_STATES:
        floor = max(floor, sorted(found.values())[-_MOST_STATES])
    for key in [key for key, odds in found.items() if odds < floor]:
        del found[key]


def _settled(states: States) -> bool:
    """Whether all states have one and the same main verb, so that nothing behind it can change that."""
    mains = {state[0] for state in states}
    return len(mains) == 1 and -1 not in mains


def _join(states: States, i: int, *, comma: bool) -> States:
    """A comma or "and": a further verb may follow."""
    found: States = {}
    for (main, others, waiting, inner, _), odds in states.items():
        state = (main, others, waiting, inner, i)
        found[state] = max(found.get(state, NEVER), odds - 1.0 if comma and waiting else odds)
    return found


def _read(s: Sentence, i: int, start: int, tag: int, states: States) -> States:
    """Every state under every reading of word `i`; unlikely ones are dropped."""
    opener = link(s, i, start) if tag & _LINKING else None
    verb = _Verb(s, i, start) if tag & VERBAL else None
    if opener is None and verb is None:
        return states
    lost = unexplained(s, i) if i + 1 == len(s.tags) else 0.0
    found: States = {} if opener is not None and opener.passes == NO else dict(states)
    if lost:
        found = {state: odds - lost for state, odds in found.items()}
    if opener is not None:
        at = i + (not tag & NOMINAL)
        stuck = tag & (f.DET | f.SUBJ) and i > start and not s.tags[start] & FRONTED
        for state, odds in states.items():
            if stuck and state[0] < 0 and not state[2]:
                found[state] = odds - 1.5  # two noun phrases in a row, and no verb yet: "the cake my mother …"
            _open(found, state, odds, opener.opens, opener.passes, at)
    if verb is not None:
        for state, odds in states.items():
            verb.read(found, state, odds)
    prune(found)
    return found


def _open(found: States, state: State, odds: float, opens: float, passes: float, at: int) -> None:
    main, others, waiting, inner, joint = state
    if passes not in (NO, 0.0):
        found[state] = odds + passes
    if len(waiting) < _DEEPEST:
        _keep(found, (main, others, (*waiting, at), inner, joint), odds + opens)
    elif passes == NO:
        _keep(found, state, odds)


def _keep(found: States, state: State, odds: float) -> None:
    found[state] = max(found.get(state, NEVER), odds)


class _Verb:
    """A candidate, and what it can do to a state; what does not depend on the state is worked out once."""

    __slots__ = ("_inner", "_main", "_odds", "i", "s", "start")

    def __init__(self, s: Sentence, i: int, start: int) -> None:
        self.s, self.i, self.start = s, i, start
        self._odds: float | None = None
        self._main: float | None = None
        self._inner: dict[int, float] = {}

    def read(self, found: States, state: State, odds: float) -> None:
        """Add the states that `state`, whose log-odds are `odds`, leads to when this is a finite verb."""
        if state[2]:
            self._as_inner(found, state, odds)
            return
        if self._odds is None:
            self._odds = finite_odds(self.s, self.i, self.start)
        if self._odds == NEVER:
            return
        if state[0] < 0:
            self._as_main(found, state, odds, self._odds)
        elif state[4] == -1:
            _keep(found, state, odds + (self._odds + UNLICENSED))
        else:
            self._as_further(found, state, odds, self._odds)

    def _as_further(self, found: States, state: State, odds: float, finite: float) -> None:
        main, others, waiting, inner, joint = state
        gain = finite + joined(self.s, self.i, joint, main) + (0.5 if others else -0.5)
        if inner:
            _keep(found, (main, others, waiting, inner, -1), odds + gain)
            gain -= 1.0
        _keep(found, (main, (*others, self.i), waiting, False, -1), odds + gain)

    def _as_main(self, found: States, state: State, odds: float, finite: float) -> None:
        _, others, waiting, inner, _ = state
        s, i = self.s, self.i
        if self._main is None:
            self._main = main_odds(s, i, self.start, finite)
        main = self._main + (behind_relative(s, i) if inner else 0.0)
        _keep(found, (i, others, waiting, False, -1), odds + main)
        if s.tags[i] & f.EMBED:
            _keep(found, (i, others, (i + 1,), False, -1), odds + (main - 1.0))
        if inner and s.tag(i - 1) & f.COORD:
            _keep(found, (-1, others, waiting, inner, -1), odds + (finite - 0.5))

    def _as_inner(self, found: States, state: State, odds: float) -> None:
        main, others, waiting, _, _ = state
        begin = waiting[-1]
        gain = self._inner.get(begin)
        if gain is None:
            gain = self._inner[begin] = inner_odds(self.s, self.i, begin)
        if gain == NEVER:
            return
        _keep(found, (main, others, waiting[:-1], True, -1), odds + gain)
        if self.s.tags[self.i] & f.EMBED:
            _keep(found, (main, others, (*waiting[:-1], self.i + 1), True, -1), odds + (gain - 2.0))
