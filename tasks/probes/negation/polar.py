"""Yes/no questions: a "not" does not reverse them, so they become true-or-false statements."""

from __future__ import annotations

from contrapose.tasks.language import closed, inflection
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import before_adverbs
from contrapose.tasks.language.inversion import inverted_participle, inverted_predicate, inverted_verb
from contrapose.tasks.language.reading import Sentence
from contrapose.tasks.language.sentence import Edit
from contrapose.tasks.probes.negation.place import with_any
from contrapose.tasks.probes.negation.result import Confidence, EditPlan, SkipError, behind_subject

PREFIX = "True or false: "
_POLARITY = words("any anyone anybody anything anywhere ever yet either")
_MEDIUM = words("may might must shall you we i")
_SUBJECT_SCOPE = words("each both most several few someone something everyone everything everybody somebody much")
_AT_SUBJECT = {"all": "not all", "every": "not every", "many": "not many", "some": "no"}


def negate_polar(s: Sentence, start: int, *, rewrite: bool) -> EditPlan:
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
    if any(s.words[k] in closed.NARROW for k in range(first, verb + 1)):
        raise SkipError("quantifier_only")
    while first < verb and s.words[first] in closed.SENTENCE_ADVERBS:
        first += 1
    sure: Confidence = "medium" if _MEDIUM & {s.words[start], s.words[start + 1]} else "high"
    if not rewrite:
        return with_any(s, first - 1, (Edit(s.starts[first], s.starts[first], s.cased("not ")),), sure)
    return _statement(s, start, first, verb, sure)


def _verb(s: Sentence, aux: int) -> int:
    """The first word of the predicate behind the subject."""
    tag = s.tags[aux]
    if tag & f.BE:
        return behind_subject(inverted_predicate(s, aux))
    return behind_subject(inverted_participle(s, aux) if tag & f.HAVE else inverted_verb(s, aux))


def _statement(s: Sentence, start: int, first: int, verb: int, sure: Confidence) -> EditPlan:
    aux, at = s.words[start], s.starts[first]
    frame = _frame(s, start)
    if s.words[start + 1] in _AT_SUBJECT:
        return _at_subject(s, start, first, verb, frame)
    if not s.tags[start] & f.DO:
        negated = "cannot " if aux == "can" else f"{aux} not "
        plan = with_any(s, first - 1, (*frame, Edit(at, at, s.cased(negated))), sure)
        original = (*frame, Edit(at, at, s.cased(f"{aux} ")))
        return EditPlan(edits=plan.edits, original_edits=original, confidence=sure, kind=plan.kind)
    plan = with_any(s, verb, (*frame, Edit(at, at, s.cased(f"{aux} not "))), sure)
    finite = Edit(s.starts[verb], s.ends[verb], s.cased(finite_form(aux, s.words[verb])))
    return EditPlan(edits=plan.edits, original_edits=(*frame, finite), confidence=sure, kind="rewrite")


def _at_subject(s: Sentence, start: int, first: int, verb: int, frame: tuple[Edit, ...]) -> EditPlan:
    """From "Are all metals magnetic?": "All metals are magnetic." and "Not all metals are magnetic."."""
    aux, word, subject = s.words[start], s.words[start + 1], s.starts[start + 1]
    if start > 0 or s.word(start + 2) == "of":
        raise SkipError("quantifier_only")
    if s.tags[start] & f.DO:
        finite = Edit(s.starts[verb], s.ends[verb], s.cased(finite_form(aux, s.words[verb])))
    else:
        finite = Edit(s.starts[first], s.starts[first], s.cased(f"{aux} "))
    lead = Edit(s.starts[start], subject + len(word), PREFIX + s.cased(_AT_SUBJECT[word].capitalize()))
    return EditPlan(edits=(lead, frame[-1], finite), original_edits=(*frame, finite), kind="rewrite")


def finite_form(support: str, base: str) -> str:
    """A bare verb in the person and tense of a form of "do": ("does", "eat") → "eats"."""
    if support == "do":
        return base
    return inflection.third_person(base) if support == "does" else inflection.past_of(base)


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
