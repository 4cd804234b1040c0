"""Finds where the main clause or the question starts, behind labels, fillers and fronted phrases."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import is_finite_aux
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.words import words

_FILLERS = words(
    """
    and but so then however therefore thus hence instead indeed please yes well ok okay oh actually now or
    , - \u2013 — …
    """
)
_FILLERS_BEFORE_AUX = words("well now instead actually")
_LABEL_LENGTH = 7
_PIED = f.PREP | f.TO
_FRONTED = f.SUB | f.LOOSE | f.PREP | f.TO | f.ADV | f.ING | f.PART | f.WH
_FRONTED_PHRASE = _FRONTED & ~f.WH


def opening(s: Sentence) -> int:
    """Index of the first word behind a label ("Question:") and fillers ("However,")."""
    i = _after_label(s)
    while i < len(s.words) and s.words[i] in _FILLERS and not _belongs(s, i):
        i += 1
    return i


def _belongs(s: Sentence, i: int) -> bool:
    """Whether a filler is part of the clause."""
    if s.words[i] in _FILLERS_BEFORE_AUX and is_finite_aux(s, i + 1):
        return True
    if s.word(i + 1) == "that":
        return True  # "Now that it rains, …"
    after = s.tag(i + 1)
    return s.words[i] == "so" and bool(after & (f.ADJ | f.ADV)) and not after & f.NP_START  # "So cold was the water …"


def question_start(s: Sentence, start: int) -> int | None:
    """Index of the question word or inverted auxiliary; None when the sentence holds no question of its own."""
    if _asks_at(s, start):
        return start
    if not s.tags[start] & _FRONTED and not _names_somebody(s, start):
        return None
    found = _after_comma(s, start)
    return _after_fronted(s, start) if found is None and s.asks else found


def _after_comma(s: Sentence, start: int) -> int | None:
    """A question word or auxiliary behind a fronted clause that a comma ends; None when there is none."""
    commas = (i + 1 + (s.word(i + 1) == "then") for i in range(start, len(s.words) - 1) if s.words[i] == ",")
    return next((i for i in commas if _asks_at(s, i)), None)


def _after_fronted(s: Sentence, start: int) -> int | None:
    """A question word and its auxiliary behind a fronted clause without a comma; None when there is none."""
    for i in range(start, len(s.words) - 1):
        if s.tags[i] & f.WH and is_finite_aux(s, i + 1) and not s.tags[i - 1] & f.PREP:
            return i
    return None


def subject_start(s: Sentence, start: int, verb: int) -> int:
    """Index of the subject's first word, behind a fronted phrase or clause that a comma ends."""
    if not s.tags[start] & _FRONTED_PHRASE:
        return start
    if s.tags[start] & f.ING and not s.tag(start + 1) & f.CLOSED:
        return start
    commas = [i for i in range(start, verb - 1) if s.words[i] == ","]
    return next((i + 1 for i in reversed(commas) if s.tags[i + 1] & (f.NP_START | f.NOUN | f.NAME | f.ADJ)), start)


def _after_label(s: Sentence) -> int:
    for i, word in enumerate(s.words[:_LABEL_LENGTH]):
        if word == ":" and i + 1 < len(s.words):
            return i + 1
        if s.tags[i] & f.AUX and word != "do":
            return 0
    return 0


def _asks_at(s: Sentence, i: int) -> bool:
    """Whether a question word or an inverted auxiliary stands here."""
    tag = s.tag(i)
    if tag & f.WH or (tag & _PIED and s.tag(i + 1) & f.WH):
        return True
    return not tag & f.CLITIC and is_finite_aux(s, i)


def _names_somebody(s: Sentence, start: int) -> bool:
    """Whether a single word is addressed: "Anna, is it late?"."""
    return s.word(start + 1) == ","
