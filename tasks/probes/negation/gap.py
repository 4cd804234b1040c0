"""Where a stem leaves its blank, and whether a "not" at the main verb denies the clause that holds it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import Analysis
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import after_adverbs, before_adverbs, is_finite_aux
from contrapose.tasks.language.sentence import Sentence
from contrapose.tasks.language.vocabulary import flags_of
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
    """Indices of the blanks of a sentence."""
    return [i for i, word in enumerate(s.words) if word[0] == "_"]


def require_gap_denied(a: Analysis, at: Sequence[int], options: Sequence[str]) -> None:
    """Pass when each gap, a word's index or one past the last, stands where a "not" at the main verb reaches it.

    Raises:
        SkipError: it stands in another clause, or in one that may be out of reach.
    """
    s, verb, first, last = a.sentence, a.clause.verb, min(at), max(at)
    if _give_causes(options) or _likens(s, verb):
        raise SkipError("gap_in_other_clause")
    if (last > verb and not _reaches(s, verb, last)) or (first < verb and not _holds(s, a.start, first, verb)):
        raise SkipError("gap_in_other_clause")
    if joins_predicate(s, verb, last):
        raise SkipError("coordinated_clauses")


def _likens(s: Sentence, verb: int) -> bool:
    """Whether a clause of likeness follows: "Hot is to cold as up is to …"."""
    at = next((i for i in range(verb, len(s.words)) if s.words[i] == "as"), len(s.words))
    return any(is_finite_aux(s, i) for i in range(at + 1, len(s.words)))


def _give_causes(options: Sequence[str]) -> bool:
    """Whether most options are clauses that say why, of a fact that the stem states."""
    return 2 * sum(option.lower().startswith(("because ", "since ", "so that ")) for option in options) > len(options)


def _reaches(s: Sentence, verb: int, gap: int) -> bool:
    """Whether nothing between the verb and a gap behind it opens a clause of its own."""
    for i in range(verb + 1, gap):
        if (s.tags[i] & f.BREAK and i + 1 < gap) or _opens_sentence(s, i):
            return False
        if s.words[i] in _CAUSES:
            if not _is_focus(s, verb, i):
                return False
        elif s.words[i] in _OUTSIDE or _is_aside(s, i):
            return False
    return True


def _opens_sentence(s: Sentence, i: int) -> bool:
    """Whether a sentence starts here all the same, behind what may be an abbreviation: "… at 5 p.m. Its speed is"."""
    begin = s.starts[i]
    return s.text[begin].isupper() and s.text[max(0, begin - 2) : begin] == ". " and not s.tags[i] & f.NAME


def _is_focus(s: Sentence, verb: int, i: int) -> bool:
    """Whether a cause is all that is said, and so all that is denied: "Tides occur | because of …"."""
    said = [s.words[k] for k in range(verb, i) if not s.tags[k] & f.ADV]
    return said[-1] in _HAPPEN or (len(said) == 1 and bool(s.tags[verb] & f.BE))


def _is_aside(s: Sentence, i: int) -> bool:
    """Whether an example, a likeness or an aim is told of what is said already: "such as", "much like"."""
    if s.words[i] == "like":
        return s.word(i - 1) in ("just", "much") or bool(s.tag(i + 1) & f.OPENER)
    return s.words[i : i + 2] == ["such", "as"] or s.words[i : i + 3] == ["in", "order", "to"]


def _holds(s: Sentence, start: int, gap: int, verb: int) -> bool:
    """Whether a gap before the verb belongs to the verb's own clause: to its subject, or to a phrase before it."""
    commas = [i for i in range(gap + 1, verb) if s.tags[i] & f.BREAK]
    if commas and s.tags[start] & _FRONTED_CLAUSE:
        return False
    if len(commas) % 2 and not s.tags[start] & f.PREP:
        return False
    if any(s.tags[i] & (f.SUB | f.LOOSE) and s.words[i] not in ("as", "like", "than") for i in range(gap + 1, verb)):
        return False
    return not s.tags[before_adverbs(s, verb, start)] & f.COORD


def joins_predicate(s: Sentence, verb: int, end: int) -> bool:
    """Whether "and" behind the verb joins a predicate or clause that its "not" may leave alone."""
    return any(s.tags[i] & f.COORD and _is_predicate(s, verb, after_adverbs(s, i)) for i in range(verb + 1, end - 1))


def _is_predicate(s: Sentence, verb: int, k: int) -> bool:
    tag = s.tag(k)
    if is_finite_aux(s, k) or (tag & f.SUBJ and not tag & f.DET):
        return True
    if tag & f.CLOSED or tag & f.NAME or not tag & f.FINITE:
        return False
    if tag & f.PART and s.tags[verb] & f.AUX:
        return False
    follows = s.tag(k + 1)
    object_follows = not s.word(k + 1) or s.word(k + 1)[0] == "_" or bool(follows & (f.DET | f.QUANT | f.OBJ | f.TO))
    likely = not tag & (f.NOUN | f.ADJ) or (tag & f.USUALLY_VERB and object_follows)
    if tag & (f.THIRD | f.PAST):
        return bool(likely)
    return bool(likely) and not s.tags[verb] & (f.AUX | f.THIRD) and "to" not in s.words[verb:k]


def require_no_verb_in_gap(a: Analysis, at: Sequence[int], options: Sequence[str]) -> None:
    """Pass unless the options, or the word classes around the gap, say that the verb itself is left out.

    Raises:
        SkipError: what looks like the verb may be a noun: "Twin studies ____."
    """
    s, verb = a.sentence, a.clause.verb
    for gap in at:
        predicates = _predicates(options, s, verb)
        if _may_be_verb(s, verb, gap, predicates) or (_lacks_verb(s, verb, gap) and 2 * predicates > len(options)):
            raise SkipError("gap_may_be_verb")


def _may_be_verb(s: Sentence, verb: int, gap: int, predicates: int) -> bool:
    last = before_adverbs(s, gap, 0)
    tag = s.tags[last]
    if last == verb and a_noun_too(tag) and not tag & f.AUX and predicates:
        return True
    if gap < len(s.words) and gap - 1 == last and tag & _NOMINAL and not tag & (f.DET | f.CLOSED & ~f.SUBJ):
        follows = s.tag(gap + 1)
        return bool(follows & _BEHIND_VERB) and s.word(gap + 1) != "of"
    return last == verb and last < gap - 1 and not tag & f.AUX


def a_noun_too(tag: int) -> bool:
    """Whether a verb's form is a noun in most texts, so that it may be one here."""
    return bool(tag & f.NOUN) and not tag & f.USUALLY_VERB


def may_be_no_verb(a: Analysis, options: Sequence[str]) -> bool:
    """Whether the main verb of a doubtful reading may be a noun or a participle: "A plant left in the dark ____."."""
    s, verb = a.sentence, a.clause.verb
    tag = s.tags[verb]
    if tag & f.AUX:
        return False
    predicates = _predicates(options, s, verb)
    participle = tag & f.PART and not s.tag(verb + 1) & (f.DET | f.OBJ)
    return bool(participle) or 2 * predicates > len(options) or (a_noun_too(tag) and predicates > 0)


def _lacks_verb(s: Sentence, verb: int, gap: int) -> bool:
    """Whether a predicate may follow the word before the gap, which then is no part of one."""
    last = before_adverbs(s, gap, 0)
    tag = s.tags[last]
    if last < verb or tag & (f.REL | f.SUB | f.SUBJ) or not tag & (f.NOUN | f.NAME | f.ADJ | f.FINITE):
        return False
    return not any(s.tags[i] & f.REL or s.words[i] == "if" for i in range(verb + 1, last))


def _predicates(options: Sequence[str], s: Sentence, verb: int) -> int:
    """How many options start with a finite verb."""
    said = [option.split(None, 1) for option in options]
    tags = [flags_of(parts[0].lower()) for parts in said if len(parts) > 1 or (parts and parts[0][0].islower())]
    finite = sum(_is_finite(tag) for tag in tags)
    return finite if s.words[verb] in _LETS_DO or s.tags[verb] & f.AUX else finite + sum(map(_is_bare, tags))


def _is_finite(tag: int) -> bool:
    if tag & f.AUX:
        return not tag & (f.WH | f.SUBJ)
    return bool(tag & (f.THIRD | f.PAST)) and not tag & (f.NOUN | f.ADJ | f.PART | f.CLOSED)


def _is_bare(tag: int) -> bool:
    return bool(tag & f.BASE and tag & f.USUALLY_VERB) and not tag & f.CLOSED
