"""Negates a wh-question: "Which gas is not used?", "What does a plant not need?"."""

from __future__ import annotations

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.copula import be_predicate, behind_copula, low
from contrapose.tasks.probes.negation.lexical import after_adverbs, before_adverbs, is_finite_aux
from contrapose.tasks.probes.negation.place import after_auxiliary, with_do
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import Plan, SkipError
from contrapose.tasks.probes.negation.subject import base_verb
from contrapose.tasks.probes.negation.words import words

_PLACES = words("where when why")


def negate_question(s: Sentence, start: int) -> Plan:
    """The plan that reverses the wh-question that starts at `start`.

    Raises:
        SkipError: no sound plan.
    """
    wh = next(i for i in range(start, len(s.words)) if s.tags[i] & t.WH)
    if s.words[wh].startswith("how"):
        raise SkipError("negative_island_how")
    if s.closed and not s.asks:
        raise SkipError("wh_subject_boundary")
    if s.tags[wh] & t.CLITIC:
        return behind_copula(s, wh, wh)
    verb = _first_verb(s, wh)
    if not is_finite_aux(s, verb):
        return with_do(s, verb)
    return _at_auxiliary(s, wh, verb, pied=wh > start)


def _first_verb(s: Sentence, wh: int) -> int:
    """The finite verb of the question's own clause."""
    for i in range(wh + 1, len(s.words)):
        tag = s.tags[i]
        if tag & (t.OPENER | t.LOOSE | t.BREAK | t.COORD) and not is_finite_aux(s, i):
            break
        if is_finite_aux(s, i) or _is_lexical(s, i, wh):
            return i
    raise SkipError("wh_subject_boundary")


def _is_lexical(s: Sentence, i: int, wh: int) -> bool:
    tag, direct = s.tags[i], before_adverbs(s, i, wh) == wh
    if not tag & t.FINITE_FORM or s.words[wh] in _PLACES or s.tag(i - 1) & (t.PREP | t.TO):
        return False
    of_these = s.words[i - 2 : i] in (["of", "these"], ["of", "those"])
    if (s.tag(i - 1) & t.DET and not of_these) or _aux_before_clause(s, i + 1):
        return False
    if tag & t.PAST and t.is_participle(s.words[i], tag):
        return direct or bool(s.tag(i + 1) & t.DET)
    singular = bool(tag & t.THIRD) and (of_these or not t.is_plural(s.words[i - 1]))
    return not tag & t.NOUNISH and (direct or not tag & t.VERBISH or singular or bool(s.tag(i + 1) & t.DET))


def _aux_before_clause(s: Sentence, begin: int) -> bool:
    for i in range(begin, len(s.words)):
        if s.tags[i] & (t.OPENER | t.LOOSE | t.BREAK):
            return False
        if is_finite_aux(s, i):
            return True
    return False


def _at_auxiliary(s: Sentence, wh: int, aux: int, *, pied: bool) -> Plan:
    tag, direct = s.tags[aux], aux == wh + 1
    adjunct = pied or s.words[wh] in _PLACES
    if tag & t.BE:
        return low(s, be_predicate(s, aux)) if adjunct else behind_copula(s, wh, aux)
    if tag & t.HAVE:
        return _have(s, aux, adjunct=adjunct)
    if tag & t.DO:
        return low(s, base_verb(s, aux))
    verb = base_verb(s, aux)
    own = after_adverbs(s, aux) == verb and not adjunct and (direct or s.words[wh] in ("which", "what", "who", "whose"))
    return after_auxiliary(s, aux) if own else low(s, verb)


def _have(s: Sentence, aux: int, *, adjunct: bool) -> Plan:
    if adjunct or _participle_later(s, aux + 1):
        raise SkipError("wh_subject_boundary")
    return after_auxiliary(s, aux)


def _participle_later(s: Sentence, begin: int) -> bool:
    if not s.tag(begin) & (t.DET | t.SUBJ):
        return False
    return any(t.is_participle(s.words[i], s.tags[i]) for i in range(begin + 1, len(s.words)))
