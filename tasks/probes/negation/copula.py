"""Places "not" in a wh-question with a copula: "What is not …?", "What is water not made of?"."""

from __future__ import annotations

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.lexical import after_adverbs, before_adverbs
from contrapose.tasks.probes.negation.place import after_auxiliary
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import Edit, Plan, SkipError
from contrapose.tasks.probes.negation.subject import predicate
from contrapose.tasks.probes.negation.words import words

_ASPECTS = words(
    """
    color colour size shape kind type sort age height date time day year month temperature condition
    state number position name length weight distance amount speed percentage
    """
)


def behind_copula(s: Sentence, wh: int, be: int) -> Plan:
    """Put "not" right behind the copula when the question word is its subject or a noun phrase is asked for."""
    stranded = _stranded(s, be)
    if stranded is not None:
        return low(s, stranded)
    if be > wh + 1 and (s.words[wh] == "whose" or (s.words[wh] == "what" and _inverted(s, wh, be))):
        raise SkipError("wh_subject_boundary")
    if s.tag(be + 1) & t.SUBJ and not s.tag(be + 1) & t.DET:
        return low(s, be_predicate(s, be))
    return after_auxiliary(s, be)


def _inverted(s: Sentence, wh: int, be: int) -> bool:
    """Whether the question asks what the noun behind the copula is like: "What color is grass?"."""
    if s.word(wh + 1) == "of":
        return False
    follows = s.tag(be + 1)
    heads = any(s.words[i] in _ASPECTS for i in range(wh + 1, be))
    return bool(follows & t.DET) or (heads and not follows & t.FUNCTION and not _describes(s, be + 1))


def _describes(s: Sentence, i: int) -> bool:
    word, tag = s.word(i), s.tag(i)
    return t.is_participle(word, tag) or bool(tag & t.ADJ) or word.endswith("ing")


def _stranded(s: Sentence, be: int) -> int | None:
    """The participle of an object question ("What is a stopwatch | used for?"); None in other questions.

    Raises:
        SkipError: a participle is there, but what it belongs to cannot be told.
    """
    if _describes(s, after_adverbs(s, be)) or s.tag(after_adverbs(s, be)) & t.PREP:
        return None
    for i in range(be + 2, len(s.words)):
        stop = s.tags[i] & (t.OPENER | t.LOOSE | t.BREAK | t.COORD) or s.words[be + 1 : i] == [
            "an",
            "example",
            "of",
        ]
        if stop or (s.tags[i] & t.DET and _noun_before(s, i)):
            return None
        if _noun_before(s, i) and _verb_shaped(s, i):
            return _object_gap(s, i)
    if s.tags[-1] & t.PREP:
        raise SkipError("wh_subject_boundary")
    return None


def _noun_before(s: Sentence, i: int) -> bool:
    return not s.tags[i - 1] & (t.FUNCTION & ~t.SUBJ) and not s.words[i - 1].endswith("ing")


def _verb_shaped(s: Sentence, i: int) -> bool:
    return t.is_participle(s.words[i], s.tags[i]) or (s.words[i].endswith("ing") and len(s.words[i]) > 4)


def _object_gap(s: Sentence, i: int) -> int | None:
    last = len(s.words) - 1
    if s.tags[last] & (t.PREP | t.LOOSE) or i == last:
        return i
    if s.words[i].endswith("ing") or s.tags[last] & t.ADV:
        raise SkipError("wh_subject_boundary")
    return None


def be_predicate(s: Sentence, be: int) -> int:
    """Index of the predicate behind an inverted "be" and its subject, or a refusal."""
    found = predicate(s, be)
    if found is None:
        raise SkipError("wh_subject_boundary")
    return found


def low(s: Sentence, at: int) -> Plan:
    """Put "not" in front of a verb or predicate, and of the adverbs that belong to it."""
    first = before_adverbs(s, at, 0) + 1
    while first < at and (s.words[first] in t.SENTENCE_ADVERBS or s.words[first + 1] in t.SENTENCE_ADVERBS):
        first += 1
    if any(s.words[k] in t.NARROW for k in range(first, at)):
        raise SkipError("quantifier_only")
    when = any(word == "when" for word in s.words[:first])
    edit = Edit(s.starts[first], s.starts[first], "not ")
    return Plan(edits=(edit,), confidence="medium" if when else "high")
