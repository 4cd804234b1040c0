"""What LangTest would have said for the same replies of order_bias."""

from __future__ import annotations

import re
from typing import Literal

Letter = Literal["A", "B"]

_BEGINS = re.compile(r"\s*(A|B)(?![^\W\d_])")


def taken(reply: str, *, nearer: Letter | None = None) -> Letter | None:
    """The letter that LangTest takes a reply for; None where only embeddings would tell and none were computed.

    A reply is taken for the A or B that it is or begins with, whatever follows but another letter of the alphabet:
    its documents name regular expressions and print none. Any other reply is taken for the nearer sentence.

    Args:
        reply: what the model wrote.
        nearer: letter of the sentence whose embedding is nearer to the reply's.
    """
    begins = _BEGINS.match(reply)
    if begins is None:
        return nearer
    return "A" if begins[1] == "A" else "B"


def passes(first: Letter | None, second: Letter | None) -> bool | None:
    """Its table: A, then B. None unless both letters are known.

    A known wrong letter would be enough to fail, but a known right one is not enough to pass: cases with one letter
    would then count only where it is wrong.
    """
    return (first, second) == ("A", "B") if first and second else None
