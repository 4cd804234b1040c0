"""Where a stem leaves its blank, and whether a "not" at the main verb denies the clause that holds it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import Analysis
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import after_adverbs, before_adverbs, is_finite_aux
from contrapose.tasks.language.sentence import Sentence
from contrapose.tasks.language.tokens import flags_of
from contrapose.tasks.probes.negation.result import SkipError

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


def gaps(s: Sentence) -> list[int]:
    """Return the indices of the blanks of a sentence."""
    return [i for i, word in enumerate(s.words) if word[0] == "_"]


def require_gap_denied(a: Analysis, at: Sequence[int], options: Sequence[str]) -> None:
    """Pass when each gap, a word's index or one past the last, stands where a "not" at the main verb reaches it.

    Raises:
        SkipError: it stands in another clause, or in one that may be out of reach.
    """
    s, verb, first, last = a.sentence, a.clause.verb, min(at), max(at)
    # Most options say why, of a fact that the stem states.
    causes = sum(option.lower().startswith(("because ", "since ", "so that ")) for option in options)
    # A clause of likeness follows: "Hot is to cold as up is to …".
    likened = next((i for i in range(verb, len(s.words)) if s.words[i] == "as"), len(s.words))
    likens = any(is_finite_aux(s, i) for i in range(likened + 1, len(s.words)))
    out_of_reach = last > verb and any(_opens_clause(s, verb, i, last) for i in range(verb + 1, last))
    if 2 * causes > len(options) or likens or out_of_reach or (first < verb and not _holds(s, a.start, first, verb)):
        raise SkipError("gap_in_other_clause")
    if joins_predicate(s, verb, last):
        raise SkipError("coordinated_clauses")


def _opens_clause(s: Sentence, verb: int, i: int, gap: int) -> bool:
    """Return whether word `i` between the verb and a gap behind it opens a clause of its own."""
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


def _holds(s: Sentence, start: int, gap: int, verb: int) -> bool:
    """Return whether a gap before the verb belongs to its clause: to its subject, or to a phrase before it."""
    commas = [i for i in range(gap + 1, verb) if s.tags[i] & f.BREAK]
    if commas and s.tags[start] & _FRONTED_CLAUSE:
        return False
    if len(commas) % 2 and not s.tags[start] & f.PREP:
        return False
    if any(s.tags[i] & (f.SUB | f.LOOSE) and s.words[i] not in ("as", "like", "than") for i in range(gap + 1, verb)):
        return False
    return not s.tags[before_adverbs(s, verb, start)] & f.COORD


def joins_predicate(s: Sentence, verb: int, end: int) -> bool:
    """Return whether "and" behind the verb joins a predicate or clause that its "not" may leave alone."""
    return any(s.tags[i] & f.COORD and _is_predicate(s, verb, after_adverbs(s, i)) for i in range(verb + 1, end - 1))


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
    """Pass unless the options, or the word classes around the gap, say that the verb itself is left out.

    Raises:
        SkipError: what looks like the verb may be a noun: "Twin studies ____."
    """
    s, verb, predicates = a.sentence, a.clause.verb, _predicates(options, a)
    for gap in at:
        last = before_adverbs(s, gap, 0)
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
    """Return whether a verb's form is a noun in most texts, so that it may be one here."""
    return bool(tag & f.NOUN) and not tag & f.USUALLY_VERB


def may_be_no_verb(a: Analysis, options: Sequence[str]) -> bool:
    """Return whether the verb of a doubtful reading may be a noun or a participle: "A plant left in the dark ____."."""
    s, verb = a.sentence, a.clause.verb
    tag = s.tags[verb]
    if tag & f.AUX:
        return False
    predicates = _predicates(options, a)
    participle = tag & f.PART and not s.tag(verb + 1) & (f.DET | f.OBJ)
    return bool(participle) or 2 * predicates > len(options) or (is_noun_too(tag) and predicates > 0)


def _predicates(options: Sequence[str], a: Analysis) -> int:
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
