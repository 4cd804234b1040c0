"""Show two texts as one in a terminal, with removed and added words in their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from rich.text import Text

from contrapose.tasks.text.diff import find_word_changes

CONTEXT = 120
"""Characters of unchanged text shown on each side of a change."""

Kind = Literal["kept", "removed", "added"]

STYLES: dict[Kind, str] = {"kept": "", "removed": "strike red", "added": "bold green"}
BRACKETS: dict[Kind, tuple[str, str]] = {"kept": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}


class Piece(NamedTuple):
    """A removed, added or unchanged part of two texts."""

    kind: Kind
    text: str


def format_inline(original: str, changed: str, *, brackets: bool, whole: bool = False) -> Text:
    """Return two texts, safe to display, as one with their differences, without unchanged text far from any change.

    `brackets`: mark `[-removed-]{+added+}`, for readers without colours; `whole`: leave nothing out.
    """
    text, pieces, place = Text(), list[Piece](), 0
    for edit in find_word_changes(original, changed):
        pieces.append(Piece("kept", original[place : edit.start]))
        pieces += [*_trim_piece("removed", original[edit.start : edit.end]), *_trim_piece("added", edit.new)]
        place = edit.end
    pieces.append(Piece("kept", original[place:]))
    pieces = [piece for piece in pieces if piece.text]
    for index, (kind, part) in enumerate(pieces):
        if whole:
            pass
        elif kind == "kept":
            # Before the first change only the end matters, after the last one only the beginning.
            head = 0 if index == 0 and len(pieces) > 1 else CONTEXT
            part = elide_middle(part, head=head, tail=0 if index == len(pieces) - 1 else CONTEXT)
        else:
            # A line break that came or went would not be seen.
            part = elide_middle(part, head=2 * CONTEXT, tail=2 * CONTEXT).replace("\n", "\\n\n")
        before, after = BRACKETS[kind] if brackets else ("", "")
        text.append(f"{before}{part}{after}", style=None if brackets else STYLES[kind])
    return text


def elide_middle(text: str, *, head: int, tail: int) -> str:
    """Return the beginning and the end of a text, and the number of characters left out between them."""
    # The note itself takes room: leaving out less would save none.
    if len(text) <= head + tail + 40:
        return text
    first = text[:head].rpartition(" ")[0] or text[:head]
    last = text[len(text) - tail :]
    last = last.partition(" ")[2] or last
    note = f"[... {len(text) - len(first) - len(last):,} characters ...]"
    return " ".join(part for part in (first, note, last) if part)


def _trim_piece(kind: Kind, text: str) -> Iterator[Piece]:
    """Yield a piece and its outer blanks separately, so that no line breaks between a word and its mark."""
    word = text.strip(" ") or text
    start = text.index(word)
    yield from (Piece("kept", text[:start]), Piece(kind, word), Piece("kept", text[start + len(word) :]))
