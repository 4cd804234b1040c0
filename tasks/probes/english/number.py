"""Whether a noun phrase is singular or plural."""

from __future__ import annotations

from contrapose.tasks.probes.english import closed
from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.reading import Sentence
from contrapose.tasks.probes.english.words import words

_SINGULAR = words(
    "he she it this that each every everyone everybody someone somebody something everything one nothing anyone"
)
_CROWDS = words("number lot variety majority group range pair couple series rest plenty handful host")


def is_plural_phrase(s: Sentence, start: int, end: int) -> bool | None:
    """Whether the phrase, words `start` to `end` inclusive, takes a plural verb; None when it may take either."""
    if end < start:
        return None
    last = s.words[end]
    if last in closed.PLURAL_PRONOUNS and (end == start or s.tags[end] & f.SUBJ):
        return True
    first = s.tags[start]
    if first & (f.PREP | f.TO):
        return None if first & f.PREP else False
    if first & f.ING and not first & f.ADJ and end > start:
        return None if s.tag(start + 1) & f.PLURAL else False  # "Growing plants needs care.", "Growing plants need it."
    head, joined = _head(s, start, end)
    if joined and s.words[start] not in ("each", "every"):
        return True
    word, tag = s.words[head], s.tags[head]
    if word in _SINGULAR or s.words[start] in ("each", "every", "this", "that", "another", "either", "neither"):
        return False
    if word in _CROWDS and head != end:
        return None
    if s.words[start] in closed.PLURAL_PRONOUNS and s.words[start] not in ("i", "you", "we", "they"):
        return True
    if tag & f.NOUN in (0, f.NOUN):
        return None
    return bool(tag & f.PLURAL)


def _head(s: Sentence, start: int, end: int) -> tuple[int, bool]:
    """Index of the phrase's head, and whether "and" joins several."""
    joined = False
    for i in range(start, end + 1):
        tag = s.tags[i]
        joined = joined or s.words[i] == "and"
        if i > start and (tag & (f.PREP | f.TO | f.OPENER | f.LOOSE | f.BREAK) or _follows_noun(s, i)) and not joined:
            return i - 1, False
    return end, joined


def _follows_noun(s: Sentence, i: int) -> bool:
    """Whether a participle stands behind a noun: "plants grown in pots", "people living here"."""
    tag, before = s.tags[i], s.tags[i - 1]
    if before & f.CLOSED or not before & f.NOUN or not tag & (f.PART | f.ING):
        return False
    return not tag & f.NOUN or bool(tag & f.ING and s.tag(i + 1) & (f.PREP | f.DET | f.ADV))
