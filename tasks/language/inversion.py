"""Finds where the subject ends in an inverted question: "What does | a plant | need?", "Is | the sky | blue?"."""

from __future__ import annotations

from collections.abc import Callable

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import before_adverbs, is_adverb, is_finite_aux
from contrapose.tasks.language.inflection import is_plural_phrase
from contrapose.tasks.language.odds import relative_odds
from contrapose.tasks.language.sentence import Sentence

_LONE = words("it he she we they you i there")
_POINTING = words("this that these those")
_POSSESSIVES = words("mine yours his hers ours theirs")
_PLAIN = words("be have do need want use like help live work move make take give run turn mean")
"""Bare verbs even where the dictionary has a noun too."""
_STOP = f.OPENER | f.BREAK | f.LOOSE
_LEAST = -0.5
_MARGIN = 0.4


def inverted_verb(s: Sentence, aux: int) -> int | None:
    """Index of the bare verb behind the subject of an inverted form of "do" or a modal; None when it cannot be told."""
    return _best(s, aux, _base_odds)


def inverted_predicate(s: Sentence, be: int) -> int | None:
    """Index of the predicate's first word behind an inverted form of "be"; None when it cannot be told."""
    first = be + 1
    if s.tag(first) & f.WH:
        return None
    if s.word(first) in _LONE or (s.word(first) in _POINTING and not s.tag(first + 1) & (f.NOUN & ~f.ADJ)):
        return first + 1 if first + 1 < len(s.words) else None
    return _best(s, be, _predicate_odds)


def inverted_participle(s: Sentence, have: int) -> int | None:
    """Index of the participle behind the subject of an inverted form of "have"; None when none is known."""
    for i in range(have + 2, len(s.words)):
        if s.tags[i] & _STOP:
            return None
        before = s.tags[before_adverbs(s, i, have)]
        if (s.tags[i] & f.PART or s.words[i] in ("been", "had", "done")) and not before & (f.DET | f.PREP | f.QUANT):
            return i
    return None


def _best(s: Sentence, aux: int, odds: Callable[[Sentence, int, int], float | None]) -> int | None:
    """The likeliest place behind the subject; None when no place is likely, or two are as likely."""
    places: list[tuple[float, int]] = []
    inside = False  # a relative clause of the subject, whose verb has not come yet
    for i in range(aux + 2, len(s.words)):
        if inside:
            inside = not (is_finite_aux(s, i) or (s.tags[i] & f.FINITE and relative_odds(s, i) > 0))
            continue
        if not places and s.words[i] in ("that", "who", "which"):
            inside = True
            continue
        if s.tags[i] & _STOP and s.words[i] != "like" and not (s.words[i] == "," and not places):
            break
        value = odds(s, i, aux)
        if value is not None:
            places.append((value, i))
    if not places:
        return None
    best, at = max(places, key=lambda place: (place[0], -place[1]))
    rivals = [value for value, i in places if i != at]
    return at if best >= _LEAST and (not rivals or best - max(rivals) >= _MARGIN) else None


def _base_odds(s: Sentence, i: int, aux: int) -> float | None:
    tag = s.tags[i]
    if not (tag & f.BASE or s.words[i] in ("be", "have", "do")):
        return None
    k = before_adverbs(s, i, aux)
    while s.words[k] in closed.SENTENCE_ADVERBS:
        k = before_adverbs(s, k, aux)
    before = s.tags[k]
    if k == aux or before & (f.TO | f.AUX) or s.words[k].endswith(("'s", "s'")):
        return None
    if s.words[k] in _LONE and not s.tags[k - 1] & f.PREP:
        return 6.0
    plain = not tag & (f.NOUN | f.ADJ | f.CLOSED) or s.words[i] in _PLAIN
    form = 3.0 if plain else 0.8 if tag & f.USUALLY_VERB else -1.0
    return (
        form + _before_base(s, k, before) + _number(s, aux, k) + _after_base(s, i) - (2.5 if tag & f.RARELY_VERB else 0)
    )


def _before_base(s: Sentence, k: int, before: int) -> float:
    if before & (f.DET | f.QUANT) and not (before & f.SUBJ and k >= 1):
        return -0.5 if before & f.QUANT else -6.0
    if before & f.PREP:
        return -3.0
    if before & (f.NAME | f.SUBJ):
        return 2.0
    if before & f.NOUN:
        return 1.2
    if before & f.ADJ:
        return -2.0
    return -1.0 if before & f.BASE else 0.0


def _number(s: Sentence, aux: int, k: int) -> float:
    """Whether the words so far make a subject of the auxiliary's number."""
    if s.words[aux] not in ("do", "does"):
        return 0.0
    plural = is_plural_phrase(s, aux + 1, k)
    if plural is None:
        return 0.0
    return 1.5 if plural == (s.words[aux] == "do") else -3.0


def _after_base(s: Sentence, i: int) -> float:
    tag = s.tag(i + 1)
    if not s.word(i + 1):
        return 1.0
    if tag & (f.DET | f.OBJ | f.QUANT | f.REL | f.TO | f.ADV):
        return 1.5
    if s.words[i + 1] == "of":
        return -3.0
    return 0.5 if tag & (f.PREP | f.LOOSE | f.ING) else 0.0


def _predicate_odds(s: Sentence, i: int, be: int) -> float | None:
    tag, before = s.tags[i], s.tags[i - 1]
    if before & (f.PREP | f.DET | f.QUANT | f.COORD | f.TO) and not before & f.SUBJ:
        return None
    if not before & (f.NOUN | f.NAME | f.SUBJ | f.ING | f.QUOTED | f.PREP) or (before & f.ADJ and not before & f.NOUN):
        return None
    if tag & (f.AUX | f.COORD | f.SUBJ) and not tag & f.DET:
        return None
    return _predicate_kind(s, i, tag, last=i + 1 == len(s.words))


def _predicate_kind(s: Sentence, i: int, tag: int, *, last: bool) -> float | None:
    after = s.tag(i + 1)
    closes = last or bool(after & (f.PREP | f.SUB | f.LOOSE | f.TO | f.COORD | f.ADV | f.REL))
    if tag & (f.DET | f.QUANT) or s.words[i] in _POSSESSIVES:
        return 3.0
    if is_adverb(s, i):
        return 2.8
    if tag & f.PREP:
        return None if s.words[i] == "of" else 0.6
    if tag & f.PART and not tag & f.NOUN:
        return 2.5 if closes or after & f.DET else 0.5
    if tag & f.ING:
        return 2.2 if closes or after & f.DET else 0.4
    if tag & f.ADJ:
        return (2.6 if not tag & f.NOUN or tag & f.USUALLY_ADJ else 1.2) if closes else 0.2
    if tag & (f.TO | f.QUOTED | f.LOOSE):
        return 0.8
    if tag & (f.NOUN | f.NUMBER | f.NAME):
        plural_before = s.tags[i - 1] & f.NOUN == f.PLURAL
        return 1.2 if plural_before and last else 0.3 if last else -0.2
    return None
