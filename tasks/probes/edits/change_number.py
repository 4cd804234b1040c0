"""Another number in the last sentence: "A spider has 8 legs." becomes "A spider has 11 legs."."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any, ClassVar

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.reading import Sentence, UnreadableError, read
from contrapose.tasks.language.sentence import Edit, apply
from contrapose.tasks.probes.edits.base import NEEDS_SENTENCE, Edited, TextEdit
from contrapose.tasks.probes.edits.numerals import (
    SPELLED,
    Amount,
    NumberPart,
    amount,
    changeable,
    chunks,
    dates,
    other_amount,
)

_ROUGH = words("about approximately around roughly nearly almost over under least most than some the these those")
_JOINTS = words("to and of out in or through until than from")
_PERCENT = words("percent per percentage")
_REACH = 4


class ChangeNumber(TextEdit):
    """Changes the last number of the last sentence."""

    name: ClassVar[str] = "change_number"
    version: ClassVar[str] = "6"
    summary: ClassVar[str] = "Changes a number of the text; the answer should change."
    edits_english: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {
        **NEEDS_SENTENCE,
        "no_number": "without a number in the last sentence",
        "number_left_alone": "without a number that can be changed safely",
    }

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """The text with one number changed by a seeded amount."""
        try:
            sentence = read(text)
        except UnreadableError as error:
            return Edited(reason="no_number" if error.reason == "no_word" else error.reason)
        if not any(tag & f.NUMBER for tag in sentence.tags) and _WORDS.isdisjoint(sentence.words):
            return Edited(reason="no_number")
        return _changed(sentence, rng)


_WORDS = frozenset(SPELLED)
_JUDGED = "true or false"


def _changed(s: Sentence, rng: random.Random) -> Edited:
    """The text with the last number changed that can be."""
    parts = chunks(s)
    for i in reversed(range(len(parts))):
        number = changeable(parts, i, s)
        new = _replacement(parts, i, number, rng) if number else ""
        if new:
            edit = Edit(parts[i].start, parts[i].start + len(parts[i].core), _cased(s, parts[i], new))
            rough = i > 0 and parts[i - 1].word in _ROUGH
            # Another number in a statement that may be false already need not make it true.
            doubtful = rough or s.text.lower().lstrip().startswith(_JUDGED)
            return Edited(text=apply(s.text, [edit]), confidence="medium" if doubtful else "high")
    return Edited(reason="number_left_alone")


def _replacement(parts: list[NumberPart], i: int, number: Amount, rng: random.Random) -> str:
    """Another number for chunk `i`, or "" when none fits what stands around it."""
    before = parts[i - 1].word if i else ""
    low, high = _between(parts, i, number)
    an = before == "an" if before in ("a", "an") else None
    return other_amount(number, low, high, year=dates(parts, i, number), an=an, rng=rng)


def _between(parts: list[NumberPart], i: int, number: Amount) -> tuple[float, float]:
    """The open interval that keeps a share a share, and "from 5 to 10" in order."""
    low, high = 0.0, math.inf
    behind = parts[i + 1].word if i + 1 < len(parts) else ""
    if (parts[i].marks.startswith("%") or behind in _PERCENT or _is_percent_sign(parts, i)) and number.value <= 100:
        high = 100.0
    elif number.decimals and number.value < 1:
        high = 1.0
    if i and parts[i - 1].word in _JOINTS:
        near = (amount(part.core) for part in reversed(parts[max(0, i - _REACH) : i]))
        other = next((nearby.value for nearby in near if nearby), None)
        if other is not None and other < number.value:
            low = other
        elif other is not None and other > number.value:
            high = min(high, other)
    return low, high


def _is_percent_sign(parts: list[NumberPart], i: int) -> bool:
    """Whether a "%" stands apart from its number: "100 %"."""
    return i + 1 < len(parts) and not parts[i + 1].core and parts[i + 1].marks.startswith("%")


def _cased(s: Sentence, chunk: NumberPart, new: str) -> str:
    """A number word in the case of the one that it replaces."""
    return new.upper() if s.text.isupper() else new.capitalize() if chunk.core[0].isupper() else new
