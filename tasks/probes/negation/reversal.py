"""Negation with options: it must reverse which of them are right.

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
_CLAUSE_OPENS = words(", : ; and then please")
_SHARES = words("percentage percent proportion fraction")
_AMOUNTS = words("number quantity amount degree portion share extent")
"""They are asked for as "what amount of …" or "to what extent"; "which quantity" asks for a thing."""
_EXCEPT = words("except excluding")
_LIKELY = 2.0
"""Least margin, in log-odds, of a verb that may be none."""
_WEAKENED = words("sometimes occasionally perhaps maybe")
_ASKED = re.compile(r"\?\s")
_HEAD = 40
"""Characters in which a stem that gives several statements says so."""
_STATEMENTS = ("statement 1", "statement i ", "statement i:", "statement a", "assertion")
_ENDS_OPEN = f.AUX | f.PREP | f.DET | f.TO | f.LOOSE
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


def at_asking_clause(a: Analysis, options: Sequence[str]) -> Analysis:
    """Return the analysis of a stem with options, at the clause that asks.

    Args:
        a: the last sentence of the stem.
        options: the answers offered.

    Raises:
        SkipError: a "not" there would not reverse which options are right, or that is unclear.
    """
    s, text = a.sentence, a.sentence.text.lower()
    options = [option[label.end() :] if (label := _LABEL.match(option)) else option for option in options]
    weighs = text[:_HEAD].lstrip().startswith(_STATEMENTS) or "statement 2" in text  # "Statement 1 | … Statement 2 | …"
    if weighs or any(map(refer_to_others, options)):
        raise SkipError("options_combine")
    before = s.text[: s.starts[0]]
    if _ASKED.search(before):
        raise SkipError("several_questions" if s.asks else "asked_elsewhere")
    if BLANK.search(before) and not BLANK.search(s.text, s.starts[0]):
        raise SkipError("asked_elsewhere")
    if not _EXCEPT.isdisjoint(s.words) or ("all", "but") in pairwise(s.words):
        raise SkipError("exception")
    if s.asks and a.kind not in ("wh", "polar"):
        a = _at_spliced_question(a)
    if a.kind == "wh":
        _require_reversible_question(s, a.start)
    elif a.kind != "polar":
        _require_reversible_statement(a, options)
    elif not are_truth_values(options):
        raise SkipError("options_not_yes_no")
    return a


def _at_spliced_question(a: Analysis) -> Analysis:
    """Return the question behind a comma that a statement stands before: "He is cold, what should he wear?"."""
    s = a.sentence
    for i in range(len(s.words) - 2, a.start, -1):
        if not s.tags[i] & f.WH or s.tags[i] & f.CLITIC:
            continue
        begin, word = i - bool(s.tags[i - 1] & f.PREP), s.words[i]
        apart = s.word(begin - 1) in (",", ";", ":") or s.source(begin)[0].isupper()
        # A clause asks rather than says more of what stands before it, as ", which is …" does.
        asks = word != "how"
        relative = word in ("which", "who", "whose", "whom", "where", "when")
        if relative and s.tag(i + 1) & (f.AUX | f.FINITE):
            asks = word not in ("which", "who") and is_finite_aux(s, i + 1)
        return a._replace(kind="wh", start=begin) if apart and asks else a
    return a


def _require_reversible_question(s: Sentence, start: int) -> None:
    wh = next(i for i in range(start, len(s.words)) if s.tags[i] & f.WH)
    if s.words[wh] == "why" or (s.words[wh] in ("what", "which") and s.word(wh + 1) == "reason" and wh > start):
        raise SkipError("why_question")
    # A "not" asks for the rest of a quantity: "What share is not …?".
    i = wh + 1 + bool(s.tag(wh + 1) & f.ADJ and s.word(wh + 1) not in _SHARES | _AMOUNTS)
    amount = s.word(i) in _AMOUNTS and (s.word(i + 1) == "of" or s.tag(wh - 1) & (f.PREP | f.TO))
    if s.word(i) in _SHARES or amount:
        raise SkipError("quantity_asked")
    if s.words[wh].startswith("how") or s.tags[wh] & f.CLITIC:
        return
    verb = first_verb(s, wh)
    if joins_predicate(s, verb, len(s.words)) and not any(tag & f.REL for tag in s.tags[verb + 1 :]):
        raise SkipError("coordinated_clauses")
    for i in range(wh + 2, len(s.words)):
        before = i - 2 if s.tags[i - 1] & f.PREP else i - 1
        is_aside = s.tags[before] & f.BREAK and s.words[i] not in ("what", "why", "how")
        if s.tags[i] & f.WH and s.tags[before] & (f.COORD | f.BREAK) and not is_aside:
            raise SkipError("several_questions")


def require_predicate_denied(a: Analysis, plan: EditPlan) -> EditPlan:
    """Return the plan, where what a "not" behind an inverted subject stands before looks like a predicate.

    Raises:
        SkipError: it may be the end of the subject: "Where is Loch | not Ness?".
    """
    s = a.sentence
    at = next((edit.start for edit in plan.edits if edit.new.lower() == "not "), None)
    if a.kind != "wh" or at is None:
        return plan
    i = s.starts.index(at)
    tag, after = s.tags[i], s.tag(i + 1)
    if tag & f.DET and s.tags[i - 1] & f.ING:
        raise SkipError("wh_subject_boundary")
    if tag & (f.CLOSED | f.QUOTED) or not tag & f.NOUN or s.words[i] in ("be", "have", "do"):
        return plan
    plain = tag & (f.USUALLY_VERB | f.USUALLY_ADJ | f.PART | f.ING)
    ends = not plain and after & (f.NOUN | f.NAME | f.QUOTED | f.BREAK) and not after & f.CLOSED & ~f.BREAK
    if ends or not tag & (f.PART | f.ING | f.ADJ | f.BASE) or tag & f.NAME:
        raise SkipError("wh_subject_boundary")
    return plan


def _require_reversible_statement(a: Analysis, options: Sequence[str]) -> None:
    s, verb = a.sentence, a.clause.verb
    if a.kind == "order" or any(_instructs(s, a.start, i) for i in range(len(s.words))):
        raise SkipError("instruction")
    if a.clause.others:
        raise SkipError("coordinated_clauses")
    if are_truth_values(options) and not gaps(s):
        # Where a second claim that is joined is false already, denying the first changes nothing.
        joint = next((i for i in range(verb + 1, len(s.words)) if s.tags[i] & f.COORD), len(s.words))
        if any(is_finite_aux(s, i) for i in range(joint + 1, len(s.words))):
            raise SkipError("coordinated_clauses")
        return
    if a.kind == "fragment":
        return
    if a.ambiguous or (a.clause.margin < _LIKELY and may_be_no_verb(a, options)):
        raise SkipError("ambiguous_verb")
    if s.word(verb + 1) in _WEAKENED:
        raise SkipError("quantifier_only")
    at = [_question_word(a)] if s.asks else gaps(s)
    if not at and s.closed and not s.tags[-1] & _ENDS_OPEN and s.words[-1] != "called":
        raise SkipError("asks_nothing")
    at = at or [len(s.words)]
    require_gap_denied(a, at, options)
    if not s.asks:
        require_no_verb_in_gap(a, at, options)


def _instructs(s: Sentence, start: int, i: int) -> bool:
    """Return whether a clause that word `i` opens orders something: "Find …", "In the table, choose …"."""
    word, first = s.words[i], i in (0, start)
    if not s.tags[i] & f.BASE or not (first or s.words[i - 1] in _CLAUSE_OPENS):
        return False
    object_follows = bool(s.tag(i + 1) & (f.DET | f.QUANT | f.OBJ | f.REL))
    if word in _ALWAYS_ORDERS:
        return first or s.words[i - 1] != "and" or object_follows
    return word in _ORDERS and first and object_follows


def _question_word(a: Analysis) -> int:
    """Return where a statement that ends in a question mark asks: "The moon is made of | what?"."""
    s, verb = a.sentence, a.clause.verb
    at = max((i for i, tag in enumerate(s.tags) if tag & f.WH), default=None)
    if at is None:
        raise SkipError("asks_nothing")
    if s.words[at] in ("why", "how") or s.word(at + 1) == "reason":
        raise SkipError("why_question")
    between = range(min(at, verb) + 1, max(at, verb))
    if any(is_finite_aux(s, i) or s.tags[i] & f.REL for i in between):
        raise SkipError("gap_in_other_clause")
    return at


def are_truth_values(options: Sequence[str]) -> bool:
    """Return whether the options are "yes" and "no", or "true" and "false"."""
    return {option.strip(_MARKS).lower() for option in options} in _TRUTHS


def refer_to_others(option: str) -> bool:
    """Return whether an option says which others are right, so that it cannot be wrong and right as they are.

    "All of the above", "Both A and C", "I only", "True, False".
    """
    if len(option) > _LONGEST:
        return False
    said = option.strip(" .").lower()
    if _SAYS_ALL.fullmatch(said) or _TWO_TRUTHS.fullmatch(said):
        return True
    return bool(_LISTS_SOME.fullmatch(said)) and not _LINKS.isdisjoint(said.replace(",", " , ").split())
