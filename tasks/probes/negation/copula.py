"""Places "not" in a wh-question with a copula: "What is not …?", "What is water not made of?"."""

from __future__ import annotations

from contrapose.tasks.probes.english import closed
from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import after_adverbs, before_adverbs
from contrapose.tasks.probes.english.edits import Edit
from contrapose.tasks.probes.english.inversion import inverted_predicate
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.words import words
from contrapose.tasks.probes.negation.place import after_auxiliary
from contrapose.tasks.probes.negation.result import Plan, SkipError

_ASPECTS = words(
    """
    color colour size shape kind type sort age height date time day year month temperature condition
    state number position name length weight distance amount speed percentage
    """
)
_STOP = f.OPENER | f.LOOSE | f.BREAK | f.COORD
_NO_NOUN = f.CLOSED & ~f.SUBJ
_DESCRIBES = f.PART | f.ADJ


def behind_copula(s: Sentence, wh: int, be: int) -> Plan:
    """Put "not" right behind the copula when the question word is its subject or a noun phrase is asked for."""
    stranded = _stranded(s, be)
    if stranded is not None:
        return low(s, stranded)
    asked = be > wh + 1 and (s.words[wh] == "whose" or (s.words[wh] == "what" and _inverted(s, wh, be)))
    if asked and not _describes(s, after_adverbs(s, be)):
        return _behind_inverted(s, wh, be)
    if s.tag(be + 1) & f.SUBJ and not s.tag(be + 1) & f.DET:
        return low(s, be_predicate(s, be))
    return after_auxiliary(s, be, wh)


def _behind_inverted(s: Sentence, wh: int, be: int) -> Plan:
    """Where a noun is asked for and a noun phrase follows: "What animal is | the largest?"."""
    aspect = any(s.words[i] in _ASPECTS for i in range(wh + 1, be))
    if aspect or inverted_predicate(s, be) is not None or s.words[wh] != "what" or s.words[be + 1] != "the":
        raise SkipError("wh_subject_boundary")
    return after_auxiliary(s, be, wh)


def _inverted(s: Sentence, wh: int, be: int) -> bool:
    """Whether the question asks what the noun behind the copula is like: "What color is grass?"."""
    follows = s.tag(be + 1)
    heads = any(s.words[i] in _ASPECTS for i in range(wh + 1, be))
    return bool(follows & f.DET) or (heads and not follows & f.CLOSED and not _describes(s, be + 1))


def _describes(s: Sentence, i: int) -> bool:
    return bool(s.tag(i) & _DESCRIBES) or s.word(i).endswith("ing")


def _stranded(s: Sentence, be: int) -> int | None:
    """The participle of an object question ("What is a stopwatch | used for?"); None in other questions.

    Raises:
        SkipError: a participle is there, but what it belongs to cannot be told.
    """
    k = after_adverbs(s, be)
    if s.tag(k) & f.PREP or _describes(s, k):
        return None
    for i in range(be + 2, len(s.words)):
        tag = s.tags[i]
        if tag & _STOP or (i == be + 4 and s.words[be + 1 : i] == ["an", "example", "of"]):
            return None
        if (tag & f.DET or _verb_shaped(s, i)) and _noun_before(s, i):
            return None if tag & f.DET else _object_gap(s, i)
    if s.tags[-1] & f.PREP:
        raise SkipError("wh_subject_boundary")
    return None


def _noun_before(s: Sentence, i: int) -> bool:
    return not s.tags[i - 1] & _NO_NOUN and not s.words[i - 1].endswith("ing")


def _verb_shaped(s: Sentence, i: int) -> bool:
    return bool(s.tags[i] & f.PART) or (s.words[i].endswith("ing") and len(s.words[i]) > 4)


def _object_gap(s: Sentence, i: int) -> int | None:
    last = len(s.words) - 1
    if s.tags[last] & (f.PREP | f.LOOSE) or i == last:
        return i
    if s.words[i].endswith("ing") and s.tag(i + 1) & (f.DET | f.NOUN) and not s.tag(i + 1) & _NO_NOUN & ~f.DET:
        return None  # it has an object: "the gas | causing the smell"
    if s.words[i].endswith("ing") or s.tags[last] & f.ADV:
        raise SkipError("wh_subject_boundary")
    return None


def be_predicate(s: Sentence, be: int) -> int:
    """Index of the predicate behind an inverted "be" and its subject, or a refusal."""
    found = inverted_predicate(s, be)
    if found is None:
        raise SkipError("wh_subject_boundary")
    return found


def low(s: Sentence, at: int) -> Plan:
    """Put "not" in front of a verb or predicate, and of the adverbs that belong to it."""
    first = before_adverbs(s, at, 0) + 1
    while first < at and (s.words[first] in closed.SENTENCE_ADVERBS):
        first += 1
    if not closed.NARROW.isdisjoint(s.words[first:at]):
        raise SkipError("quantifier_only")
    edit = Edit(s.starts[first], s.starts[first], s.cased("not "))
    return Plan((edit,), confidence="medium" if "when" in s.words[:first] else "high")
