"""Yes/no questions: a "not" does not reverse them, so they become true-or-false statements."""

from __future__ import annotations

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation import verbs
from contrapose.tasks.probes.negation.lexical import before_adverbs
from contrapose.tasks.probes.negation.place import with_any
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import Confidence, Edit, Plan, SkipError
from contrapose.tasks.probes.negation.subject import base_verb, participle, predicate
from contrapose.tasks.probes.negation.words import words

PREFIX = "True or false: "
_POLARITY = words("any anyone anybody anything anywhere ever yet either")
_MEDIUM = words("may might must shall you we i")
_SUBJECT_SCOPE = words("all every each both some most many several few everyone everything someone")


def negate_polar(s: Sentence, start: int, *, rewrite: bool) -> Plan:
    """The plan for the yes/no question whose auxiliary is word `start`.

    With `rewrite` both texts become statements; without it the question gets a low "not".

    Raises:
        SkipError: no sound plan.
    """
    if "or" in s.words[start:]:
        raise SkipError("alternative_question")
    if any(word in _POLARITY for word in s.words[start:]):
        raise SkipError("polarity_item")
    if s.word(start + 1) in _SUBJECT_SCOPE:
        raise SkipError("quantifier_only")
    verb = _verb(s, start)
    first = before_adverbs(s, verb, start) + 1
    if first == start + 1:
        raise SkipError("wh_subject_boundary")
    if any(s.words[k] in t.NARROW for k in range(first, verb + 1)):
        raise SkipError("quantifier_only")
    while first < verb and s.words[first] in t.SENTENCE_ADVERBS:
        first += 1
    sure: Confidence = "medium" if _MEDIUM & {s.words[start], s.words[start + 1]} else "high"
    if not rewrite:
        return with_any(s, first, (Edit(s.starts[first], s.starts[first], "not "),), sure)
    return _statement(s, start, first, verb, sure)


def _verb(s: Sentence, aux: int) -> int:
    """The first word of the predicate behind the subject."""
    tag = s.tags[aux]
    if tag & t.BE:
        found = predicate(s, aux)
    elif tag & t.HAVE:
        found = participle(s, aux)
    else:
        found = base_verb(s, aux)
    if found is None:
        raise SkipError("wh_subject_boundary")
    return found


def _statement(s: Sentence, start: int, first: int, verb: int, sure: Confidence) -> Plan:
    aux = s.words[start]
    frame = _frame(s, start)
    if not s.tags[start] & t.DO:
        at = s.starts[first]
        negated = "cannot " if aux == "can" else f"{aux} not "
        plan = with_any(s, first, (*frame, Edit(at, at, negated)), sure)
        return Plan(
            edits=plan.edits,
            original_edits=(*frame, Edit(at, at, f"{aux} ")),
            confidence=sure,
            kind=plan.kind,
        )
    at = s.starts[first]
    plan = with_any(s, verb, (*frame, Edit(at, at, f"{aux} not ")), sure)
    finite = Edit(s.starts[verb], s.ends[verb], _finite(aux, s.words[verb]))
    return Plan(edits=plan.edits, original_edits=(*frame, finite), confidence=sure, kind="rewrite")


def _finite(aux: str, base: str) -> str:
    if aux == "do":
        return base
    if aux == "does":
        return verbs.third_person(base)
    found = {"have": "had", "do": "did"}.get(base) or verbs.past_of(base)
    if found is None:
        raise SkipError("ambiguous_verb")
    return found


def _frame(s: Sentence, start: int) -> tuple[Edit, ...]:
    """Edits that both statements share: prefix, subject first, full stop."""
    subject = s.starts[start + 1]
    mark = s.text.rindex("?")
    stop = Edit(mark, mark + 1, ".")
    initial = s.text[subject]
    if start == 0 or s.words[start - 1] == ":":
        return (Edit(s.starts[start], subject + 1, PREFIX + initial.upper()), stop)
    begin = s.starts[0]
    lead = Edit(begin, begin + 1, PREFIX + s.text[begin].upper())
    return (lead, Edit(s.starts[start], subject, ""), stop)
