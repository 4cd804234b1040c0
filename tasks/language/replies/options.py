"""Which of several lettered options a reply chooses.

Letters and options' texts become marks first, so that every letter is read by the same rules. Only forms that can mean
nothing else count: a reply that is not read is asked about again, one that is read wrongly is never found out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies.clauses import DECLINES
from contrapose.tasks.language.replies.decision import NEXT
from contrapose.tasks.language.replies.labelled import (
    LabelledStatement,
    Plainness,
    fits,
    headed,
    ruled_out,
    sentences,
    stated,
    wondered,
)
from contrapose.tasks.language.replies.marks import CLASH, clean, closed_up, marked
from contrapose.tasks.language.replies.text import REPLIES, window

Step = Literal["letter", "pattern", "restated", "unparsed"]

_EDGES = r"[\s()\[\]{}*_`\"'\u2018\u2019\u201c\u201d.,:;!?$#>]"
_LONE = expression(rf"{_EDGES}*([A-Za-z]){_EDGES}*")
_JOINED = expression(
    r"(?i)(?::|\bis|\bbe|^(?:the |my |final |correct )*(?:answer|choice|response))\s?\n(?=\(?[\ue000-\ue2fe])", re.M
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which option a reply chooses, and how that was told."""

    index: int | None
    """Position among the options; None for none, or for several."""
    step: Step
    """What decided: a letter alone, a statement with a letter, an option's text; or nothing."""
    reason: str
    """What decided, or why nothing did."""


def choose(reply: str, *, labels: Sequence[str], options: Sequence[str]) -> Chosen:
    """The option that a reply chooses by its letter or its text.

    Args:
        reply: as the model wrote it; the time is linear in its length, and of a long one only the ends are read.
        labels: single letters, one per option.
        options: their texts.
    """
    return _choose(window(closed_up(reply)), tuple(labels), tuple(options))


@lru_cache(maxsize=REPLIES)
def _choose(seen: str, labels: tuple[str, ...], options: tuple[str, ...]) -> Chosen:
    started = NEXT.search(seen)
    if started and (first := _read(seen[: started.start()], labels, options)).index is not None:
        return first
    return _read(seen, labels, options)


def _read(seen: str, labels: Sequence[str], options: Sequence[str]) -> Chosen:
    if lone := _LONE.fullmatch(seen):
        place = {label.upper(): place for place, label in enumerate(labels)}.get(lone[1].upper())
        if place is None:
            return _unparsed("a letter that labels no option")
        return Chosen(index=place, step="letter", reason="the letter alone")
    text = _JOINED.sub(lambda match: match[0].replace("\n", " "), marked(clean(seen), labels, options))
    if CLASH in text:
        return _unparsed("a letter with the text of another option")
    parts = [*sentences(text)]
    said = [[*stated(sentence, start, brief=len(parts) < 3)] for start, sentence in parts]
    statements = [statement for several in ([*headed(text, options)], *said) for statement in several]
    if not any(statement.plainness is Plainness.NAMED for statement in (said or [[]])[0]):
        statements = [statement for statement in statements if statement.plainness > Plainness.NAMED]
    return _decided([statement for statement in statements if fits(text, statement, options)], text, len(options))


def _decided(statements: Sequence[LabelledStatement], text: str, count: int) -> Chosen:
    """Let the plainest statements decide, if they agree and nothing is said against them."""
    if not statements:
        return _unparsed("no choice found")
    top = max(statement.plainness for statement in statements)
    plainest = [statement for statement in statements if statement.plainness == top]
    last = max(plainest, key=lambda statement: statement.position)
    rivals = {
        statement.place
        for statement in statements
        if statement.plainness == top or top < Plainness.CONCLUDED or statement.position > last.position
    }
    if rivals != {last.place} or last.place in ruled_out(text) or wondered(text, last.position) - {last.place}:
        return _unparsed("contradictory")
    if DECLINES.search(text, last.position):  # "B. cone. But it depends."
        return _unparsed("refusal")
    if last.place >= count:
        return _unparsed("a letter that labels no option")
    how = ("names the option", "states the choice", "concludes with the choice")[top]
    by_letter = any(statement.by_letter for statement in plainest)
    return Chosen(index=last.place, step="pattern" if by_letter else "restated", reason=how)


def _unparsed(reason: str) -> Chosen:
    return Chosen(index=None, step="unparsed", reason=reason)
