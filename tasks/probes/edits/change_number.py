"""Another number in the last sentence: "A spider has 8 legs." becomes "A spider has 11 legs."."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any, ClassVar

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.reading import UnreadableError, read
from contrapose.tasks.language.sentence import Edit, apply
from contrapose.tasks.probes.edits.base import NEEDS_SENTENCE, Edited, TextEdit
from contrapose.tasks.probes.edits.numerals import (
    SPELLED,
    Amount,
    NumberPart,
    amount,
    changeable_number,
    is_dating,
    number_parts,
    other_amount,
)

_ROUGH = words("about approximately around roughly nearly almost over under least most than some the these those")
_JOINTS = words("to and of out in or through until than from")
_PERCENT = words("percent per percentage")
_REACH = 4
_SPELLED = frozenset(SPELLED)


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
        """Return the text with the last number changed that can be, by a seeded amount."""
        try:
            s = read(text)
        except UnreadableError as error:
            return Edited(reason="no_number" if error.reason == "no_word" else error.reason)
        if not any(tag & f.NUMBER for tag in s.tags) and _SPELLED.isdisjoint(s.words):
            return Edited(reason="no_number")
        parts = number_parts(s)
        for i in reversed(range(len(parts))):
            part, before = parts[i], parts[i - 1].word if i else ""
            if (number := changeable_number(parts, i, s)) is None:
                continue
            low, high = _limits(parts, i, number)
            an = before == "an" if before in ("a", "an") else None
            new = other_amount(number, low, high, year=is_dating(parts, i, number), an=an, rng=rng)
            if not new:
                continue
            # A number word takes the case of the one that it replaces.
            new = new.upper() if s.text.isupper() else new.capitalize() if part.core[0].isupper() else new
            # Another number in a statement that may be false already need not make it true.
            doubtful = before in _ROUGH or s.text.lower().lstrip().startswith("true or false")
            edit = Edit(part.start, part.start + len(part.core), new)
            return Edited(text=apply(s.text, [edit]), confidence="medium" if doubtful else "high")
        return Edited(reason="number_left_alone")


def _limits(parts: list[NumberPart], i: int, number: Amount) -> tuple[float, float]:
    """Return the open interval that keeps a share a share, and "from 5 to 10" in order."""
    low, high = 0.0, math.inf
    behind = parts[i + 1] if i + 1 < len(parts) else None
    separate_sign = behind is not None and not behind.core and behind.marks.startswith("%")
    is_percent = parts[i].marks.startswith("%") or separate_sign or (behind is not None and behind.word in _PERCENT)
    if is_percent and number.value <= 100:
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
