"""Which of two answers is preferred, in the ways in which people store it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from contrapose.tasks.load.cells import is_missing, structured
from contrapose.tasks.load.rows import Unfit, shown

KIND = r"(?:model|response|output|answer|assistant|option|summary|candidate|completion)?[_ ]?"
FIRST = re.compile(rf"\[*(?:{KIND}(?:a|1)|first|left|a\s*>+\s*b)\]*")
SECOND = re.compile(rf"\[*(?:{KIND}(?:b|2)|second|right|b\s*>+\s*a|a\s*<+\s*b)\]*")
TIE = re.compile(r"\[*(?:tie\b.*|both.*|neither.*|none|equal.*|draw|same|c|0|a\s*=+\s*b)\]*")
MIDDLE = 1.5
"""Between 1 for the first and 2 for the second answer."""


def preferred(value: Any) -> int | None:
    """1 or 2 for the answer that is preferred; None for a tie. Of several judgements the majority counts.

    Raises:
        Unfit: it says neither.
    """
    value = structured(value)
    if isinstance(value, list | tuple):
        votes = Counter(preferred(vote) for vote in value if not is_missing(vote)).most_common()
        if not votes:
            raise Unfit("nothing says which answer is better", expected="A, B or tie")
        tied = len(votes) > 1 and votes[0][1] == votes[1][1]
        return None if tied else votes[0][0]
    number = _number(value)
    if number is not None and (1 <= number <= 2 or number == 0):
        return None if number in (0, MIDDLE) else 1 if number < MIDDLE else 2
    said = str(value).strip().lower()
    for result, form in ((1, FIRST), (2, SECOND), (None, TIE)):
        if form.fullmatch(said):
            return result
    raise Unfit(f"{shown(value)} does not say which answer is better", expected="A, B or tie, or 1, 2 or 0")


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
