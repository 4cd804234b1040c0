"""A reply made ready for reading: one alphabet, no markup, its letters marked, its sentences apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from contrapose.tasks.probes.replies.languages import in_english
from contrapose.tasks.probes.replies.rewrites import NOUN, STOP, rewritten
from contrapose.tasks.probes.replies.sources import by_source

READ_FIRST, READ_LAST = 4_000, 1_000
"""Characters read from the start and the end of a long reply; the middle decides nothing."""

_BEFORE_VERB = rf"(?:{STOP}|(?=\s+(?:is|does|agrees|matches|fits|contradicts)\b))"
# Lower-case letters count only where no article could stand: before a stop, or as the name of a summary.
_LOWER_CASE = re.compile(
    r"(?<![\w'])[ab](?=\^)"
    rf"|(?mi:(?<!\bin )\b(?:summary|option|choice|answer) [ab]\b{_BEFORE_VERB})"
    rf"|(?mi:\b(?:answer|choice|option)(?:\s+is)?\s?[:=]\s?[ab]\b{STOP})"
    r"|\bis (?:[ab](?=\s*[.!])|b(?=\s*$))"
)
_CONCLUDES = re.compile(
    r"(?i)(?<!not )\b(?:therefore|thus|hence|consequently|in conclusion|to conclude|to sum up|ultimately"
    r"|overall)\b[,:]?"
    r"|(?:^|(?<=[,.;:!\n]))\s{0,3}(?:and )?so\b(?! (?:is|does|are|was)\b)[,:]?"
    r"|\bso (?=(?:the|my) (?:correct )?(?:answer|choice)\b|summary [ab]\b)"
)
_PAIR = re.compile(
    rf"\b[AB]\b\^?\s{{0,3}}\(?(?:(?:,?\s*(?:and/or|or|then)\b|(?:and|nor|versus|vs|v)\b\.?)"
    rf"\s+(?:(?:maybe|perhaps|possibly|also|even|probably|either)\s+)*|\s?[/&|]\s?|-)(?:{NOUN})?[AB]\b\^?"
    rf"|\b[AB]\^[ \t]*[AB]\^|\b[AB]\b\^?,\s*(?:and\s+)?(?:{NOUN})?[AB]\b\^?"
    rf"(?:{STOP}|(?=\s+(?:or|and|are|were|have|both|with|without)\b))"
)
_PLAIN = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4", "'")
    | {"^": " ", "\u3002": ".", "\u0964": ".", "\u3001": ","}
    | dict.fromkeys("\u300c\u300d\u3010\u3011", '"')
)
_INVISIBLE = dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
_LONG_GAP = re.compile(r"\s{4,}")
_EMPTY_LINES = re.compile(r"\n{3,}")
PAIR, FINALLY = "both-letters", "=>"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a canonical reply."""

    text: str
    """Without the stop that ends it."""
    stop: str
    """What ends it: a full stop, `!`, `?`, or nothing."""
    position: int
    """Where it begins, in characters."""
    opens_line: bool
    """Whether it begins a line."""


def window(reply: str) -> str:
    """The part of a reply that is read: without a reasoning model's thoughts, the start and the end only.

    Whatever follows the last `</think>` is the answer; thoughts that never end leave none.
    """
    text = _spaced(spoken(reply))
    if len(text) <= READ_FIRST + READ_LAST:
        return text
    start = text[:READ_FIRST].rsplit(None, 1)[0]
    # A sentence that is cut in two could lose its "not": the end starts with the first whole one.
    whole = re.search(r"[.!?\n]", text[-READ_LAST:])
    return start + "\n" + (text[-READ_LAST:][whole.end() :] if whole else "")


def spoken(reply: str) -> str:
    """A reply without a reasoning model's thoughts and without invisible characters, stripped."""
    return reply.rpartition("</think>")[2].partition("<think>")[0].translate(_INVISIBLE).strip()


def _spaced(text: str) -> str:
    """Text with at most one blank or one empty line in a row: runs of them say nothing, and cost time."""
    lines = (" ".join(line.split()) for line in text.replace("\u2028", "\n").splitlines())
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


def canonical(text: str) -> str:
    """Full-width letters, quotes, Markdown, LaTeX and tags reduced to plain letters and words.

    Args:
        text: a window of a reply; the time is linear in its bounded length.

    Returns:
        Text where `^` follows an unmistakable letter, `=>` opens a conclusion, and "A or B" is one word.
    """
    if text.isupper():
        text = re.sub(r"[A-Z']{2,}", lambda shouted: shouted[0].lower(), text)
    text = _spaced(unicodedata.normalize("NFKC", text).translate(_PLAIN))
    # What stood between blanks may be gone now, and a long run of them costs time in all that follows.
    text = _LONG_GAP.sub(lambda gap: "\n\n\n" if "\n" in gap[0] else "   ", rewritten(in_english(text)))
    text = _LOWER_CASE.sub(lambda found: found.group()[:-1] + found.group()[-1].upper(), text)
    text = by_source(text)
    text = _CONCLUDES.sub(f" ; {FINALLY} ", text)
    return _PAIR.sub(PAIR, text).strip()


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a canonical reply, in order; a line ends one as a full stop does."""
    position, opens = 0, True
    for part in re.split(r"((?<=[.!?])\s+|\n+)", text):
        whole = part.strip()
        if stripped := whole.strip(" \t\n.!?;,"):
            end = whole[-1]
            yield Sentence(stripped, end if end in ".!?" else "", position, opens)
            opens = False
        opens = opens or "\n" in part
        position += len(part)
