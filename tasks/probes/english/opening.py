"""Finds where the main clause or the question starts, behind labels, fillers and fronted phrases."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import is_finite_aux
from contrapose.tasks.probes.english.reading import Sentence
from contrapose.tasks.probes.english.words import words

_FILLERS = words(
    "and but so then however therefore thus hence instead indeed please yes well ok okay oh actually now or"
)
_LABEL_LENGTH = 7
_FRONTED = f.SUB | f.LOOSE | f.PREP | f.TO | f.ADV | f.ING | f.PART | f.WH


def opening(s: Sentence) -> int:
    """Index of the first word behind a label ("Question:") and fillers ("However,")."""
    i = _after_label(s)
    while s.word(i) in _FILLERS or s.word(i) in (",", "-", "\u2013", "—", "…"):
        if s.word(i) in ("well", "now", "instead", "actually") and is_finite_aux(s, i + 1):
            break
        if s.word(i + 1) == "that":
            break  # "Now that it rains, …"
        if s.word(i) == "so" and s.tag(i + 1) & (f.ADJ | f.ADV) and not s.tag(i + 1) & f.NP_START:
            break  # "So cold was the water …"
        i += 1
    return i


def question_start(s: Sentence, start: int) -> int:
    """Index of the question word or inverted auxiliary; -1 when the sentence holds no question of its own."""
    if _asks_at(s, start):
        return start
    if not s.tag(start) & _FRONTED and not _names_somebody(s, start):
        return -1
    commas = (i + 1 + (s.word(i + 1) == "then") for i in range(start + 1, len(s.words) - 1) if s.words[i] == ",")
    found = next((i for i in commas if _asks_at(s, i)), -1)
    return found if found >= 0 or not s.asks else _after_fronted(s, start)


def _after_fronted(s: Sentence, start: int) -> int:
    """A question word and its auxiliary behind a fronted clause without a comma; -1 when there is none."""
    for i in range(start + 1, len(s.words) - 1):
        if s.tags[i] & f.WH and not s.tags[i] & f.AUX and is_finite_aux(s, i + 1) and not s.tags[i - 1] & f.PREP:
            return i
    return -1


def subject_start(s: Sentence, start: int, verb: int) -> int:
    """Index of the subject's first word, behind a fronted phrase or clause that a comma ends."""
    if not s.tag(start) & (_FRONTED & ~f.WH) or (s.tag(start) & f.ING and not s.tag(start + 1) & f.CLOSED):
        return start
    commas = [i for i in range(start + 1, verb - 1) if s.words[i] == ","]
    return next((i + 1 for i in reversed(commas) if s.tags[i + 1] & (f.NP_START | f.NOUN | f.NAME | f.ADJ)), start)


def _after_label(s: Sentence) -> int:
    if ":" not in s.words[:_LABEL_LENGTH]:
        return 0
    for i in range(min(_LABEL_LENGTH, len(s.words))):
        if s.words[i] == ":" and i + 1 < len(s.words):
            return i + 1
        if s.tags[i] & f.AUX and s.words[i] != "do":
            return 0
    return 0


def _asks_at(s: Sentence, i: int) -> bool:
    """Whether a question word or an inverted auxiliary stands here."""
    tag = s.tag(i)
    if tag & f.WH or (tag & (f.PREP | f.TO) and s.tag(i + 1) & f.WH):
        return True
    return bool(tag & f.AUX) and not tag & f.CLITIC and is_finite_aux(s, i)


def _names_somebody(s: Sentence, start: int) -> bool:
    """Whether a single word is addressed: "Anna, is it late?"."""
    return s.word(start + 1) == ","
