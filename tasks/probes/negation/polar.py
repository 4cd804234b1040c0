"""Yes/no questions: a "not" does not reverse them, so they become true-or-false statements."""

from __future__ import annotations

from contrapose.tasks.language import closed, inflection
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import before_adverbs
from contrapose.tasks.language.inversion import inverted_participle, inverted_predicate, inverted_verb
from contrapose.tasks.language.reading import Sentence
from contrapose.tasks.language.sentence import Edit
from contrapose.tasks.probes.negation.place import SOME, with_any
from contrapose.tasks.probes.negation.result import Confidence, EditPlan, Kind, SkipError, behind_subject

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


def negate_polar(s: Sentence, start: int, *, rewrite: bool) -> EditPlan:
    """The plan for the yes/no question whose auxiliary is word `start`.

    With `rewrite` both texts become statements; without it the question gets a low "not".

    Raises:
        SkipError: no sound plan.
    """
    if "or" in s.words[start:]:
        raise SkipError("alternative_question")
    if any(s.tags[i - 1] & f.COORD and s.tags[i] & f.WH for i in range(start + 2, len(s.words))):
        raise SkipError("coordinated_clauses")
    if s.word(start + 1) in _SUBJECT_SCOPE:
        raise SkipError("quantifier_only")
    verb = _verb(s, start)
    first = before_adverbs(s, verb, start) + 1
    if first == start + 1:
        raise SkipError("wh_subject_boundary")
    fitting = _plain(s, first, verb) if rewrite else ()
    asked = rewrite and s.words[start + 1] in SOME
    if sum(word in _POLARITY for word in s.words[start:]) > len(fitting) + asked or _is_any_degree(s, start, first):
        raise SkipError("polarity_item")
    if any(s.words[k] in closed.NARROW | {"sometimes"} for k in range(first, verb + 1)):
        raise SkipError("quantifier_only")
    while first < verb and s.words[first] in closed.SENTENCE_ADVERBS:
        first += 1
    doubtful = _MEDIUM & {s.words[start], s.words[start + 1]} or _is_phrase(s, start, verb) or _is_long(s, start, verb)
    sure: Confidence = "medium" if doubtful else "high"
    if not rewrite:
        return with_any(s, first - 1, (Edit(s.starts[first], s.starts[first], s.cased("not ")),), sure)
    plan = _statement(s, start, first, verb, sure)
    kind: Kind = "rewrite" if fitting else plan.kind  # a word of the original is another one in the negated text
    return plan._replace(original_edits=(*plan.original_edits, *fitting), kind=kind)


def _is_phrase(s: Sentence, start: int, verb: int) -> bool:
    """Whether a phrase may be the predicate or tell more of a noun: "the songs in the film | from her"."""
    phrases = [k for k in range(start + 2, len(s.words)) if s.tags[k] & f.PREP and s.words[k] != "of"]
    named = s.tags[start] & f.BE and not s.tags[start + 1] & (f.DET | f.QUANT | f.SUBJ)
    titled = not _TITLED.isdisjoint(s.words[start:verb])
    if s.tags[start] & f.BE and not s.asks and verb > start + 2 and (named or titled):
        return True  # without capitals no name is known by its form
    if s.tags[verb] & f.PREP:
        return phrases[-1] > verb or ("and" in s.words[start:verb] and s.tags[verb - 1] & f.NOUN == f.PLURAL)
    return bool(named and s.tags[verb] & (f.ADJ | f.ADV | f.DET) and phrases and phrases[0] < verb)


def _is_long(s: Sentence, start: int, verb: int) -> bool:
    """Whether the subject is no pronoun, and as a noun the verb could belong to it, or much stands around both."""
    if s.tags[start + 1] & f.SUBJ and not s.tags[start + 1] & f.DET:
        return False
    plain = s.tags[start + 1] & f.DET and verb <= start + 4
    return bool(s.tags[verb] & f.USUALLY_NOUN) or (not plain and len(s.words) - start > _MOST_SURE)


_MOST_SURE = 12
"""Words of a question beyond which its subject may end elsewhere."""


def _is_any_degree(s: Sentence, start: int, first: int) -> bool:
    """Whether "any" says how much ("any hotter"), or "whichever" behind a modal ("can use any card")."""
    anys = [k for k in range(first, len(s.words)) if s.words[k] in SOME]
    compared = any(s.words[k] == "any" and s.word(k + 1).endswith("er") and not s.tag(k + 1) & f.NOUN for k in anys)
    return compared or (bool(anys) and bool(s.tags[start] & f.MODAL))


def _plain(s: Sentence, first: int, verb: int) -> tuple[Edit, ...]:
    """Edits of the original for words that its negation alone has: "any" becomes "some", and "ever" goes."""
    some = (
        Edit(s.starts[k], s.ends[k], s.cased(SOME[s.words[k]]))
        for k in range(first, len(s.words))
        if s.words[k] in SOME
    )
    ever = (Edit(s.starts[k], s.starts[k + 1], "") for k in range(first, verb) if s.words[k] == "ever")
    return (*some, *ever)


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
        original = (Edit(at, at, s.cased(f"{aux} ")), *frame)
        return EditPlan(edits=plan.edits, original_edits=original, confidence=sure, kind=plan.kind)
    plan = with_any(s, verb, (*frame, Edit(at, at, s.cased(f"{aux} not "))), sure)
    finite = Edit(s.starts[verb], s.ends[verb], s.cased(finite_form(aux, s.words[verb])))
    return EditPlan(edits=plan.edits, original_edits=(*frame, finite), confidence=sure, kind="rewrite")


def _at_subject(s: Sentence, start: int, first: int, verb: int, frame: tuple[Edit, ...]) -> EditPlan:
    """From "Are all metals magnetic?": "All metals are magnetic." and "Not all metals are magnetic."."""
    aux, word, subject = s.words[start], s.words[start + 1], s.starts[start + 1]
    alone = s.word(start + 2) == "of" or (word == "all" and s.tag(start + 2) & f.PREP and s.tag(start + 3) & f.DET)
    if start > 0 or alone:  # "Are all of the …", "Was All in the Family …"
        raise SkipError("quantifier_only")
    if s.tags[start] & f.DO:
        finite = Edit(s.starts[verb], s.ends[verb], s.cased(finite_form(aux, s.words[verb])))
    else:
        finite = Edit(s.starts[first], s.starts[first], s.cased(f"{aux} "))
    end, rest = subject + len(word), (*frame[1:], finite)
    plain = _opening(s, start, end, SOME[word]) if word in SOME else frame[0]
    edits = (_opening(s, start, end, _AT_SUBJECT[word]), *rest)
    return EditPlan(edits=edits, original_edits=(plain, *rest), kind="rewrite")


def _opening(s: Sentence, start: int, end: int, new: str) -> Edit:
    """The edit that opens a statement with other words than the question's up to offset `end`."""
    return Edit(s.starts[start], end, PREFIX + s.cased(new.capitalize() if s.source(start)[0].isupper() else new))


def finite_form(support: str, base: str) -> str:
    """A bare verb in the person and tense of a form of "do": ("does", "eat") → "eats"."""
    if support == "do":
        return base
    return inflection.third_person(base) if support == "does" else inflection.past_of(base)


def _frame(s: Sentence, start: int) -> tuple[Edit, ...]:
    """Edits that both statements share: prefix, subject first, full stop."""
    subject, begin = s.starts[start + 1], s.starts[0]
    mark = s.text.rfind("?")
    stop = (Edit(mark, mark + 1, "."),) if s.asks else ()
    initial, first = s.text[subject], s.text[begin]
    if start == 0 or s.words[start - 1] == ":":
        begins = s.source(start)[0].isupper() and s.source(start + 1).islower()  # "eBay" stays as it is
        capital = initial.upper() if begins else initial
        return (Edit(s.starts[start], subject + 1, PREFIX + capital), *stop)
    lead = Edit(begin, begin + 1, PREFIX + first)
    return (lead, Edit(s.starts[start], subject, ""), *stop)
