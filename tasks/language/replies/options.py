"""Which of several lettered options a reply chooses.

Letters and options' texts become marks first, so that every letter is read by the same rules. Only forms that can mean
nothing else count: a reply that is not read is asked about again, one that is read wrongly is never found out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies.clauses import BOTH_RIGHT, DECLINES, OF_ANOTHER
from contrapose.tasks.language.replies.endings import last_letter, only_option
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
from contrapose.tasks.language.replies.marks import CLASH, MARK, clean, closed_up, marked, place_of, plain
from contrapose.tasks.language.replies.spoken import ONLY_NAMED, Chosen, settled, unparsed, without_listing
from contrapose.tasks.language.replies.text import REPLIES, window

_EDGES = r"[\s()\[\]{}*_`\"'\u2018\u2019\u201c\u201d.,:;!?$#>]"
_LONE = expression(rf"{_EDGES}*([A-Za-z]){_EDGES}*")
_JOINED = expression(
    r"(?i)(?::|\bis|\bbe|^(?:the |my |final |correct )*(?:answer|choice|response))\s?\n(?=\(?[\ue000-\ue2fe])", re.M
)


NOTHING, CONCLUDES = "no choice found", "concludes with the choice"
CONTRADICTORY = -1
"""In place of an option where a sentence chooses several."""
_LINES = expression(rf"(?m)^[^\w\n\ue000-\ue2ff]{{0,4}}({MARK})[^\w\n\ue000-\ue2ff]{{0,4}}$")
"""Letters that are alone in a line."""
_SIGNED = expression(
    rf"(?m)^(?:(?i:option) )?\(?({MARK})[).:]{{0,2}}[^\n\ue000-\ue2ff]{{0,40}}\(correct\)\W*$"
    rf"|^\(correct\) (?:(?i:option) )?\(?({MARK})"
)
"""The option in whose line a sign says that it is right."""
_DENIED_SIGN = expression(rf"(?m)^\(incorrect\)[^\n]*{MARK}[^\n]*\(correct\)")


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


_LABELLED = expression(
    r"(?i)(?:(?:option|choice|answer) )?[(\[]?([a-z])(?:[)\].:]{1,2}(?:\s(.*))?|\s?[-\u2013\u2014]\s(.*))?", re.S
)


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
    others = [text for at, text in enumerate(texts) if at != place and text and text in behind]
    return place if not others or (place < len(texts) and texts[place] in behind) else None


def _read(seen: str, labels: Sequence[str], options: Sequence[str]) -> Chosen:
    if lone := _LONE.fullmatch(seen):
        place = {label.upper(): place for place, label in enumerate(labels)}.get(lone[1].upper())
        if place is None:
            return unparsed("a letter that labels no option")
        return Chosen(index=place, step="letter", reason="the letter alone")
    text = marked(clean(seen), labels, options)
    if CLASH in text:
        return unparsed("a letter with the text of another option")
    if len({place_of(mark) for mark in _LINES.findall(text)}) > 1:
        return unparsed("contradictory")
    signed = {place_of(sign[1] or sign[2]) for sign in _SIGNED.finditer(text)}
    if len(signed) == 1 and not _DENIED_SIGN.search(text) and min(signed) < len(options):
        return Chosen(index=min(signed), step="pattern", reason="the only one that is marked as right")
    text = _JOINED.sub(lambda match: match[0].replace("\n", " "), text)
    parts = [*sentences(text)]
    said = [[*stated(sentence, start, brief=len(parts) < 3)] for start, sentence in parts]
    statements = [statement for several in ([*headed(text, options)], *said) for statement in several]
    if not any(statement.plainness is Plainness.NAMED for statement in (said or [[]])[0]):
        statements = [statement for statement in statements if statement.plainness > Plainness.NAMED]
    chosen = _decided([statement for statement in statements if fits(text, statement, options)], text, len(options))
    if chosen.reason == NOTHING:
        return _ending(text, options) or chosen
    last = last_letter(text) if chosen.index is not None and chosen.reason != CONCLUDES else None
    return chosen if last in (None, chosen.index) else unparsed("contradictory")


def _ending(text: str, options: Sequence[str]) -> Chosen | None:
    """What the end of a reply chooses that states no choice more plainly."""
    if DECLINES.search(text):
        return None
    place = last_letter(text)
    if place is not None and place < len(options) and place not in ruled_out(text):
        return Chosen(index=place, step="pattern", reason="the letter at its end")
    place = only_option(text, options)
    return None if place is None else Chosen(index=place, step="restated", reason=ONLY_NAMED)


def last_choice(seen: str, labels: Sequence[str]) -> int | None:
    """The letter that the last sentence about any of them chooses, by its place among the labels."""
    text = marked(clean(seen), labels, [""] * len(labels))
    last = next(((start, said) for start, said in reversed([*sentences(text)]) if re.search(MARK, said)), None)
    if last is None:
        return None
    chosen = _decided([*headed("", []), *stated(last[1], last[0], brief=False)], text[last[0] :], len(labels))
    if chosen.reason == NOTHING:
        return last_letter(text)
    return CONTRADICTORY if chosen.reason == "contradictory" else chosen.index


def _is_of_another(clash: re.Match[str]) -> bool:
    return place_of(clash["text"]) != place_of(clash["mark"])


def _decided(statements: Sequence[LabelledStatement], text: str, count: int) -> Chosen:
    """Let the plainest statements decide, if they agree and nothing is said against them."""
    if not statements:
        return unparsed(NOTHING)
    top = max(statement.plainness for statement in statements)
    plainest = [statement for statement in statements if statement.plainness == top]
    last = max(plainest, key=lambda statement: statement.position)
    rivals = {
        statement.place
        for statement in statements
        if statement.plainness >= Plainness.STATED or top < Plainness.CONCLUDED or statement.position > last.position
    }
    if rivals != {last.place} or last.place in ruled_out(text) or wondered(text, last.position) - {last.place}:
        return unparsed("contradictory")
    if BOTH_RIGHT.search(text, last.position) or any(_is_of_another(clash) for clash in OF_ANOTHER.finditer(text)):
        return unparsed("contradictory")
    if DECLINES.search(text, last.position):  # "B. cone. But it depends."
        return unparsed("refusal")
    if last.place >= count:
        return unparsed("a letter that labels no option")
    how = ("names the option", "states the choice", CONCLUDES)[top]
    by_letter = any(statement.by_letter for statement in plainest)
    return Chosen(index=last.place, step="pattern" if by_letter else "restated", reason=how)
