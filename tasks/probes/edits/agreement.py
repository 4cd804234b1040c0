"""Gives a finite verb the form that another subject needs."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.closed import NT_HOSTS
from contrapose.tasks.probes.english.inflection import base_of, third_person
from contrapose.tasks.probes.english.reading import Sentence
from contrapose.tasks.probes.english.verb_form import form_of

_SINGULAR = {"are": "is", "am": "is", "were": "was", "have": "has", "do": "does"}
_PLURAL = {"is": "are", "am": "are", "was": "were", "has": "have", "does": "do"}
_INFLECTED = frozenset(_SINGULAR) | frozenset(_PLURAL)
_FIRST = {"is": "am", "are": "am", "were": "was", "was": "was"}


def agreeing(s: Sentence, verb: int, subject: int, *, plural: bool | None, first_person: bool) -> str | None:
    """The finite verb in the form that a new subject needs, in lower case; None when it cannot be told.

    Args:
        s: the sentence.
        verb: index of its finite verb.
        subject: index where its present subject starts.
        plural: whether the new subject takes a plural verb; None when that is not known.
        first_person: whether it is "I".
    """
    word = s.words[verb]
    host = NT_HOSTS.get(word, word)
    if host in _INFLECTED:
        return _auxiliary(host, word[len(host) :], plural=plural, first_person=first_person)
    if s.tags[verb] & f.AUX:
        return word
    return _full_verb(s, verb, subject, plural=plural)


def _auxiliary(host: str, ending: str, *, plural: bool | None, first_person: bool) -> str | None:
    if plural is None:
        return None
    if first_person and host in _FIRST:
        new = _FIRST[host]
        return None if new == "am" and ending else new + ending
    return (_PLURAL if plural else _SINGULAR).get(host, host) + ending


def _full_verb(s: Sentence, verb: int, subject: int, *, plural: bool | None) -> str | None:
    word, tag = s.words[verb], s.tags[verb]
    form = form_of(s, verb, subject)
    if form == f.PAST and not (tag & f.BASE and base_of(word, f.PAST) == word):
        return word
    if plural is None:
        return None
    if form == f.PAST or (tag & f.PAST and tag & f.BASE):
        return word if plural else _past_or_none(s, verb, subject)
    base = base_of(word, form)
    return base if base is None or plural else third_person(base)


def _past_or_none(s: Sentence, verb: int, subject: int) -> str | None:
    """The verb as it is where a singular subject shows that it is a past: "The dog hit the cat."."""
    return s.words[verb] if is_surely_singular(s, subject, verb) else None


def is_surely_singular(s: Sentence, subject: int, verb: int) -> bool:
    """Whether the present subject leaves only the past: with "hits" the verb would show it."""
    return s.words[subject] in ("he", "she", "it", "a", "an", "this", "that", "every", "each") or (
        s.tags[verb - 1] & f.NOUN == f.SINGULAR and not s.tags[verb - 1] & f.CLOSED
    )
