"""Texts and tables in Markdown that mean only themselves."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from contrapose.tasks.report.cleaning import visible

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
    """The text as one line of Markdown that shows exactly it: no markup, links, images or mentions."""
    apart = _AUTOLINK.sub(lambda match: match.group() + _APART, visible(text).strip())
    return _EDGE_UNDERSCORE.sub("&#95;", _OPENING.sub(_APART, apart).translate(_ENTITIES))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Collection[int] = ()) -> str:
    """A Markdown table.

    Args:
        head: column titles.
        rows: cells, one a column; escaped here.
        numbers: indices of the columns that are set flush right.
    """
    rule = ("---:" if index in numbers else "---" for index in range(len(head)))
    return "\n".join(_line(cells) for cells in (map(escape, head), rule, *(map(escape, row) for row in rows)))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
