"""Finds the predicate behind the copula of the main clause."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.analysis import Analysis
from contrapose.tasks.probes.english.context import is_adverb, is_finite_aux
from contrapose.tasks.probes.english.inversion import inverted_predicate
from contrapose.tasks.probes.english.reading import Sentence
from contrapose.tasks.probes.english.words import words

_LINKING = words(
    """
    seem seems seemed appear appears appeared look looks looked feel feels felt sound sounds sounded taste tastes
    tasted smell smells smelled become becomes became remain remains remained stay stays stayed be
    """
)
_SUBJECT_QUESTIONS = words("which what who")


class NoPredicateError(Exception):
    """Raised where no predicate can be told; `reason` says why."""

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


def predicate_of(a: Analysis) -> int:
    """Index of the first word behind the copula, and behind the subject of a yes/no question.

    Raises:
        NoPredicateError: no sentence, no copula, or no telling which word it is.
    """
    if a.kind == "fragment":
        raise NoPredicateError("no_finite_verb")
    if a.ambiguous:
        raise NoPredicateError("ambiguous_verb")
    if a.clause.others:
        raise NoPredicateError("coordinated_clauses")
    if a.kind == "polar":
        return _behind_subject(a.sentence, a.start)
    verb = _asked_verb(a.sentence, a.start) if a.kind == "wh" else a.clause.verb
    return _behind_verb(a.sentence, verb)


def _behind_verb(s: Sentence, verb: int) -> int:
    word, tag = s.words[verb], s.tags[verb]
    if word in _LINKING or tag & f.BE:
        return verb + 1
    k = verb + 1
    while is_adverb(s, k) or s.tag(k) & f.NEG:
        k += 1
    if tag & (f.AUX | f.NEG) and s.word(k) in ("be", "been"):
        return k + 1
    if tag & f.CLITIC and word.endswith(("'s", "'re", "'m")):
        return verb + 1
    raise NoPredicateError("no_predicate_adjective")


def _behind_subject(s: Sentence, be: int) -> int:
    if "or" in s.words[be:]:
        raise NoPredicateError("alternative_question")
    if not s.tags[be] & f.BE:
        raise NoPredicateError("no_predicate_adjective")
    found = inverted_predicate(s, be)
    if found is None:
        raise NoPredicateError("wh_subject_boundary")
    return found


def _asked_verb(s: Sentence, wh: int) -> int:
    """The verb of a question about its subject: "Which planet is the hottest?"."""
    if s.words[wh].removesuffix("'s") not in _SUBJECT_QUESTIONS:
        raise NoPredicateError("wh_subject_boundary")
    for i in range(wh, len(s.words)):
        if i > wh and s.tags[i] & (f.OPENER | f.BREAK):
            break
        if is_finite_aux(s, i):
            return i
    raise NoPredicateError("no_predicate_adjective")
