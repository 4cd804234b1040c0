"""What a single cell may hold."""

from __future__ import annotations

from typing import Any

from contrapose.tasks.bounds import MOST_CHARACTERS
from contrapose.tasks.load.rows import Unfit, shown


def text(value: Any) -> str:
    """A text as it stands.

    Raises:
        Unfit: it is null, blank, no text, too long, or holds what cannot be stored or sent.
    """
    if value is None:
        raise Unfit("null", expected="a text")
    if not isinstance(value, str):
        raise Unfit(f"{shown(value)} is {_kind(value)}", expected="a text")
    if not value.strip():
        raise Unfit(f"{shown(value)} is blank", expected="a text")
    _refuse_unusable(value)
    return value


def label(value: Any) -> str:
    """A text, or a number as text: what ids, clusters and slices may be.

    Raises:
        Unfit: it is neither.
    """
    return text(str(value) if isinstance(value, bool | int | float) else value)


def optional_label(value: Any) -> str | None:
    """A label, or None for null.

    Raises:
        Unfit: it is something else.
    """
    return None if value is None else label(value)


def _refuse_unusable(value: str) -> None:
    if len(value) > MOST_CHARACTERS:
        raise Unfit(f"{len(value):,} characters", expected=f"at most {MOST_CHARACTERS:,} characters")
    if "\0" in value:
        raise Unfit(f"{_around(value, value.index(chr(0)))} holds a NUL byte", expected="a text without it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        found = f"{_around(value, error.start)} holds half a surrogate pair"
        raise Unfit(found, expected="complete characters") from error


def _around(value: str, place: int) -> str:
    """The part of a text where the trouble is."""
    return shown(value[max(0, place - 20) : place + 20])


def _kind(value: Any) -> str:
    names = {bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")
