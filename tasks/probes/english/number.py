"""Whether a noun phrase is singular or plural."""

from __future__ import annotations

from contrapose.tasks.probes.english import closed
from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.words import words

_SINGULAR = words(
    "he she it this that each every everyone everybody someone somebody something everything one nothing anyone"
)
_EACH = words("each every")
_SINGULAR_FIRST = words("each every this that another either neither")
_PLURAL_FIRST = closed.PLURAL_PRONOUNS - words("i you we they")
_ENDS_PHRASE = f.PREP | f.TO | f.OPENER | f.LOOSE | f.BREAK
_TO_PHRASE = f.PREP | f.TO
_PARTICIPLE = f.PART | f.ING
_CROWDS = words("number lot variety majority group range pair couple series rest plenty handful host")


def is_plural_phrase(s: Sentence, start: int, end: int) -> bool | None:
    """Whether the phrase, words `start` to `end` inclusive, takes a plural verb; None when it may take either."""
    if end < start:
        return None
    last = s.words[end]
    if last in closed.PLURAL_PRONOUNS and s.tags[end] & f.SUBJ:
        return True
    first, opener = s.tags[start], s.words[start]
    if first & _TO_PHRASE:
        return None if first & f.PREP else False
    if first & f.ING and not first & f.ADJ and end > start:
        return None if s.tag(start + 1) & f.PLURAL else False  # "Growing plants needs care.", "Growing plants need it."
    if first & f.WH:
        return False  # "What she said hurts."
    head, joined = _head(s, start, end)
    if joined and opener not in _EACH:
        return True
    if s.words[head] in _SINGULAR or opener in _SINGULAR_FIRST:
        return False
    if head != end and s.words[head] in _CROWDS:
        return None
    if opener in _PLURAL_FIRST:
        return True
    number = s.tags[head] & f.NOUN
    return None if number in (0, f.NOUN) else number == f.PLURAL


def _head(s: Sentence, start: int, end: int) -> tuple[int, bool]:
    """Index of the phrase's head, and whether "and" joins several."""
    for i in range(start, end + 1):
        tag = s.tags[i]
        if s.words[i] == "and":
            return end, True
        if i > start and (tag & _ENDS_PHRASE or (tag & _PARTICIPLE and _follows_noun(s, i))):
            return i - 1, False
    return end, False


def _follows_noun(s: Sentence, i: int) -> bool:
    """Whether a participle stands behind a noun: "plants grown in pots", "people living here"."""
    tag, before = s.tags[i], s.tags[i - 1]
    if before & f.CLOSED or not before & f.NOUN:
        return False
    return not tag & f.NOUN or bool(tag & f.ING and s.tag(i + 1) & (f.PREP | f.DET | f.ADV))
