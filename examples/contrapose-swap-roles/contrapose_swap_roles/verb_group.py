"""What belongs to a finite verb: its auxiliaries, its full verb, and whether that is a passive."""

from __future__ import annotations

from typing import NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import NT_HOSTS
from contrapose.tasks.language.inflection import base_of, form_of, third_person
from contrapose.tasks.language.reading import Sentence


class DoubtError(Exception):
    """Raised for a sentence whose roles cannot be swapped; `reason` says why."""

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


class VerbGroup(NamedTuple):
    """A finite verb with what belongs to it."""

    lexical: int
    """Index of the full verb."""
    passive: bool
    """Whether it is a passive."""
    base: str
    """The full verb's base form."""


def verb_group(s: Sentence, finite: int, *, inverted_at: int | None = None) -> VerbGroup:
    """The verb group that begins with a finite verb; in a question it goes on at `inverted_at`, behind the subject.

    Raises:
        DoubtError: no full verb, or none that could have an object.
    """
    k, state = finite, s.tags[finite] & f.AUX
    passive = False
    while state:
        if state & f.CLITIC:
            raise DoubtError("doubtful_phrase")
        following = inverted_at if inverted_at is not None and k == finite else behind_adverbs(s, k + 1)
        step = _step(s, following, state)
        if step is None:
            break
        passive = step == "passive"
        k, state = following, f.BE if step == "be" else f.HAVE if step == "have" else 0
    return _group(s, k, state, passive=passive)


def _step(s: Sentence, k: int, state: int) -> str | None:
    """What word `k` is behind an auxiliary: a further one, or the full verb; None when it is neither."""
    word, tag = s.word(k), s.tag(k)
    if state & f.BE:
        return "be" if word == "being" else "active" if tag & f.ING else "passive" if tag & f.PART else None
    if state & f.HAVE:
        return "be" if word == "been" else "active" if tag & f.PART or word == "had" else None
    if word in ("be", "have"):
        return word
    return "active" if tag & f.BASE or word == "do" else None


def _group(s: Sentence, k: int, state: int, *, passive: bool) -> VerbGroup:
    if state & (f.BE | f.MODAL):
        raise DoubtError("no_transitive_verb")
    word, tag = s.words[k], s.tags[k]
    if tag & (f.HAVE | f.DO):
        return VerbGroup(k, passive=False, base="have" if tag & f.HAVE else "do")
    for form in (f.THIRD, f.ING, f.PART if passive else f.PAST, f.PART, f.BASE):
        if tag & form and (base := base_of(word, form)):
            return VerbGroup(k, passive=passive, base=base)
    raise DoubtError("ambiguous_verb")


def behind_adverbs(s: Sentence, k: int) -> int:
    """Index of the first word from `k` on that is no adverb, and no "not"."""
    while (s.tag(k) & (f.ADV | f.SEMI) and not s.tag(k) & (f.QUANT | f.DET)) or s.word(k) == "not":
        k += 1
    return k


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
