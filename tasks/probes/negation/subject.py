"""Finds where the subject ends in an inverted question: "What does | a plant | need?"."""

from __future__ import annotations

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.lexical import before_adverbs
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import SkipError
from contrapose.tasks.probes.negation.words import words

_LONE = words("it he she we they you i there")
_POINTING = words("this that these those")
_ADJECTIVES = ("ous", "ful", "able", "ible", "less", "ive", "ish", "ic")
_CAUSATIVES = words("feel watch")
_STOP = t.OPENER | t.LOOSE | t.BREAK | t.COORD


def base_verb(s: Sentence, aux: int) -> int:
    """Index of the bare verb that follows the subject behind a form of do or a modal.

    Raises:
        SkipError: none is known, or several could be it.
    """
    found = _candidates(s, aux)
    if not found:
        raise SkipError("wh_subject_boundary")
    first = found[0]
    sure = [i for i in found if _strength(s, i) == 2]
    if len(found) == 1 or first in sure or _pronoun_before(s, first, aux):
        return first
    if (s.words[first] in _CAUSATIVES and sure) or (not sure and any(_strength(s, i) for i in found[1:])):
        raise SkipError("wh_subject_boundary")
    # Two bare verbs never follow each other, so a doubtful form before a sure one is a noun.
    return sure[0] if sure else first


def _strength(s: Sentence, i: int) -> int:
    """How surely a bare form is a verb: 2 when it is nothing else, 0 when it is usually a noun."""
    if s.tags[i] & t.NOUNISH:
        return 0
    return 1 if s.tags[i] & t.VERBISH and s.words[i] != "help" else 2


def _pronoun_before(s: Sentence, verb: int, aux: int) -> bool:
    return s.words[before_adverbs(s, verb, aux)] in _LONE


def _candidates(s: Sentence, aux: int) -> list[int]:
    found: list[int] = []
    for i in range(aux + 1, len(s.words)):
        tag, before = s.tags[i], s.tags[before_adverbs(s, i, aux)]
        if tag & _STOP and not (s.words[i] == "like" and s.word(i + 1) == "to") and not _noun_join(s, i, found):
            break
        bare = tag & t.BASE or s.words[i] in ("be", "have", "do", "like")
        if i == aux + 1 and s.tags[aux] & t.DO:
            continue
        alone = s.words[aux + 1 : i] in (["this"], ["these"], ["those"])
        if bare and (alone or not before & (t.TO | t.PREP | t.DET | t.QUANT)) and not s.words[i - 1].endswith("'s"):
            found.append(i)
    return found


def _noun_join(s: Sentence, i: int, found: list[int]) -> bool:
    """Whether "and" still stands inside the subject: no verb has come yet."""
    return bool(s.tags[i] & t.COORD) and not found


def predicate(s: Sentence, be: int) -> int | None:
    """Index of the predicate's first word after an inverted form of "be"; None when it cannot be told."""
    first = be + 1
    left = len(s.words) - first
    points = s.word(first) in _POINTING and (left == 2 or s.tag(first + 1) & (t.NP_START | t.PREP))
    if s.word(first) in _LONE or points:
        return first + 1 if left > 1 else None
    begin = first + 1 if s.tag(first) & (t.DET | t.QUANT) else first
    if s.tag(begin) & (t.FUNCTION | t.ADJ) and not s.tag(begin) & t.QUOTED:
        return None
    if _stop_within(s, begin) is not None:
        return None
    if len(s.words) == begin + 2:
        return begin + 1
    return next((i for i in range(begin + 1, len(s.words)) if _starts_predicate(s, i, begin)), None)


def _stop_within(s: Sentence, begin: int) -> int | None:
    """A relative pronoun in the subject would hide where it ends."""
    return next((i for i in range(begin + 1, min(begin + 3, len(s.words))) if s.tags[i] & (t.REL | t.COORD)), None)


def _starts_predicate(s: Sentence, i: int, begin: int) -> bool:
    tag, word, before = s.tags[i], s.words[i], s.tags[i - 1]
    if before & (t.PREP | t.DET | t.QUANT) or tag & (t.AUX | t.COORD):
        return False
    if tag & (t.DET | t.QUANT) and not tag & t.SUBJ:
        return True
    closes = i + 1 == len(s.words) or bool(s.tag(i + 1) & (t.PREP | t.SUB | t.LOOSE | t.TO))
    if tag & t.PREP and word != "of":
        return not any(s.tags[k] & (t.ADJ | t.PART) for k in range(i + 2, len(s.words)))
    if word.endswith("ing") and len(word) > 4:
        return closes or bool(s.tag(i + 1) & (t.DET | t.ADV))
    return closes and (bool(tag & t.ADJ) or t.is_participle(word, tag) or word.endswith(_ADJECTIVES))


def participle(s: Sentence, have: int) -> int | None:
    """Index of the participle behind the subject of an inverted form of "have"; None when none is known."""
    for i in range(have + 2, len(s.words)):
        if s.tags[i] & _STOP:
            return None
        if t.is_participle(s.words[i], s.tags[i]) and not s.tags[i - 1] & (t.DET | t.PREP | t.QUANT):
            return i
    return None
