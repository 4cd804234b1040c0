"""Edits by character span: what is not edited stays byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """Replace `text[start:end]` by `new`; offsets count characters of the whole text."""

    start: int
    """First character replaced."""
    end: int
    """One past the last; equal to `start` for an insertion."""
    new: str
    """What stands there afterwards."""


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with non-overlapping edits made; every other character stays. What is put in stands before a word."""
    if len(edits) == 1:
        (edit,) = edits
        return text[: edit.start] + edit.new + text[edit.end :]
    for edit in sorted(edits, key=lambda each: each[:2], reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text
