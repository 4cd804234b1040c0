"""Which of several lettered options a reply chooses.

Letters and options' texts become marks first, so that every letter is read by the same rules. Only forms that can mean
nothing else count: a reply that is not read is asked about again, one that is read wrongly is never found out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies.clauses import DECLINES
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
from contrapose.tasks.language.replies.marks import CLASH, clean, closed_up, marked, plain
from contrapose.tasks.language.replies.spoken import Chosen, settled, unparsed, without_listing
from contrapose.tasks.language.replies.text import REPLIES, window

_EDGES = r"[\s()\[\]{}*_`\"'\u2018\u2019\u201c\u201d.,:;!?$#>]"
_LONE = expression(rf"{_EDGES}*([A-Za-z]){_EDGES}*")
_JOINED = expression(
    r"(?i)(?::|\bis|\bbe|^(?:the |my |final |correct )*(?:answer|choice|response))\s?\n(?=\(?[\ue000-\ue2fe])", re.M
)


def choose(reply: str, *, labels: Sequence[str], options: Sequence[str]) -> Chosen:
    """The option that a reply chooses by its letter or its text.

    Args:
        reply: as the model wrote it; the time is linear in its length, and of a long one only the ends are read.
        labels: single letters, one per option.
        options: their texts.
    """
    return _choose(without_listing(window(closed_up(reply)), labels, options), tuple(labels), tuple(options))


@lru_cache(maxsize=REPLIES)
def _choose(seen: str, labels: tuple[str, ...], options: tuple[str, ...]) -> Chosen:
    return settled(
        seen,
        lambda text: _read(text, labels, options),
        held=lambda verdict: _held(verdict, labels, options),
        count=len(options),
    )


_LABELLED = expression(r"(?i)(?:(?:option|choice|answer) )?[(\[]?([a-z])(?:[)\].:,]{1,2}(?:\s(.*))?|\s?[-\u2013\u2014]\s(.*))?", re.S)


def _held(verdict: str, labels: Sequence[str], options: Sequence[str]) -> int | None:
    """The place of the option that a verdict names by its letter or its text; None for none, or for two."""
    texts = [plain(option).casefold() for option in options]
    said = plain(verdict).casefold()
    by_text = texts.index(said) if texts.count(said) == 1 else None
    labelled = _LABELLED.fullmatch(verdict)
    if labelled is None:
        return by_text
    place = {label.upper(): at for at, label in enumerate(labels)}.get(labelled[1].upper(), len(options))
    behind = plain(labelled[2] or labelled[3] or "").casefold()
    return place if behind not in texts or texts.index(behind) == place else None


def _read(seen: str, labels: Sequence[str], options: Sequence[str]) -> Chosen:
    if lone := _LONE.fullmatch(seen):
        place = {label.upper(): place for place, label in enumerate(labels)}.get(lone[1].upper())
        if place is None:
            return unparsed("a letter that labels no option")
        return Chosen(index=place, step="letter", reason="the letter alone")
    text = _JOINED.sub(lambda match: match[0].replace("\n", " "), marked(clean(seen), labels, options))
    if CLASH in text:
        return unparsed("a letter with the text of another option")
    parts = [*sentences(text)]
    said = [[*stated(sentence, start, brief=len(parts) < 3)] for start, sentence in parts]
    statements = [statement for several in ([*headed(text, options)], *said) for statement in several]
    if not any(statement.plainness is Plainness.NAMED for statement in (said or [[]])[0]):
        statements = [statement for statement in statements if statement.plainness > Plainness.NAMED]
    return _decided([statement for statement in statements if fits(text, statement, options)], text, len(options))


def _decided(statements: Sequence[LabelledStatement], text: str, count: int) -> Chosen:
    """Let the plainest statements decide, if they agree and nothing is said against them."""
    if not statements:
        return unparsed("no choice found")
    top = max(statement.plainness for statement in statements)
    plainest = [statement for statement in statements if statement.plainness == top]
    last = max(plainest, key=lambda statement: statement.position)
    rivals = {
        statement.place
        for statement in statements
        if statement.plainness == top or top < Plainness.CONCLUDED or statement.position > last.position
    }
    if rivals != {last.place} or last.place in ruled_out(text) or wondered(text, last.position) - {last.place}:
        return unparsed("contradictory")
    if DECLINES.search(text, last.position):  # "B. cone. But it depends."
        return unparsed("refusal")
    if last.place >= count:
        return unparsed("a letter that labels no option")
    how = ("names the option", "states the choice", "concludes with the choice")[top]
    by_letter = any(statement.by_letter for statement in plainest)
    return Chosen(index=last.place, step="pattern" if by_letter else "restated", reason=how)
