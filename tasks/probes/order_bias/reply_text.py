"""A reply made ready for reading: one alphabet, no markup, its letters marked, its sentences apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

READ_FIRST, READ_LAST = 4_000, 1_000
"""Characters read from the start and the end of a long reply; the middle decides nothing."""

NOUN = r"(?i:(?:the\s+)?(?:summary|option|choice|answer|statement|version)\s+)"
_END = r"(?=\s*(?:$|[.,;:!?\n]))"
_HEADS = r"answer|choice|response|verdict|decision|selection|conclusion|output|result|is"

# A trailing ^ marks a letter that cannot be the English article, such as "(a)" or "**A**".
_REWRITES = (
    (r"\^", " "),
    (r"\\(?:text|mathrm|mathbf|mathsf|mathit)(?:bf|it|rm|sf)?\s{0,3}\{([^{}]{0,200})\}", r"\1"),
    (r"(?i)\\f?boxed\s{0,3}\{([^{}]{0,200})\}", r"\nfinal answer: \1\n"),
    (r"(?i)<\s{0,3}(?:final_?)?(?:answer|choice)\s{0,3}>([^<]{0,200})</", r"\nfinal answer: \1\n<"),
    (r"(?i)</?[a-z_]{1,12}\s{0,3}/?>?", ""),
    (r"\\[()\[\]]", "$"),
    (r"(?<![\w'])[*_`\"'(\[{$]{1,6}\s?([ABab])([.:,]?)[*_`\"')\]}$]{1,6}(?!\w)", r"\1^\2"),
    (r"(?<![\w'])([ABab])\)", r"\1^"),
    (r"\s?(?:!=|\u2260)\s?", " is not "),
    (r"(?<!\w)[~!\u00ac]\s?(?=[ABab]\b)", "not "),
    (r"[*`\"#>\[\]{}$~_]+", ""),
    (r"(?m)^[ \t]*[-•+][ \t]+", ""),
    (r"(?i)\bthe first (?:summary|option|one)\b", "Summary A"),
    (r"(?i)\bthe second (?:summary|option|one)\b", "Summary B"),
    (r"(?i)\bif (?:i|one) (?:had|have|were|must)(?: to)? (?:choose|pick|guess|answer|select|decide)\b,?", ""),
    (r"(?i)\b(answer|choice)\s+[-\u2013\u2014]\s+", r"\1: "),
    (rf"(?i)\b({_HEADS})\s{{0,3}}:\s*\n\s*(?=(?:summary |option )?[ab]\b)", r"\1: "),
)
# Lower-case letters count only where no article could stand: before a stop, or as the name of a summary.
_LOWER_CASE = re.compile(
    r"(?<![\w'])[ab](?=\^)"
    rf"|(?mi:(?<!\bin )\b(?:summary|option|choice|answer) [ab]\b(?:{_END}|(?=\s+is\b)))"
    rf"|(?mi:\b(?:answer|choice|option)(?:\s+is)?\s?[:=]\s?[ab]\b{_END})"
    r"|\bis (?:[ab](?=\s*[.!])|b(?=\s*$))"
)
_CONCLUDES = re.compile(
    r"(?i)(?<!not )\b(?:therefore|thus|hence|consequently|in conclusion|to conclude|to sum up|ultimately"
    r"|overall)\b[,:]?"
    r"|(?:^|(?<=[,.;:!\n]))\s{0,3}(?:and )?so\b(?! (?:is|does|are|was)\b)[,:]?"
    r"|\bso (?=(?:the|my) (?:correct )?(?:answer|choice)\b|summary [ab]\b)"
)
_PAIR = re.compile(
    rf"\b[AB]\b\^?\s{{0,3}}\(?(?:(?:,?\s*(?:and/or|or)\b|(?:and|nor|versus|vs)\b\.?)"
    rf"\s+(?:(?:maybe|perhaps|possibly|also|even|probably|either)\s+)*|\s?[/&|]\s?|-)(?:{NOUN})?[AB]\b\^?"
    rf"|\b[AB]\^[ \t]*[AB]\^|\b[AB]\b\^?,\s*(?:{NOUN})?[AB]\b\^?{_END}"
)
_PLAIN = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4", "'")
    | {"\u3002": "."}
)
PAIR, FINALLY = "both-letters", "=>"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a canonical reply."""

    text: str
    """Without the stop that ends it."""
    is_question: bool
    """Whether it asks, and so states nothing."""
    position: int
    """Where it begins, in characters."""


def window(reply: str) -> str:
    """The part of a reply that is read: without a reasoning model's thoughts, the start and the end only.

    Whatever follows the last `</think>` is the answer; thoughts that never end leave none.
    """
    text = reply.rpartition("</think>")[2].partition("<think>")[0].strip()
    if len(text) <= READ_FIRST + READ_LAST:
        return text
    start = text[:READ_FIRST].rsplit(None, 1)[0]
    # A sentence that is cut in two could lose its "not": the end starts with the first whole one.
    whole = re.search(r"[.!?\n]", text[-READ_LAST:])
    return start + "\n" + (text[-READ_LAST:][whole.end() :] if whole else "")


def canonical(text: str) -> str:
    """Full-width letters, quotes, Markdown, LaTeX and tags reduced to plain letters and words.

    Args:
        text: a window of a reply; the time is linear in its bounded length.

    Returns:
        Text where `^` follows an unmistakable letter, `=>` opens a conclusion, and "A or B" is one word.
    """
    text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    for pattern, replacement in _REWRITES:
        text = re.sub(pattern, replacement, text)
    text = _LOWER_CASE.sub(lambda found: found.group()[:-1] + found.group()[-1].upper(), text)
    text = _CONCLUDES.sub(f" ; {FINALLY} ", text)
    return _PAIR.sub(PAIR, text).strip()


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a canonical reply, in order; a line ends one as a full stop does."""
    position = 0
    for part in re.split(r"((?<=[.!?])\s+|\n+)", text):
        if stripped := part.strip(" \t\n.!?;,"):
            yield Sentence(stripped, part.rstrip().endswith("?"), position)
        position += len(part)
