"""Check that a negation reverses which options of a question are right, or raise SkipError.

A question with options has a set of right ones. Its negation is useful only if exactly the others are right, so the
"not" must be in the clause that asks, and must negate it completely. Everything else is skipped with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import Analysis
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import index_after_adverbs, index_before_adverbs, is_finite_aux
from contrapose.tasks.language.sentence import Sentence
from contrapose.tasks.language.vocabulary import flags_of
from contrapose.tasks.probes.negation.questions import find_question_verb
from contrapose.tasks.probes.negation.result import EditPlan, SkipError

BLANK = re.compile(r"(?<![^\W_])_+(?![^\W_])")
"""What is left to be filled in."""

_OUTSIDE = words("because so since although though while whereas but unless lest yet including thus hence therefore")
"""Behind a verb they open what its "not" denies only in one of two readings."""
_CAUSES = words("because due thanks owing")
_HAPPEN = words("happen happens happened happening occur occurs occurred occurring")
_FRONTED_CLAUSE = f.SUB | f.LOOSE | f.WH
_BEHIND_VERB = f.DET | f.OBJ | f.PREP | f.TO | f.ADV
_NOMINAL = f.NOUN | f.NAME | f.SUBJ
_LETS_DO = words("help helps helped let lets make makes made see sees saw hear hears heard watch watches watched")


def find_gaps(s: Sentence) -> list[int]:
    """Return the indices of the blanks (`____`) of a sentence."""
    return [i for i, word in enumerate(s.words) if word[0] == "_"]


def require_gap_denied(a: Analysis, at: Sequence[int], options: Sequence[str]) -> None:
    """Raise SkipError unless a "not" at the main verb also negates each gap (a word's index, or one past the last)."""
    s, verb, first, last = a.sentence, a.clause.verb, min(at), max(at)
    # Most options say why, of a fact that the stem states.
    causes = sum(option.lower().startswith(("because ", "since ", "so that ")) for option in options)
    # A clause of likeness follows: "Hot is to cold as up is to …".
    likened = next((i for i in range(verb, len(s.words)) if s.words[i] == "as"), len(s.words))
    likens = any(is_finite_aux(s, i) for i in range(likened + 1, len(s.words)))
    out_of_reach = last > verb and any(_is_clause_opener(s, verb, i, last) for i in range(verb + 1, last))
    if 2 * causes > len(options) or likens or out_of_reach or (first < verb and not _has_gap(s, a.start, first, verb)):
        raise SkipError("gap_in_other_clause")
    if is_joining_predicate(s, verb, last):
        raise SkipError("coordinated_clauses")


def _is_clause_opener(s: Sentence, verb: int, i: int, gap: int) -> bool:
    """Return whether word `i`, between the verb and a later gap, opens another clause."""
    begin, word = s.starts[i], s.words[i]
    if s.tags[i] & f.BREAK and i + 1 < gap:
        return True
    # A sentence starts here all the same, behind what may be an abbreviation: "… at 5 p.m. Its speed is".
    if s.text[begin].isupper() and s.text[max(0, begin - 2) : begin] == ". " and not s.tags[i] & f.NAME:
        return True
    if word in _CAUSES:
        # It is no clause of its own where it is all that is said, and denied: "Tides occur | because of …".
        said = [s.words[k] for k in range(verb, i) if not s.tags[k] & f.ADV]
        return not (said[-1] in _HAPPEN or (len(said) == 1 and s.tags[verb] & f.BE))
    # An example, a likeness or an aim adds to what is said already.
    if word == "like" and (s.word(i - 1) in ("just", "much") or s.tag(i + 1) & f.OPENER):
        return True
    return word in _OUTSIDE or s.words[i : i + 2] == ["such", "as"] or s.words[i : i + 3] == ["in", "order", "to"]


def _has_gap(s: Sentence, start: int, gap: int, verb: int) -> bool:
    """Return whether the clause of the verb contains an earlier gap: in its subject, or in a phrase before it."""
    commas = [i for i in range(gap + 1, verb) if s.tags[i] & f.BREAK]
    if commas and s.tags[start] & _FRONTED_CLAUSE:
        return False
    if len(commas) % 2 and not s.tags[start] & f.PREP:
        return False
    if any(s.tags[i] & (f.SUB | f.LOOSE) and s.words[i] not in ("as", "like", "than") for i in range(gap + 1, verb)):
        return False
    return not s.tags[index_before_adverbs(s, verb, start)] & f.COORD


def is_joining_predicate(s: Sentence, verb: int, end: int) -> bool:
    """Return whether "and" after the verb joins another predicate or clause, which its "not" may not negate."""
    return any(
        s.tags[i] & f.COORD and _is_predicate(s, verb, index_after_adverbs(s, i)) for i in range(verb + 1, end - 1)
    )


def _is_predicate(s: Sentence, verb: int, k: int) -> bool:
    tag, main = s.tag(k), s.tags[verb]
    if is_finite_aux(s, k) or (tag & f.SUBJ and not tag & f.DET):
        return True
    if tag & (f.CLOSED | f.NAME) or not tag & f.FINITE or (tag & f.PART and main & f.AUX):
        return False
    follows = s.word(k + 1)
    object_follows = not follows or follows[0] == "_" or s.tag(k + 1) & (f.DET | f.QUANT | f.OBJ | f.TO)
    if tag & (f.NOUN | f.ADJ) and not (tag & f.USUALLY_VERB and object_follows):
        return False
    return bool(tag & (f.THIRD | f.PAST)) or (not main & (f.AUX | f.THIRD) and "to" not in s.words[verb:k])


def require_no_verb_in_gap(a: Analysis, at: Sequence[int], options: Sequence[str]) -> None:
    """Raise SkipError if the options, or the words around the gap, show that the verb itself is missing."""
    s, verb, predicates = a.sentence, a.clause.verb, _count_predicates(options, a)
    for gap in at:
        last = index_before_adverbs(s, gap, 0)
        tag = s.tags[last]
        if last == verb and is_noun_too(tag) and not tag & f.AUX and predicates:
            raise SkipError("gap_may_be_verb")
        if gap < len(s.words) and gap - 1 == last and tag & _NOMINAL and not tag & (f.DET | f.CLOSED & ~f.SUBJ):
            may_be_verb = s.tag(gap + 1) & _BEHIND_VERB and s.word(gap + 1) != "of"
        else:
            may_be_verb = last == verb and last < gap - 1 and not tag & f.AUX
        # A predicate may follow the word before the gap, which then is no part of one.
        lacks_verb = last >= verb and not tag & (f.REL | f.SUB | f.SUBJ) and tag & (f.NOUN | f.NAME | f.ADJ | f.FINITE)
        lacks_verb = lacks_verb and not any(s.tags[i] & f.REL or s.words[i] == "if" for i in range(verb + 1, last))
        if may_be_verb or (lacks_verb and 2 * predicates > len(options)):
            raise SkipError("gap_may_be_verb")


def is_noun_too(tag: int) -> bool:
    """Return whether a verb form may be a noun, because it is one in most texts."""
    return bool(tag & f.NOUN) and not tag & f.USUALLY_VERB


def may_be_no_verb(a: Analysis, options: Sequence[str]) -> bool:
    """Return whether a doubtful verb may be a noun or a participle: "A plant left in the dark ____."."""
    s, verb = a.sentence, a.clause.verb
    tag = s.tags[verb]
    if tag & f.AUX:
        return False
    predicates = _count_predicates(options, a)
    participle = tag & f.PART and not s.tag(verb + 1) & (f.DET | f.OBJ)
    return bool(participle) or 2 * predicates > len(options) or (is_noun_too(tag) and predicates > 0)


def _count_predicates(options: Sequence[str], a: Analysis) -> int:
    """Return how many options start with a finite verb."""
    s, verb, count = a.sentence, a.clause.verb, 0
    takes_bare = not (s.words[verb] in _LETS_DO or s.tags[verb] & f.AUX)
    for parts in (option.split(None, 1) for option in options):
        if len(parts) > 1 or (parts and parts[0][0].islower()):
            tag = flags_of(parts[0].lower())
            if tag & f.AUX:
                count += not tag & (f.WH | f.SUBJ)
            else:
                count += bool(tag & (f.THIRD | f.PAST)) and not tag & (f.NOUN | f.ADJ | f.PART | f.CLOSED)
            count += bool(takes_bare and tag & f.BASE and tag & f.USUALLY_VERB) and not tag & f.CLOSED
    return count


_ALWAYS_ORDERS = words("""
    find calculate choose select determine identify solve compute evaluate simplify consider suppose assume explain
    describe convert arrange imagine classify express decide indicate fill let define estimate
""")
_ORDERS = words("""
    complete match name use read state list give mark rank label order pick tell show write say draw guess place put
    take study group sort compare translate answer round reduce prove add multiply divide subtract
""")
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


def select_asking_clause(a: Analysis, options: Sequence[str]) -> Analysis:
    """Return the analysis of a question with options, at its asking clause; raise SkipError if not reversible."""
    s, text = a.sentence, a.sentence.text.lower()
    options = [option[label.end() :] if (label := _LABEL.match(option)) else option for option in options]
    weighs = text[:_HEAD].lstrip().startswith(_STATEMENTS) or "statement 2" in text  # "Statement 1 | … Statement 2 | …"
    if weighs or any(map(has_option_about_others, options)):
        raise SkipError("options_combine")
    before = s.text[: s.starts[0]]
    if _ASKED.search(before):
        raise SkipError("several_questions" if s.asks else "asked_elsewhere")
    if BLANK.search(before) and not BLANK.search(s.text, s.starts[0]):
        raise SkipError("asked_elsewhere")
    if not _EXCEPT.isdisjoint(s.words) or ("all", "but") in pairwise(s.words):
        raise SkipError("exception")
    if s.asks and a.kind not in ("wh", "polar"):
        a = _select_spliced_question(a)
    if a.kind == "wh":
        _require_reversible_question(s, a.start)
    elif a.kind != "polar":
        _require_reversible_statement(a, options)
    elif not has_truth_values(options):
        raise SkipError("options_not_yes_no")
    return a


def _select_spliced_question(a: Analysis) -> Analysis:
    """Return the analysis at a question after a statement and a comma: "He is cold, what should he wear?"."""
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
    verb = find_question_verb(s, wh)
    if is_joining_predicate(s, verb, len(s.words)) and not any(tag & f.REL for tag in s.tags[verb + 1 :]):
        raise SkipError("coordinated_clauses")
    for i in range(wh + 2, len(s.words)):
        before = i - 2 if s.tags[i - 1] & f.PREP else i - 1
        is_aside = s.tags[before] & f.BREAK and s.words[i] not in ("what", "why", "how")
        if s.tags[i] & f.WH and s.tags[before] & (f.COORD | f.BREAK) and not is_aside:
            raise SkipError("several_questions")


def require_predicate_denied(a: Analysis, plan: EditPlan) -> EditPlan:
    """Return the plan if the word after its "not" looks like a predicate; else raise SkipError."""
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
    if a.kind == "order" or any(_is_instruction(s, a.start, i) for i in range(len(s.words))):
        raise SkipError("instruction")
    if a.clause.others:
        raise SkipError("coordinated_clauses")
    if has_truth_values(options) and not find_gaps(s):
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
    at = [_find_question_word(a)] if s.asks else find_gaps(s)
    if not at and s.closed and not s.tags[-1] & _ENDS_OPEN and s.words[-1] != "called":
        raise SkipError("asks_nothing")
    at = at or [len(s.words)]
    require_gap_denied(a, at, options)
    if not s.asks:
        require_no_verb_in_gap(a, at, options)


def _is_instruction(s: Sentence, start: int, i: int) -> bool:
    """Return whether word `i` opens an instruction: "Find …", "In the table, choose …"."""
    word, first = s.words[i], i in (0, start)
    if not s.tags[i] & f.BASE or not (first or s.words[i - 1] in _CLAUSE_OPENS):
        return False
    object_follows = bool(s.tag(i + 1) & (f.DET | f.QUANT | f.OBJ | f.REL))
    if word in _ALWAYS_ORDERS:
        return first or s.words[i - 1] != "and" or object_follows
    return word in _ORDERS and first and object_follows


def _find_question_word(a: Analysis) -> int:
    """Return the index of the question word in a statement with a question mark: "The moon is made of | what?"."""
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


def has_truth_values(options: Sequence[str]) -> bool:
    """Return whether the options are "yes" and "no", or "true" and "false"."""
    return {option.strip(_MARKS).lower() for option in options} in _TRUTHS


def has_option_about_others(option: str) -> bool:
    """Return whether an option is about other options ("all of the above"), so that it cannot be reversed.

    "All of the above", "Both A and C", "I only", "True, False".
    """
    if len(option) > _LONGEST:
        return False
    said = option.strip(" .").lower()
    if _SAYS_ALL.fullmatch(said) or _TWO_TRUTHS.fullmatch(said):
        return True
    return bool(_LISTS_SOME.fullmatch(said)) and not _LINKS.isdisjoint(said.replace(",", " , ").split())
