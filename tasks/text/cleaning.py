"""Clean texts of unknown origin, so that it is safe to store them and to show them in a terminal or Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])"
)
"""A sequence that a terminal takes for an order, such as a colour."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Controls, directional marks, and characters that take no room: a reader must not be shown less than is there.
_HIDDEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    rf"{''.join(chr(plane + last) for plane in range(0x10000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))}"
)
_UNSEEN = re.compile(f"[{_HIDDEN}]")
# Marks that stand above or below a letter; any number of them would cover the lines around it.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
)
_STACKED = re.compile(f"(?<=[{_MARKS}]{{8}})[{_MARKS}]+")
_WORTH_A_LOOK = re.compile(rf"[\r\ud800-\udfff{_MARKS}{_HIDDEN}]")
# What a line in the log of a build can start to order the machine that builds.
_ORDER = re.compile(
    r"([:#])\1(?=(?:error|warning|notice|debug|(?:end)?group|add-|set-|save-|stop-|remove-|vso|teamcity|\[))"
)

LONGEST_LINE = 2_000
"""Characters of a text on one line."""


def replace_surrogates(text: str) -> str:
    """Return the text with every lone surrogate replaced, so that it can be encoded as UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def make_storable(text: str) -> str:
    """Return the text for a file: valid, and without control characters except newline and tab."""
    return _CONTROL.sub("", replace_surrogates(text))


def show_hidden(text: str) -> str:
    r"""Return the text with invisible characters as escapes such as ``\u202e``.

    Newlines and tabs stay; a Windows line end becomes a newline. Of marks stacked on one letter eight stay marks.
    """
    if text.isascii() and text.replace("\n", " ").replace("\t", " ").isprintable():
        return text
    if not _WORTH_A_LOOK.search(text):
        return text

    def escape_all(match: re.Match[str]) -> str:
        codes = map(ord, match.group())
        return "".join(f"\\x{c:02x}" if c < 0x100 else f"\\u{c:04x}" if c < 0x10000 else f"\\U{c:08x}" for c in codes)

    return _STACKED.sub(escape_all, _UNSEEN.sub(escape_all, replace_surrogates(text).replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """Return the text in one line for a terminal or log: without escape sequences, hidden characters shown, cut."""
    # Of a very long text only the part is cleaned that has a chance to be shown.
    seen = show_hidden(ESCAPE.sub("", text[: 10 * LONGEST_LINE]))
    line = _ORDER.sub(r"\1 \1", " ".join(seen.split()))
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} … ({len(text):,} characters in all)"


def cut_text(text: str, limit: int) -> str:
    """Return the text, or its first `limit` characters up to a blank and the number of those left out."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    kept = head[: max(head.rfind(" "), head.rfind("\n"), 0)] or head
    return f"{kept} … ({len(text) - len(kept):,} more characters)"


# An entity can never open or close markup, wherever it stands; a backslash can itself be escaped.
_ENTITIES = {ord(sign): f"&#{ord(sign)};" for sign in "\\`*[]|~$"} | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord("\n"): "<br>",
    ord("\t"): " ",
}
_EDGE_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
# What hosts turn into links and mentions of their own accord, even where the sign is an entity.
_AUTOLINK = re.compile(r"@|#(?=\d)|(?<=\bGH)-(?=\d)|:(?=//)|(?<=www)\.|(?<=mailto):|(?<=xmpp):", re.IGNORECASE)
_OPENING = re.compile(r"^(?=(?:[#+=:-]+|\d+[.)])(?:\s|$))")
_APART = "\u200b"


def escape(text: str) -> str:
    """Return the text as one line of Markdown that shows it exactly, without markup, links, images or mentions."""
    apart = _AUTOLINK.sub(lambda match: match.group() + _APART, show_hidden(text).strip())
    return _EDGE_UNDERSCORE.sub("&#95;", _OPENING.sub(_APART, apart).translate(_ENTITIES))


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Collection[int] = ()) -> str:
    """Return a Markdown table of escaped titles and cells; columns with indices in `numbers` are aligned right."""
    rule = ("---:" if index in numbers else "---" for index in range(len(head)))
    lines = (map(escape, head), rule, *(map(escape, row) for row in rows))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
