"""Texts of unknown origin, made safe to store and to look at."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Controls, directional marks, and characters that take no room: a reader must not be shown less than is there.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)


def valid(text: str) -> str:
    """The text with every lone surrogate replaced, so that it can be encoded as UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def storable(text: str) -> str:
    """The text as a file may hold it: valid, and without control characters other than newline and tab."""
    return _CONTROL.sub("", valid(text))


def visible(text: str) -> str:
    r"""The text with nothing hidden in it: unseen characters become escapes such as ``\u202e``.

    Newlines and tabs stay; a Windows line end becomes a newline.
    """
    return _UNSEEN.sub(_escape, valid(text).replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text for a terminal: escape sequences dropped, unseen characters shown, blanks collapsed."""
    return " ".join(visible(_ANSI.sub("", text)).split())


def cut(text: str, limit: int) -> str:
    """The text, or its first `limit` characters up to a blank with a note on how many were left out."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    kept = head[: max(head.rfind(" "), head.rfind("\n"), 0)] or head
    return f"{kept} … ({len(text) - len(kept):,} more characters)"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
