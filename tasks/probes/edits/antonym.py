"""The test antonym: replace the adjective after "is" by its opposite: "The box is heavy." → "The box is light."."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import Analysis, analyse_sentence
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import is_adverb, is_finite_aux
from contrapose.tasks.language.inversion import find_predicate
from contrapose.tasks.language.reading import Sentence, UnreadableError, read_sentence
from contrapose.tasks.language.sentence import Edit, apply_edits
from contrapose.tasks.probes.edits.base import NEEDS_MAIN_VERB, Edited, TextEdit
from contrapose.tasks.probes.edits.tables import listed

Degree = Literal["positive", "comparative", "superlative"]

_DOUBLED = words("big dim fat hot sad thin wet")
_IRREGULAR = {"good": ("better", "best"), "bad": ("worse", "worst"), "shy": ("shyer", "shyest")}


class Opposite(NamedTuple):
    """The opposite of an adjective, with its degree."""

    word: str
    """The opposite, in the same degree."""
    base: str
    """The adjective itself, in its positive degree."""
    degree: Degree
    """The degree of both."""


@cache
def list_opposites() -> dict[str, Opposite]:
    """Return a table of every known adjective form, in lower case, with its opposite."""
    pairs = {tuple(pair.split("/")) for pair in listed("antonyms_both_ways") | listed("antonyms_one_way")}
    reversed_pairs = {tuple(reversed(pair.split("/"))) for pair in listed("antonyms_both_ways")}
    table: dict[str, Opposite] = {}
    for base, other in sorted(pairs | reversed_pairs):
        table[base] = Opposite(other, base, "positive")
        if base in listed("inflected_adjectives"):
            table[form_comparative(base)] = Opposite(form_comparative(other, unless=base), base, "comparative")
            table[form_superlative(base)] = Opposite(form_superlative(other, unless=base), base, "superlative")
    return table


def form_comparative(base: str, *, unless: str = "") -> str:
    """Return the comparative of an adjective; "less" with `unless` if the adjective is `unless` with a prefix."""
    if base in listed("inflected_adjectives"):
        return _inflect(base, "er")
    return f"less {unless}" if unless and base.endswith(unless) else f"more {base}"


def form_superlative(base: str, *, unless: str = "") -> str:
    """Return the superlative of an adjective; "least" with `unless` if the adjective is `unless` with a prefix."""
    if base in listed("inflected_adjectives"):
        return _inflect(base, "est")
    return f"least {unless}" if unless and base.endswith(unless) else f"most {base}"


def _inflect(base: str, ending: str) -> str:
    """Return an adjective with its ending: big, bigger, biggest."""
    if base in _IRREGULAR:
        return _IRREGULAR[base][ending == "est"]
    if base.endswith("y"):
        return f"{base[:-1]}i{ending}"
    return base.removesuffix("e") + (base[-1] if base in _DOUBLED else "") + ending


_PARTIAL = words("some several many few sometimes occasionally often only partly partially half as equally just")
"""Before the adjective, they let both sentences be true, or make the changed one meaningless."""
_WEAK = words("can could may might should must would shall")
_STEPPED = words("not so too very much far quite all by the no longer any bit little a lot even")
_AFTER = f.PREP | f.TO | f.OPENER | f.LOOSE | f.BREAK | f.COORD | f.ADV | f.DET | f.QUANT
_NOT_AFTER = words("by one ones as a an the")
_COMPLEMENTS = words("of from to for on with about that")
_OTHER_DEGREE = {"more": "less", "less": "more", "most": "least", "least": "most"}
_INFLECT = {"less": form_comparative, "least": form_superlative}
_LINKING = words("""
    seem seems seemed appear appears appeared look looks looked feel feels felt sound sounds sounded taste tastes
    tasted smell smells smelled become becomes became remain remains remained stay stays stayed be
""")
_SUBJECT_QUESTIONS = words("which what who")


class Antonym(TextEdit):
    """Replaces the adjective after the main verb by its opposite."""

    name: ClassVar[str] = "antonym"
    version: ClassVar[str] = "7"
    summary: ClassVar[str] = "Replaces an adjective by its opposite; the answer should change."
    edits_english: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {
        **NEEDS_MAIN_VERB,
        "no_word": "without a word",
        "no_antonym": "without an adjective whose opposite is known",
        "no_predicate_adjective": "without an adjective after 'is', 'seems' or the like",
        "antonym_in_text": "with the opposite in the text already",
        "quantifier_only": "with 'some', 'often' or the like: the opposite may also be true",
        "coordinated_clauses": "with several clauses or adjectives, of which one would be turned",
    }

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Return the text with the opposite adjective; nothing is random, because each has one opposite."""
        try:
            sentence = read_sentence(text)
            if list_opposites().keys().isdisjoint(sentence.words) and _OTHER_DEGREE.keys().isdisjoint(sentence.words):
                return Edited(reason="no_antonym")
            analysis = analyse_sentence(sentence)
            edit = _make_opposite_edit(analysis, find_main_predicate(analysis))
        except UnreadableError as error:
            return Edited(reason=error.reason)
        # Another reading, a negation or a modal may let both texts be true.
        denied = any(tag & (f.NEG | f.SEMI) for tag in sentence.tags)
        doubtful = denied or analysis.doubtful or not _WEAK.isdisjoint(sentence.words)
        return Edited(text=apply_edits(text, [edit]), confidence="medium" if doubtful else "high")


def _make_opposite_edit(a: Analysis, first: int) -> Edit:
    """Return the edit that replaces the adjective at or after word `first` by its opposite."""
    s = a.sentence
    k = _skip_adverbs(s, first)
    graded = s.word(k) in _OTHER_DEGREE
    adjective = k + graded
    tag = s.tag(adjective)
    if not (tag & f.ADJ or s.word(adjective) in list_opposites()) or tag & f.NAME:
        raise UnreadableError("no_predicate_adjective")
    if adjective + 1 < len(s.words) and (not s.tags[adjective + 1] & _AFTER or s.words[adjective + 1] in _NOT_AFTER):
        raise UnreadableError("no_predicate_adjective")  # it describes a noun behind it
    if not _PARTIAL.isdisjoint(s.words[a.start : k]):
        raise UnreadableError("quantifier_only")
    # Turning one of several adjectives leaves "hot in summer and cold in winter" half as it was.
    joints = (i for i in range(adjective + 1, len(s.words)) if s.tags[i] & (f.COORD | f.BREAK))
    if s.tag(adjective + 1) & f.COORD or any(s.word(_skip_adverbs(s, i + 1)) in list_opposites() for i in joints):
        raise UnreadableError("coordinated_clauses")
    if graded:  # "more expensive", "less heavy", "least safe" become "less expensive", "heavier", "safest"
        degree, word = s.words[k : k + 2]
        form = _INFLECT.get(degree)
        opening, blank, _ = (form(word) if form else f"{_OTHER_DEGREE[degree]} {word}").partition(" ")
        new = s.cased_as(k, opening) + (blank and blank + s.source(k + 1))
        return Edit(s.starts[k], s.ends[adjective], new)
    opposite = list_opposites().get(s.words[k])
    if opposite is None or (opposite.base in listed("bare_antonyms") and s.word(k + 1) in _COMPLEMENTS):
        raise UnreadableError("no_antonym")
    if "the" in s.words[first:k] and opposite.degree == "positive":
        raise UnreadableError("no_predicate_adjective")  # "the rich" are people
    if opposite.word in s.words:
        raise UnreadableError("antonym_in_text")
    return Edit(s.starts[k], s.ends[adjective], s.cased_as(k, opposite.word))


def _skip_adverbs(s: Sentence, k: int) -> int:
    """Return the index of the first word from `k` on that is not an adverb; "more" and "less" are kept."""
    while s.word(k) not in list_opposites() and s.word(k) not in _OTHER_DEGREE:
        if not (is_adverb(s, k) or s.word(k) in _STEPPED or s.tag(k) & f.NEG):
            break
        k += 1
    return k


def find_main_predicate(a: Analysis) -> int:
    """Return the index of the first word after the copula, or after the subject of a yes/no question."""
    s = a.sentence
    if a.kind == "fragment":
        raise UnreadableError("no_finite_verb")
    if a.ambiguous:
        raise UnreadableError("ambiguous_verb")
    if a.clause.others:
        raise UnreadableError("coordinated_clauses")
    if a.kind == "polar":
        if "or" in s.words[a.start :]:
            raise UnreadableError("alternative_question")
        if not s.tags[a.start] & f.BE:
            raise UnreadableError("no_predicate_adjective")
        if (predicate := find_predicate(s, a.start)) is None:
            raise UnreadableError("wh_subject_boundary")
        return predicate
    verb = _find_asked_verb(s, a.start) if a.kind == "wh" else a.clause.verb
    word, tag, k = s.words[verb], s.tags[verb], verb + 1
    if word in _LINKING or tag & f.BE:
        return k
    while is_adverb(s, k) or s.tag(k) & f.NEG:
        k += 1
    if tag & (f.AUX | f.NEG) and s.word(k) in ("be", "been"):
        return k + 1
    if tag & f.CLITIC and word.endswith(("'s", "'re", "'m")):
        return verb + 1
    raise UnreadableError("no_predicate_adjective")


def _find_asked_verb(s: Sentence, wh: int) -> int:
    """Return the verb of a question about its subject: "Which planet is the hottest?"."""
    if s.words[wh].removesuffix("'s") not in _SUBJECT_QUESTIONS:
        raise UnreadableError("wh_subject_boundary")
    for i in range(wh, len(s.words)):
        if i > wh and s.tags[i] & (f.OPENER | f.BREAK):
            break
        if is_finite_aux(s, i):
            return i
    raise UnreadableError("no_predicate_adjective")
