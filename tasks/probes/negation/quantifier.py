"""Negation at the quantifier of the subject: "all" → "not all", "some" → "no"."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import before_adverbs, is_adverb
from contrapose.tasks.probes.english.edits import Edit
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.words import words
from contrapose.tasks.probes.negation.result import Plan, SkipError

_UNIVERSAL = words("all every everyone everybody everything many much")
_EXISTENTIAL = {"someone": "no one", "somebody": "nobody", "something": "nothing"}
_OTHER = words(
    """
    each both most several few half either enough more less fewer any anyone anybody anything only
    almost nearly exactly mostly roughly just neither plenty
    """
)
_FREQUENCY = words("usually often sometimes generally typically always frequently occasionally normally rarely")
_ELSEWHERE = _OTHER | _FREQUENCY
_QUANTIFIERS = _UNIVERSAL | _OTHER | {"some"} | _EXISTENTIAL.keys()
_EXCEPT = words("except excluding apart outside but")
_WHENS = words(
    """
    day days night year time week month morning evening afternoon summer winter second along around
    over at in so
    """
)


def require_plain_scope(s: Sentence, subject: int, verb: int) -> None:
    """Pass when a "not" at the verb would have the whole proposition in its scope.

    Raises:
        SkipError: a quantifier or adverb would keep it in its own.
    """
    first = s.words[subject]
    if first in _ELSEWHERE or (first == "at" and s.word(subject + 1) in ("least", "most")):
        raise SkipError("quantifier_only")
    if first == "a" and s.word(subject + 1) in ("few", "lot"):
        raise SkipError("quantifier_only")
    if s.tags[verb] & f.AUX and is_adverb(s, verb - 1) and _is_frequent(s, subject, verb):
        raise SkipError("quantifier_only")
    if s.tags[subject] & f.PREP and any(_quantifies(s, i) for i in range(subject + 1, verb)):
        raise SkipError("quantifier_only")


def _is_frequent(s: Sentence, subject: int, verb: int) -> bool:
    """Whether "usually" or the like stands right before the verb."""
    return not _FREQUENCY.isdisjoint(s.words[before_adverbs(s, verb, subject) + 1 : verb])


def at_quantifier(s: Sentence, subject: int, verb: int) -> Plan | None:
    """The plan that negates the subject's quantifier; None for other subjects.

    Raises:
        SkipError: the word quantifies something else, or has an exception.
    """
    word = s.words[subject]
    if word in _UNIVERSAL:
        return _not_all(s, subject)
    if word in _EXISTENTIAL:
        return _replace(s, subject, _EXISTENTIAL[word])
    if word == "some":
        if s.word(subject + 1)[:1].isdigit():
            raise SkipError("quantifier_only")
        alone = s.word(subject + 1) == "of" or before_adverbs(s, verb, subject) == subject
        return _replace(s, subject, "none" if alone else "no")
    return None


def _quantifies(s: Sentence, i: int) -> bool:
    free = not s.tags[i - 1] & (f.PREP | f.DET)
    return free and s.words[i] in _QUANTIFIERS


def _not_all(s: Sentence, subject: int) -> Plan:
    pronoun = s.words[subject] == "all" and s.tag(subject + 1) & f.SUBJ and not s.tag(subject + 1) & f.DET
    if pronoun or s.word(subject + 1) in _WHENS or any(word in _EXCEPT for word in s.words[subject:]):
        raise SkipError("quantifier_only")
    first = s.source(subject)[0]
    if s.text.isupper():
        return Plan(edits=(Edit(s.starts[subject], s.starts[subject], "NOT "),), kind="rewrite")
    cue = "Not " if first.isupper() else "not "
    return Plan(edits=(Edit(s.starts[subject], s.starts[subject] + 1, cue + first.lower()),), kind="rewrite")


def _replace(s: Sentence, at: int, new: str) -> Plan:
    return Plan(edits=(Edit(s.starts[at], s.ends[at], s.cased_as(at, new)),), kind="rewrite")
