"""Which form a finite full verb has, where its spelling leaves several."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english import inflection
from contrapose.tasks.probes.english.number import is_plural_phrase
from contrapose.tasks.probes.english.reading import Sentence
from contrapose.tasks.probes.english.words import words

_PAST_TIME = words("yesterday ago last earlier previously once formerly then")
_RATHER_PAST = words("found felt saw fell ground bore wound left shot lit bound")
_PRESENT_TIME = words("every always usually often now currently sometimes daily never generally typically")


def form_of(s: Sentence, verb: int, subject: int) -> int:
    """BASE, THIRD or PAST: what the finite verb is; the likelier one where both are possible ("they put").

    Args:
        s: the sentence.
        verb: index of the verb.
        subject: index where its subject starts; equal to `verb` for an order.
    """
    tag = s.tags[verb]
    if tag & f.THIRD:
        return f.THIRD
    if not tag & f.PAST:
        return f.BASE
    if not tag & f.BASE:
        return f.PAST
    return _base_or_past(s, verb, subject)


def _base_or_past(s: Sentence, verb: int, subject: int) -> int:
    word = s.words[verb]
    if subject == verb:
        return f.BASE
    plural = is_plural_phrase(s, subject, verb - 1)
    if plural is False:
        return f.PAST
    if inflection.base_of(word, f.PAST) != word:
        return f.PAST if word in _RATHER_PAST else f.BASE
    if any(each in _PAST_TIME or _is_year(each) for each in s.words):
        return f.PAST
    if any(each in _PRESENT_TIME for each in s.words):
        return f.BASE
    return f.PAST if s.words[subject] in ("i", "we", "they", "you") else f.BASE


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[0] in "12"
