"""A sentence as words with their places in the text, and edits that change only some characters of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


# A frozen record takes three times as long to build, and a named tuple four times as long to read.
@dataclass(slots=True)
class Sentence:
    """The last sentence of a text; each quoted passage is one word, and text in brackets is left out."""

    text: str
    """The whole text; offsets below count its characters."""
    words: list[str]
    """Lower case, straight apostrophes."""
    starts: list[int]
    """Offset of each word's first character."""
    ends: list[int]
    """Offset one past each word's last character."""
    tags: list[int]
    """Flags of each word (`flags.py`)."""
    union: int
    asks: bool
    """Whether it ends in a question mark."""
    closed: bool
    """Whether it ends in a full stop, question mark or exclamation mark."""

    def word(self, index: int) -> str:
        """Return the word at an index, or "" outside the sentence."""
        return self.words[index] if 0 <= index < len(self.words) else ""

    def tag(self, index: int) -> int:
        """Return the flags at an index, or 0 outside the sentence."""
        return self.tags[index] if 0 <= index < len(self.tags) else 0

    def source(self, index: int) -> str:
        """Return the word as the text spells it."""
        return self.text[self.starts[index] : self.ends[index]]

    def cased(self, new: str) -> str:
        """Return new words, in capitals if the complete text is in capitals."""
        return new.upper() if self.text.isupper() else new

    def cased_as(self, index: int, new: str) -> str:
        """Return new words with the capitals of the word that they replace."""
        old = self.source(index)
        if self.text.isupper() or (old.isupper() and len(old) > 1):
            return new.upper()
        return new.capitalize() if old[0].isupper() else new


class UnreadableError(Exception):
    """A text cannot be split into words; `reason` says why."""

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


class Edit(NamedTuple):
    """Replace `text[start:end]` by `new`; offsets count characters of the whole text."""

    start: int
    end: int
    """One past the last; equal to `start` for an insertion."""
    new: str


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with non-overlapping edits applied; all other characters stay."""
    for edit in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text
