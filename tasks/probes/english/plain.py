"""Reads a text that is one sentence of words and commas, as most are: one look-up for each piece between spaces.

It gives what `reading` gives in a third of the time, and leaves every other text to it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.sentence import Sentence
from contrapose.tasks.probes.english.tokens import MOST_SEEN, token

_ODD = 1 << 60
"""Flags a piece that must be read with what stands around it."""
_PLAIN = re.compile(r"[^\W_]\w*(?:[-'\u2019]\w+)*|[,\u2013—-]")
_LONGEST_KEPT = 40


class _Piece(NamedTuple):
    word: str
    tag: int  # flags inside a sentence, where a capital makes a name
    width: int
    step: int  # the width, and that of the space before; a comma has none


class _Pieces(dict[str, _Piece]):
    """Every piece met so far."""

    def __missing__(self, spelled: str) -> _Piece:
        if len(self) >= MOST_SEEN:
            self.clear()
        piece = _piece(spelled)
        if piece.width <= _LONGEST_KEPT:
            self[spelled] = piece
        return piece


@cache
def _pieces() -> _Pieces:
    return _Pieces()


def _piece(spelled: str) -> _Piece:
    width = len(spelled)
    if not _PLAIN.fullmatch(spelled):
        return _Piece(spelled, _ODD, width, width)
    word, tag, name, _ = token(spelled)
    return _Piece(word, name or tag, width, width + (spelled != ","))


def read_plain(text: str, begin: int, end: int) -> Sentence | None:
    """The sentence between two offsets; None when it holds other marks, or is all in capitals."""
    trimmed = text[begin:end]
    bare = trimmed.rstrip(".?!")
    if "." in bare:
        return None
    spelled = bare.replace(",", " ,").split(" ")
    spelled[0] = spelled[0].lower()  # no name there
    words, starts, ends, tags = [], [], [], []
    at, union = begin - 1, 0
    for word, tag, width, step in map(_pieces().__getitem__, spelled):
        at += step
        union |= tag
        words.append(word)
        starts.append(at - width)
        ends.append(at)
        tags.append(tag)
    if union & _ODD or union == f.BREAK or text.isupper():
        return None  # no word at all, or capitals that make no names
    return Sentence(text, words, starts, ends, tags, union, trimmed.endswith("?"), len(bare) < len(trimmed))
