"""With options, a negation must reverse which of them are right: what is asked is told apart from what is told.

A stem with options has a set of right ones. The negated stem is of use only where exactly the others are right, so the
"not" must stand in the clause that asks, and must deny it as a whole. Everything else is skipped with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import Analysis
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import is_finite_aux
from contrapose.tasks.language.sentence import Sentence
from contrapose.tasks.probes.negation.gap import (
    BLANK,
    gaps,
    joins_predicate,
    may_be_no_verb,
    require_gap_denied,
    require_no_verb_in_gap,
)
from contrapose.tasks.probes.negation.questions import first_verb
from contrapose.tasks.probes.negation.result import EditPlan, SkipError

_ALWAYS_ORDERS = words(
    """
    find calculate choose select determine identify solve compute evaluate simplify consider suppose assume explain
    describe convert arrange imagine classify express decide indicate fill let define estimate
    """
)
_ORDERS = words(
    """
    complete match name use read state list give mark rank label order pick tell show write say draw guess place put
    take study group sort compare translate answer round reduce prove add multiply divide subtract
    """
)
_BEHIND_ORDER = f.DET | f.QUANT | f.OBJ | f.REL
_CLAUSE_OPENS = words(", : ; and then please")
_SHARES = words("percentage percent proportion fraction")
_AMOUNTS = words("number quantity amount degree portion share extent")
"""They are asked for as "what amount of …" or "to what extent"; "which quantity" asks for a thing."""
_EXCEPT = words("except excluding")
_LIKELY = 2.0
"""Least margin, in log-odds, of a verb that may be none."""
_WEAKENED = words("sometimes occasionally perhaps maybe")
_CAUSES = words("why how")
_NEVER_RELATIVE = words("what why how")
_ASKED = re.compile(r"\?\s")
_HEAD = 40
"""Characters in which a stem that gives several statements says so."""
_STATEMENTS = ("statement 1", "statement i ", "statement i:", "statement a", "assertion")
_SEVERAL_ASK = f.COORD | f.BREAK
_ENDS_OPEN = f.AUX | f.PREP | f.DET | f.TO | f.LOOSE


def asked(a: Analysis, options: Sequence[str]) -> Analysis:
    """The analysis of a stem with options, at the clause that asks.

    Args:
        a: the last sentence of the stem.
        options: the answers offered.

    Raises:
        SkipError: a "not" there would not reverse which options are right, or it cannot be told.
    """
    s = a.sentence
    options = [bare(option) for option in options]
    if any(map(refer_to_others, options)) or _weighs_statements(s.text):
        raise SkipError("options_combine")
    _require_asked_here(s)
    if not _EXCEPT.isdisjoint(s.words) or ("all", "but") in pairwise(s.words):
        raise SkipError("exception")
    a = _at_spliced_question(a) if s.asks and a.kind not in ("wh", "polar") else a
    if a.kind == "wh":
        _require_reversible_question(s, a.start)
    elif a.kind != "polar":
        _require_reversible_statement(a, options)
    elif not are_truth_values(options):
        raise SkipError("options_not_yes_no")
    return a


def _weighs_statements(text: str) -> bool:
    """Whether the stem gives several statements to be judged each: "Statement 1 | … Statement 2 | …"."""
    lower = text[:_HEAD].lower().lstrip()
    return lower.startswith(_STATEMENTS) or "statement 2" in text.lower()


def _require_asked_here(s: Sentence) -> None:
    """Pass when the last sentence alone asks, or alone has a blank."""
    before = s.text[: s.starts[0]]
    if _ASKED.search(before):
        raise SkipError("several_questions" if s.asks else "asked_elsewhere")
    if BLANK.search(before) and not BLANK.search(s.text, s.starts[0]):
        raise SkipError("asked_elsewhere")


def _at_spliced_question(a: Analysis) -> Analysis:
    """The question behind a comma that a statement stands before: "He is cold, what should he wear?"."""
    s = a.sentence
    for i in range(len(s.words) - 2, a.start, -1):
        if not s.tags[i] & f.WH or s.tags[i] & f.CLITIC:
            continue
        begin = i - bool(s.tags[i - 1] & f.PREP)
        apart = s.word(begin - 1) in (",", ";", ":") or s.source(begin)[0].isupper()
        if apart and _asks(s, i):
            return a._replace(kind="wh", start=begin)
        return a
    return a


def _asks(s: Sentence, wh: int) -> bool:
    """Whether a clause asks rather than tells more of what stands before it, as ", which is …" does."""
    after = s.tag(wh + 1)
    if s.words[wh] in ("which", "who", "whose", "whom", "where", "when") and after & (f.AUX | f.FINITE):
        return s.words[wh] not in ("which", "who") and is_finite_aux(s, wh + 1)
    return s.words[wh] != "how"


def _require_reversible_question(s: Sentence, start: int) -> None:
    wh = next(i for i in range(start, len(s.words)) if s.tags[i] & f.WH)
    if s.words[wh] == "why" or (s.words[wh] in ("what", "which") and s.word(wh + 1) == "reason" and wh > start):
        raise SkipError("why_question")
    _require_no_quantity(s, wh)
    if s.words[wh].startswith("how") or s.tags[wh] & f.CLITIC:
        return
    verb = first_verb(s, wh)
    if joins_predicate(s, verb, len(s.words)) and not any(tag & f.REL for tag in s.tags[verb + 1 :]):
        raise SkipError("coordinated_clauses")
    for i in range(wh + 2, len(s.words)):
        before = i - 2 if s.tags[i - 1] & f.PREP else i - 1
        is_aside = s.tags[before] & f.BREAK and s.words[i] not in _NEVER_RELATIVE
        if s.tags[i] & f.WH and s.tags[before] & _SEVERAL_ASK and not is_aside:
            raise SkipError("several_questions")


def _require_no_quantity(s: Sentence, wh: int) -> None:
    """Pass unless a quantity is asked for, of which a "not" asks for the rest: "What share is not …?"."""
    i = wh + 1 + bool(s.tag(wh + 1) & f.ADJ and s.word(wh + 1) not in _SHARES | _AMOUNTS)
    amount = s.word(i) in _AMOUNTS and (s.word(i + 1) == "of" or s.tag(wh - 1) & (f.PREP | f.TO))
    if s.word(i) in _SHARES or amount:
        raise SkipError("quantity_asked")


def require_predicate_denied(a: Analysis, plan: EditPlan) -> EditPlan:
    """The plan, where what a "not" behind an inverted subject stands before looks like a predicate.

    Raises:
        SkipError: it may be the end of the subject: "Where is Loch | not Ness?".
    """
    s = a.sentence
    if a.kind != "wh":
        return plan
    at = next((edit.start for edit in plan.edits if edit.new.lower() == "not "), None)
    if at is not None and _may_end_subject(s, s.starts.index(at)):
        raise SkipError("wh_subject_boundary")
    return plan


def _may_end_subject(s: Sentence, i: int) -> bool:
    tag, after = s.tags[i], s.tag(i + 1)
    if tag & f.DET and s.tags[i - 1] & f.ING:
        return True
    if tag & (f.CLOSED | f.QUOTED) or not tag & f.NOUN or s.words[i] in ("be", "have", "do"):
        return False
    if not tag & (f.PART | f.ING | f.ADJ | f.BASE) or tag & f.NAME:
        return True
    plain = tag & (f.USUALLY_VERB | f.USUALLY_ADJ | f.PART | f.ING)
    return not plain and bool(after & (f.NOUN | f.NAME | f.QUOTED | f.BREAK)) and not after & f.CLOSED & ~f.BREAK


def _require_reversible_statement(a: Analysis, options: Sequence[str]) -> None:
    s = a.sentence
    if a.kind == "order" or _instructs(s, a.start):
        raise SkipError("instruction")
    if a.clause.others:
        raise SkipError("coordinated_clauses")
    if are_truth_values(options) and not gaps(s):
        _require_one_claim(s, a.clause.verb)
    elif a.kind != "fragment":
        _require_gap_denied(a, options)


def _require_gap_denied(a: Analysis, options: Sequence[str]) -> None:
    s = a.sentence
    if a.ambiguous or (a.clause.margin < _LIKELY and may_be_no_verb(a, options)):
        raise SkipError("ambiguous_verb")
    if s.word(a.clause.verb + 1) in _WEAKENED:
        raise SkipError("quantifier_only")
    at = _question_words(a) if s.asks else gaps(s)
    if not at and s.closed and not s.tags[-1] & _ENDS_OPEN and s.words[-1] != "called":
        raise SkipError("asks_nothing")
    at = at or [len(s.words)]
    require_gap_denied(a, at, options)
    if not s.asks:
        require_no_verb_in_gap(a, at, options)


def _require_one_claim(s: Sentence, verb: int) -> None:
    """Pass unless a second claim is joined: where it is false already, denying the first changes nothing."""
    joint = next((i for i in range(verb + 1, len(s.words)) if s.tags[i] & f.COORD), len(s.words))
    if any(is_finite_aux(s, i) for i in range(joint + 1, len(s.words))):
        raise SkipError("coordinated_clauses")


def _instructs(s: Sentence, start: int) -> bool:
    """Whether a clause tells the reader what to do: "Find …", "In the table, choose …"."""
    for i, word in enumerate(s.words):
        first = i in (0, start)
        opens = first or s.words[i - 1] in _CLAUSE_OPENS
        if opens and s.tags[i] & f.BASE and _is_order(s, i, word, first=first):
            return True
    return False


def _is_order(s: Sentence, i: int, word: str, *, first: bool) -> bool:
    if word in _ALWAYS_ORDERS:
        return first or s.words[i - 1] != "and" or bool(s.tag(i + 1) & _BEHIND_ORDER)
    return word in _ORDERS and first and bool(s.tag(i + 1) & _BEHIND_ORDER)


def _question_words(a: Analysis) -> list[int]:
    """Where a statement that ends in a question mark asks: "The moon is made of | what?"."""
    s = a.sentence
    asking = [i for i, tag in enumerate(s.tags) if tag & f.WH]
    if not asking:
        raise SkipError("asks_nothing")
    at = asking[-1]
    if s.words[at] in _CAUSES or s.word(at + 1) == "reason":
        raise SkipError("why_question")
    verb = a.clause.verb
    apart = range(at + 1, verb) if at < verb else range(verb + 1, at)
    if any(is_finite_aux(s, i) or s.tags[i] & f.REL for i in apart):
        raise SkipError("gap_in_other_clause")
    return [at]


_TRUTHS = ({"yes", "no"}, {"true", "false"}, {"correct", "incorrect"}, {"right", "wrong"})
_MARKS = " .:;!()[]\"'"
_ALL = r"(?:all|none|both|neither|either|any|each|two|some|more than one|only one)"
_OTHERS = r"(?:the\s+)?(?:above|these|those|them|following|others?|options?|answers?|choices?|statements?|reasons?)"
_LETTER = r"\(?(?:[a-e]|[ivx]{1,4})\)?"
_NUMBER = r"\(?[1-5]\)?"
_JOINT = r"\s*(?:,|and|&|or|nor|,\s*and)\s*"
_BEFORE = r"(?:(?:both|only|neither|either)\s+)?(?:(?:statements?|options?)\s+)?"
_BEHIND = r"(?:\s+(?:only|alone|are\s+correct|are\s+true))"
_LISTS_SOME = re.compile(
    rf"{_BEFORE}{_LETTER}(?:{_JOINT}{_LETTER}){{0,4}}{_BEHIND}?|{_BEFORE}{_NUMBER}(?:{_JOINT}{_NUMBER}){{0,4}}{_BEHIND}"
)
_SAYS_ALL = re.compile(
    rf"{_ALL}(?:\s+(?:of\s+)?{_OTHERS}(?:\s+\w+)?)?(?:\s+(?:is|are)(?:\s+\w+)?|\s+(?:true|correct|false|wrong))?"
)
_LABEL = re.compile(r"\s*\(?[A-Ha-h1-8][.):]\s+")
_LONGEST = 60
_TRUTH = r"(?:true|false|yes|no|correct|incorrect)"
_TWO_TRUTHS = re.compile(rf"{_TRUTH}\s*[,;/|]?\s*(?:and\s+)?{_TRUTH}")
_LINKS = words("and or nor both only neither either alone , &")


def bare(option: str) -> str:
    """The option without a letter of its own before it: "B. iron" → "iron"."""
    label = _LABEL.match(option)
    return option[label.end() :] if label else option


def are_truth_values(options: Sequence[str]) -> bool:
    """Whether the options are "yes" and "no", or "true" and "false"."""
    return {option.strip(_MARKS).lower() for option in options} in _TRUTHS


def refer_to_others(option: str) -> bool:
    """Whether an option says which others are right, so that it cannot be wrong and right as they are.

    "All of the above", "Both A and C", "I only", "True, False".
    """
    if len(option) > _LONGEST:
        return False
    said = option.strip(" .").lower()
    if _SAYS_ALL.fullmatch(said) or _TWO_TRUTHS.fullmatch(said):
        return True
    return bool(_LISTS_SOME.fullmatch(said)) and not _LINKS.isdisjoint(said.replace(",", " , ").split())
