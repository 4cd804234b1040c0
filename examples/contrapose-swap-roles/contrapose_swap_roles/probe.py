"""Swaps who does something and whom it is done to: "The dog chased the cat." → "The cat chased the dog."."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from contrapose.probes import NEEDS_MAIN_VERB, Edited, TextEdit
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import Analysis, analyse
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import before_adverbs, is_finite_aux
from contrapose.tasks.language.inversion import inverted_participle, inverted_predicate, inverted_verb
from contrapose.tasks.language.reading import Sentence, UnreadableError
from contrapose.tasks.language.sentence import Edit, apply
from contrapose_swap_roles.noun_phrase import PRONOUNS, SUBJECTS, is_plural, keeps_capital
from contrapose_swap_roles.roles import (
    Complement,
    Phrase,
    complement,
    has_joined_pronoun,
    subject,
)
from contrapose_swap_roles.verb_group import DoubtError, VerbGroup, agreeing, verb_group

_ANY = words("any anyone anybody anything either neither nor")
_OWN = words("his its their")
_BOUND = words("his her its their")
_FLOATING = words("all both each")
_ASKED_HOW = words("when where why how")


class _Clause(NamedTuple):
    finite: int
    group: VerbGroup
    agent: Complement
    patient: Complement


class SwapRoles(TextEdit):
    """Swaps the subject and the object of a plain main clause; the answer should change."""

    name: ClassVar[str] = "swap_roles"
    version: ClassVar[str] = "7"
    summary: ClassVar[str] = "Swaps who does something and whom it is done to; the answer should change."
    edits_english: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {
        **NEEDS_MAIN_VERB,
        "no_subject": "giving an order, which has no subject",
        "question": "asking in a form whose roles cannot be swapped",
        "no_transitive_verb": "without a verb that takes an object",
        "no_object": "without an object",
        "symmetric_verb": "with a verb that says the same of both, such as 'marry'",
        "reflexive": "with 'itself', 'each other' or the like as the object",
        "doubtful_phrase": "with a subject or object that has no clear end",
        "same_phrase": "with the same words as subject and object",
        "agreement": "with a verb whose form for its new subject is unclear",
    }

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """The text with the two phrases of its last sentence swapped, or the reason why not."""
        try:
            return _swapped(analyse(text))
        except UnreadableError as error:
            return Edited(reason="no_finite_verb" if error.reason == "no_word" else error.reason)
        except DoubtError as doubt:
            return Edited(reason=doubt.reason)


def _swapped(a: Analysis) -> Edited:
    s = a.sentence
    clause = _clause(a)
    first, second = clause.agent.phrase, clause.patient.phrase
    _require_swappable(s, clause)
    plural, first_person = is_plural(s, second.start, second.end), s.words[second.start] == "me"
    verb = agreeing(s, clause.finite, first.start, plural=plural, first_person=first_person)
    if verb is None:
        raise DoubtError("agreement")
    edits = [
        Edit(s.starts[first.start], s.ends[first.end], _as_subject(s, second, first)),
        Edit(s.starts[second.start], s.ends[second.end], _as_object(s, first)),
    ]
    if verb != s.words[clause.finite]:
        edits.append(Edit(s.starts[clause.finite], s.ends[clause.finite], _like(s.source(clause.finite), verb)))
    owned = s.words[first.start] in _OWN
    sure = not owned and clause.agent.sure and clause.patient.sure and not a.doubtful and clause.group.base != "have"
    return Edited(text=apply(s.text, edits), confidence="high" if sure else "medium")


def _clause(a: Analysis) -> _Clause:
    if a.kind == "fragment":
        raise DoubtError("no_finite_verb")
    if a.kind == "order":
        raise DoubtError("no_subject")
    if a.kind in ("polar", "wh"):
        return _asked(a.sentence, a.start)
    if a.ambiguous:
        raise DoubtError("ambiguous_verb")
    if a.clause.others:
        raise DoubtError("coordinated_clauses")
    return _stated(a)


def _stated(a: Analysis) -> _Clause:
    s, finite = a.sentence, a.clause.verb
    group = verb_group(s, finite)
    patient = complement(s, group)
    begin = _behind_adverb(s, a.subject)
    last = patient.phrase.end + 1 == len(s.words)
    agent = subject(s, begin, before_adverbs(s, finite, begin), last=last)
    return _Clause(finite, group, agent, patient)


def _behind_adverb(s: Sentence, i: int) -> int:
    """Index of the subject behind an adverb without a comma: "Yesterday the goose …"."""
    adverb = s.tags[i] & f.ADV and not s.tags[i] & (f.QUANT | f.DET) and s.tag(i + 1) & (f.NP_START | f.NAME)
    return i + 1 if adverb else i


def _asked(s: Sentence, start: int) -> _Clause:
    """The clause of a question with an inverted auxiliary."""
    aux = start + (s.words[start] in _ASKED_HOW)
    if not is_finite_aux(s, aux) or s.tags[aux] & f.CLITIC:
        raise DoubtError("question")
    tag = s.tags[aux]
    find = inverted_predicate if tag & f.BE else inverted_participle if tag & f.HAVE else inverted_verb
    verb = find(s, aux)
    if verb is None:
        raise DoubtError("question")
    group = verb_group(s, aux, inverted_at=verb)
    patient = complement(s, group)
    last = patient.phrase.end + 1 == len(s.words)
    return _Clause(aux, group, subject(s, aux + 1, before_adverbs(s, verb, aux + 1), last=last), patient)


def _require_swappable(s: Sentence, clause: _Clause) -> None:
    first, second = clause.agent.phrase, clause.patient.phrase
    if any(word in _ANY for word in s.words) or has_joined_pronoun(s, first) or has_joined_pronoun(s, second):
        raise DoubtError("doubtful_phrase")
    if any(word in _FLOATING for word in s.words[first.end + 1 : second.start]):
        raise DoubtError("doubtful_phrase")  # "The boys all like the girl."
    if s.words[second.start] in _BOUND or s.words[second.start : second.end + 1] == ["home"]:
        raise DoubtError("doubtful_phrase")  # "lost his crown", "ran home"
    split = not clause.group.passive and second.start > clause.group.lexical + 1
    if split and s.words[first.start] in (*PRONOUNS, "it", "you"):
        raise DoubtError("doubtful_phrase")  # "picked up it"
    if _as_agent(s, second) == _as_agent(s, first):
        raise DoubtError("same_phrase")


def _as_agent(s: Sentence, phrase: Phrase) -> str:
    found = " ".join(s.words[phrase.start : phrase.end + 1])
    return SUBJECTS.get(found, found)


def _text(s: Sentence, phrase: Phrase) -> str:
    return s.text[s.starts[phrase.start] : s.ends[phrase.end]]


def _as_subject(s: Sentence, phrase: Phrase, place: Phrase) -> str:
    """A phrase as it stands in the place of the subject, with that place's capital."""
    found = _recased(s, phrase, SUBJECTS)
    capital = _begins(s, place.start) and s.source(place.start)[0].isupper()
    return found[0].upper() + found[1:] if capital else found


def _as_object(s: Sentence, phrase: Phrase) -> str:
    """The subject as it stands behind the verb."""
    found = _recased(s, phrase, PRONOUNS)
    if not _begins(s, phrase.start) or s.text.isupper() or (found[0].isupper() and keeps_capital(s, phrase.start)):
        return found if s.words[phrase.start] != "i" or s.text.isupper() else found.lower()
    return found[0].lower() + found[1:]


def _begins(s: Sentence, i: int) -> bool:
    return i == 0 or s.words[i - 1] == ":"


def _recased(s: Sentence, phrase: Phrase, forms: dict[str, str]) -> str:
    """A phrase as it is spelled; a lone pronoun in its other case."""
    found = _text(s, phrase)
    new = forms.get(s.words[phrase.start]) if phrase.start == phrase.end else None
    if new is None:
        return found
    return new.upper() if s.text.isupper() or new == "i" else new


def _like(spelled: str, word: str) -> str:
    """A word with the capitals of another."""
    if spelled.isupper():
        return word.upper()
    return word[0].upper() + word[1:] if spelled[0].isupper() else word
