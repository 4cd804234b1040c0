"""Negate yes/no questions by turning them into true-or-false statements, because "not" does not reverse a question."""

from __future__ import annotations

from contrapose.tasks.language import closed, inflection
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import index_before_adverbs
from contrapose.tasks.language.inversion import find_bare_verb, find_participle, find_predicate
from contrapose.tasks.language.reading import Sentence
from contrapose.tasks.language.sentence import Edit
from contrapose.tasks.probes.negation.result import Confidence, EditPlan, Kind, SkipError, require_subject_end
from contrapose.tasks.probes.negation.statement import SOME, add_any

_TITLED = words("movie film show series book song game novel story")
"""Words that a title often follows."""
PREFIX = "True or false: "
_POLARITY = words("any anyone anybody anything anywhere ever yet either")
_MEDIUM = words("may might must shall you we i")
_SUBJECT_SCOPE = words("each both most several few someone something everyone everything everybody somebody much only")
_AT_SUBJECT = {"all": "not all", "every": "not every", "many": "not many", "some": "no", "any": "no"} | {
    "anyone": "no one",
    "anybody": "nobody",
    "anything": "nothing",
}


_MOST_SURE = 12
"""Words of a question beyond which its subject may end elsewhere."""


def plan_polar_negation(s: Sentence, start: int, *, rewrite: bool) -> EditPlan:
    """Return the edits for the yes/no question whose auxiliary is word `start`.

    With `rewrite` both texts become statements; without it the question gets a low "not".
    """
    if "or" in s.words[start:]:
        raise SkipError("alternative_question")
    if any(s.tags[i - 1] & f.COORD and s.tags[i] & f.WH for i in range(start + 2, len(s.words))):
        raise SkipError("coordinated_clauses")
    if s.word(start + 1) in _SUBJECT_SCOPE:
        raise SkipError("quantifier_only")
    aux = s.tags[start]
    find_verb = find_predicate if aux & f.BE else find_participle if aux & f.HAVE else find_bare_verb
    verb = require_subject_end(find_verb(s, start))
    first = index_before_adverbs(s, verb, start) + 1
    if first == start + 1:
        raise SkipError("wh_subject_boundary")
    fitting = _edit_original(s, first, verb) if rewrite else ()
    if sum(word in _POLARITY for word in s.words[start:]) > len(fitting) + (rewrite and s.words[start + 1] in SOME):
        raise SkipError("polarity_item")
    # "Any" may say how much ("any hotter"), or "whichever" behind a modal ("can use any card").
    anys = [k for k in range(first, len(s.words)) if s.words[k] in SOME]
    compared = any(s.words[k] == "any" and s.word(k + 1).endswith("er") and not s.tag(k + 1) & f.NOUN for k in anys)
    if compared or (anys and aux & f.MODAL):
        raise SkipError("polarity_item")
    if any(s.words[k] in closed.NARROW | {"sometimes"} for k in range(first, verb + 1)):
        raise SkipError("quantifier_only")
    while first < verb and s.words[first] in closed.SENTENCE_ADVERBS:
        first += 1
    sure: Confidence = "medium" if _is_doubtful(s, start, verb) else "high"
    if not rewrite:
        return add_any(s, first - 1, (Edit(s.starts[first], s.starts[first], s.cased("not ")),), sure)
    plan = _build_statement(s, start, first, verb, sure)
    kind: Kind = "rewrite" if fitting else plan.kind  # a word of the original is another one in the negated text
    return plan._replace(original_edits=(*plan.original_edits, *fitting), kind=kind)


def _is_doubtful(s: Sentence, start: int, verb: int) -> bool:
    """Return whether it is uncertain where the predicate after the subject starts."""
    aux, subject = s.tags[start], s.tags[start + 1]
    if not _MEDIUM.isdisjoint(s.words[start : start + 2]):
        return True
    # A phrase may be the predicate or say more of a noun: "the songs in the film | from her".
    phrases = [k for k in range(start + 2, len(s.words)) if s.tags[k] & f.PREP and s.words[k] != "of"]
    named = aux & f.BE and not subject & (f.DET | f.QUANT | f.SUBJ)
    titled = not _TITLED.isdisjoint(s.words[start:verb])
    if aux & f.BE and not s.asks and verb > start + 2 and (named or titled):
        return True  # without capitals no name is known by its form
    if s.tags[verb] & f.PREP:
        is_phrase = phrases[-1] > verb or ("and" in s.words[start:verb] and s.tags[verb - 1] & f.NOUN == f.PLURAL)
    else:
        is_phrase = bool(named and s.tags[verb] & (f.ADJ | f.ADV | f.DET) and phrases and phrases[0] < verb)
    # The verb could as a noun belong to a subject that is no pronoun, or much stands around both.
    if is_phrase or (subject & f.SUBJ and not subject & f.DET):
        return is_phrase
    plain = subject & f.DET and verb <= start + 4
    return bool(s.tags[verb] & f.USUALLY_NOUN) or (not plain and len(s.words) - start > _MOST_SURE)


def _edit_original(s: Sentence, first: int, verb: int) -> tuple[Edit, ...]:
    """Return edits of the original statement: "any" becomes "some", and "ever" is deleted."""
    some = (
        Edit(s.starts[k], s.ends[k], s.cased(SOME[s.words[k]]))
        for k in range(first, len(s.words))
        if s.words[k] in SOME
    )
    ever = (Edit(s.starts[k], s.starts[k + 1], "") for k in range(first, verb) if s.words[k] == "ever")
    return (*some, *ever)


def _build_statement(s: Sentence, start: int, first: int, verb: int, sure: Confidence) -> EditPlan:
    aux, at = s.words[start], s.starts[first]
    does = bool(s.tags[start] & f.DO)
    # Both statements share prefix, subject first, and full stop.
    subject, begin, mark = s.starts[start + 1], s.starts[0], s.text.rfind("?")
    frame: tuple[Edit, ...] = (Edit(mark, mark + 1, "."),) if s.asks else ()
    if start == 0 or s.words[start - 1] == ":":
        begins = s.source(start)[0].isupper() and s.source(start + 1).islower()  # "eBay" stays as it is
        capital = s.text[subject].upper() if begins else s.text[subject]
        frame = (Edit(s.starts[start], subject + 1, PREFIX + capital), *frame)
    else:
        lead = Edit(begin, begin + 1, PREFIX + s.text[begin])
        frame = (lead, Edit(s.starts[start], subject, ""), *frame)
    finite = Edit(at, at, s.cased(f"{aux} "))
    if does:
        finite = Edit(s.starts[verb], s.ends[verb], s.cased(inflect_verb(aux, s.words[verb])))
    if (word := s.words[start + 1]) in _AT_SUBJECT:
        # From "Are all metals magnetic?": "All metals are magnetic." and "Not all metals are magnetic."
        alone = s.word(start + 2) == "of" or (word == "all" and s.tag(start + 2) & f.PREP and s.tag(start + 3) & f.DET)
        if start > 0 or alone:  # "Are all of the …", "Was All in the Family …"
            raise SkipError("quantifier_only")
        rest = (*frame[1:], finite)
        plain = _edit_opening(s, start, SOME[word]) if word in SOME else frame[0]
        edits = (_edit_opening(s, start, _AT_SUBJECT[word]), *rest)
        return EditPlan(edits=edits, original_edits=(plain, *rest), kind="rewrite")
    cue = "cannot " if aux == "can" and not does else f"{aux} not "
    plan = add_any(s, verb if does else first - 1, (*frame, Edit(at, at, s.cased(cue))), sure)
    original = (*frame, finite) if does else (finite, *frame)
    return EditPlan(plan.edits, original, sure, "rewrite" if does else plan.kind)


def _edit_opening(s: Sentence, start: int, new: str) -> Edit:
    """Return the edit that replaces the question's auxiliary and quantifier by the opening of a statement."""
    words = PREFIX + s.cased(new.capitalize() if s.source(start)[0].isupper() else new)
    return Edit(s.starts[start], s.starts[start + 1] + len(s.words[start + 1]), words)


def inflect_verb(support: str, base: str) -> str:
    """Return a bare verb in the person and tense of a form of "do": ("does", "eat") → "eats"."""
    if support == "do":
        return base
    return inflection.make_third_person(base) if support == "does" else inflection.make_past(base)
