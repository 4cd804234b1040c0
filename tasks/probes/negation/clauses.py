"""Finds where the main clause starts, and its one finite verb."""

from __future__ import annotations

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.lexical import is_finite_aux, reading
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import SkipError
from contrapose.tasks.probes.negation.words import words

_FILLERS = words("and but so then however therefore thus hence instead indeed please")


def main_start(s: Sentence) -> int:
    """Index of the main clause's first word, after a label, a filler or a fronted clause.

    Raises:
        SkipError: the end of a fronted clause cannot be told.
    """
    i = _after_fillers(s, _after_label(s))
    tag, word = s.tag(i), s.word(i)
    if tag & (t.SUB | t.LOOSE) or (tag & t.WH and word in ("when", "where") and not is_finite_aux(s, i + 1)):
        if word in ("like", "than") or (word == "once" and s.tag(i + 1) & t.BREAK):
            return i
        if word == "when" and is_finite_aux(s, i + 1) and s.asks:
            return i
        return _after_fillers(s, _after_fronted(s, i))
    if tag & (t.PREP | t.TO):
        return _after_phrase(s, i)
    return i


def _after_label(s: Sentence) -> int:
    for i in range(min(7, len(s.words))):
        if s.words[i] == ":" and i + 1 < len(s.words):
            return i + 1
        if s.tags[i] & t.AUX and s.word(i) != "do":
            return 0
    return 0


def _after_fillers(s: Sentence, i: int) -> int:
    while s.word(i) in _FILLERS or (i > 0 and s.word(i) == ","):
        i += 1
    if s.word(i) == "," and i == 0:
        i += 1
    return i


def _after_fronted(s: Sentence, start: int) -> int:
    commas = [i for i in range(start + 1, len(s.words) - 1) if s.words[i] == "," and _may_start_clause(s, i + 1)]
    if len(commas) == 1 and not _only_commas(s, start, commas[0]):
        return commas[0] + 1
    for i in commas:
        if has_verb(s, start + 1, i) and (s.tag(i + 1) & t.NP_START or s.word(i + 1) == "then"):
            return i + 1
    raise SkipError("subordinate_boundary")


def _only_commas(s: Sentence, start: int, comma: int) -> bool:
    """Whether the one candidate is doubtful: the words before it are a list."""
    return s.words[start + 1 : comma].count(",") > 1


def _may_start_clause(s: Sentence, i: int) -> bool:
    tag, word = s.tag(i), s.word(i)
    if tag & t.WH:
        return s.asks
    return not tag & t.COORD and word not in ("such", "including", "like", "especially", "that")


def _after_phrase(s: Sentence, start: int) -> int:
    for i in range(start + 1, len(s.words) - 1):
        if s.tags[i] & t.AUX and not s.tag(i - 1) & t.TO:
            return start
        if s.words[i] == ",":
            return i + 1
    return start


def has_verb(s: Sentence, start: int, end: int) -> bool:
    """Whether words `start` to `end`, exclusive, hold a finite verb."""
    return any(is_finite_aux(s, i) or reading(s, i, start) == "yes" for i in range(start, end))
