"""Prepare the text of a reply: split it into sentences of plain characters, without quoted sources."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies.other_languages import translate_choice_words
from contrapose.tasks.language.replies.rewrites import NOUN, STOP, rewrite
from contrapose.tasks.language.replies.spoken import extract_final_text

READ_FIRST, READ_LAST = 4_000, 1_000
"""Characters read from the start and the end of a long reply; the middle decides nothing."""

_BEFORE_VERB = rf"(?:{STOP}|(?=\s+(?:is|does|agrees|matches|fits|contradicts)\b))"
# Lower-case letters count only where no article could stand: before a stop, or as the name of a summary.
_LOWER_CASE = expression(
    rf"(?<![\w'])[ab](?=\^)|(?mi:(?<!\bin )\b(?:summary|option|choice|answer) [ab]\b{_BEFORE_VERB})"
    rf"|(?mi:\b(?:answer|choice|option)(?:\s+is)?\s?[:=]\s?[ab]\b{STOP})|\bis (?:[ab](?=\s*[.!])|b(?=\s*$))"
)
_CONCLUDES = expression(
    r"(?i)(?<!not )\b(?:therefore|thus|hence|consequently|in conclusion|to conclude|to sum up|ultimately"
    r"|overall)\b[,:]?|(?:^|(?<=[,.;:!\n]))\s{0,3}(?:and )?so\b(?! (?:is|does|are|was)\b)[,:]?"
    r"|\bso (?=(?:the|my) (?:correct )?(?:answer|choice)\b|summary [ab]\b)"
)
_PAIR = expression(
    r"\b[AB]\b\^?\s{0,3}\(?(?:(?:,?\s*(?:and/or|or|then)\b|(?:and|nor|versus|vs|v)\b\.?)\s+(?:(?:maybe|perhaps|possibly"
    rf"|also|even|probably|either)\s+)*|\s?[/&|]\s?|-)(?:{NOUN})?[AB]\b\^?|\b[AB]\^[ \t]*[AB]\^"
    rf"|\b[AB]\b\^?,\s*(?:and\s+)?(?:{NOUN})?[AB]\b\^?(?:{STOP}|(?=\s+(?:or|and|are|were|have|both|with|without)\b))"
)
_PLAIN = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4", "'")
    | {"^": " ", "\u3002": ".", "\u0964": ".", "\u3001": ","}
    | dict.fromkeys("\u300c\u300d\u3010\u3011", '"')
)
_LONG_GAP = expression(r"\s{4,}")
_ROW = expression(r"(?m)^\|? ?([^|]{1,40}?) ?\| ?([^|]{1,80}?) ?\|$")
_EMPTY_LINES = expression(r"\n{3,}")
PAIR, FINALLY = "both-letters", "=>"


@dataclass(frozen=True, slots=True)
class ReplySentence:
    """One sentence of a normalised reply."""

    text: str
    """Without the stop that ends it."""
    stop: str
    """What ends it: a full stop, `!`, `?`, or nothing."""
    position: int
    """The offset at which it begins, in characters."""
    opens_line: bool
    """Whether it begins a line."""


def keep_readable_part(reply: str) -> str:
    """Return the part of a reply that is read: no thoughts of a reasoning model, and only the start and the end."""
    text = _collapse_gaps(extract_final_text(reply))
    if len(text) <= READ_FIRST + READ_LAST:
        return _ROW.sub(r"\1: \2", text)
    start = text[:READ_FIRST].rsplit(None, 1)[0]
    # A sentence that is cut in two could lose its "not": the end starts with the first whole one.
    whole = re.search(r"[.!?\n]", text[-READ_LAST:])
    return start + "\n" + (text[-READ_LAST:][whole.end() :] if whole else "")


def _collapse_gaps(text: str) -> str:
    """Return text with at most one blank or empty line in a row, because long runs only cost time."""
    lines = (" ".join(line.split()) for line in text.replace("\u2028", "\n").splitlines())
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


REPLIES = 10_000
"""Windows of replies of which what was read stays: all of a test are read once to find those that tell nothing, and
once to be scored; one that explains itself takes some milliseconds."""

REMEMBERED = 1_000
"""Replies, options and lists of options of which what was read stays: the same few words come often, replies to one
question follow one another, and each is read more than once."""


@lru_cache(maxsize=REMEMBERED)
def normalise_reply(text: str) -> str:
    """Reduce full-width letters, quotes, Markdown, LaTeX and tags of a reply to plain letters, in linear time.

    `^` follows an unmistakable letter, `=>` opens a conclusion, and "A or B" is one word.
    """
    if text.isupper():
        text = re.sub(r"[A-Z']{2,}", lambda shouted: shouted[0].lower(), text)
    text = _collapse_gaps(unicodedata.normalize("NFKC", text).translate(_PLAIN))
    # What stood between blanks may be gone now, and a long run of them costs time in all that follows.
    text = _LONG_GAP.sub(lambda gap: "\n\n\n" if "\n" in gap[0] else "   ", rewrite(translate_choice_words(text)))
    text = _LOWER_CASE.sub(lambda match: match.group()[:-1] + match.group()[-1].upper(), text)
    if _NEEDED.search(text):
        # What refers to the article's words becomes a statement of its own.
        for pattern, replacement in _REFERRING:
            text = pattern.sub(replacement, text)
    text = _CONCLUDES.sub(f" ; {FINALLY} ", text)
    return _PAIR.sub(PAIR, text).strip()


def yield_reply_sentences(text: str) -> Iterator[ReplySentence]:
    """Yield the sentences of a normalised reply, in order; the end of a line ends a sentence."""
    position, opens = 0, True
    for part in re.split(r"((?<=[.!?])\s+|\n+)", text):
        whole = part.strip()
        if stripped := whole.strip(" \t\n.!?;,"):
            end = whole[-1]
            yield ReplySentence(stripped, end if end in ".!?" else "", position, opens)
            opens = False
        opens = opens or "\n" in part
        position += len(part)


_ARTICLE = r"(?i:the|this) (?:\w+ ){0,2}?(?:article|text|source|passage|original)"
_TELLS = (
    r"(?:\w+ly |also )?(?:says?|states?|reports?|mentions?|gives?|notes?|names?|puts?|places?|describes?|speaks of"
    r"|tells|explains?|indicates?|confirms?|lists?|quotes?|cites?|makes clear|specifies|has|attributes|refers to)\b"
)
_OPENS = r"(?m:^|(?<=[.;!?:,\n] )|(?<=[Ss]ince )|(?<=[Bb]ecause )|(?<=[Ww]hile )|(?<=[Ww]hereas ))"
_DENIES = r"(?:not|never|no|n't|nothing|rather|instead|only|without|but|omits|fails|if|whether)\b"
_ANY = r"(?:(?!\b[AB]\b)[^.;!?\n]){0,150}?"
_WITHIN = rf"(?:(?!\b[AB]\b|\b{_DENIES}|n't\b)[^.;:!?\n]){{1,150}}?"
"""What the article tells, without another summary and without a denial that could reach further."""
_RETOLD = rf"({_OPENS}{_ARTICLE} {_TELLS}{_WITHIN})"
_SUMMARY = rf"((?:{NOUN})?\b[AB](?![\w']))\^?"
_SAYS = (
    r"(?: (?:also |\w+ly )?(?:says|states|reports|does|mentions|notes|has it|describes|puts it|indicates|claims)"
    r"(?: it)?)"
)
_ENDS = r"(?=\s*(?:$|[.;!,\n]))"
_PLAINLY = r"(?:just |exactly |precisely |which is (?:just |exactly )?|and that is (?:just |exactly )?)?"
_AGREES = r"\1. \2 agrees with the article"
_REFERRING = tuple(
    (expression(pattern), replacement)
    for pattern, replacement in (
        (rf"{_RETOLD},? {_PLAINLY}(?:as|what|how) {_SUMMARY}{_SAYS}{_ENDS}", _AGREES),
        (rf"{_RETOLD},? {_PLAINLY}(?:as (?:does|in)|(?:and )?so does) {_SUMMARY}{_ENDS}", _AGREES),
        (rf"{_RETOLD}, which is (?:also )?(?:the|what) (?:\w+ ){{1,3}}?(?:in|by|of) {_SUMMARY}{_ENDS}", _AGREES),
        (
            rf"{_RETOLD}[,;.] (?i:and |so |which )?{_SUMMARY} (?:\w+ly )?(?:reflects|matches|agrees with|captures"
            r"|repeats|conveys|preserves) (?:this|that|it)(?: \w+ly)?" + _ENDS,
            _AGREES,
        ),
        (
            rf"({_SUMMARY} {_TELLS}{_WITHIN}), (?:just |exactly )?as (?:is )?(?:\w+ly )?(?:stated|reported|described"
            rf"|mentioned|confirmed|given|written|noted) (?:in|by) the (?:article|text|source|passage){_ENDS}",
            r"\1, which is what the article says",
        ),
        (
            rf"{_OPENS}(?i:contrary to|(?:in|by) contrast (?:to|with)|unlike|as opposed to)(?: what)? {_SUMMARY}"
            rf"{_SAYS}?, (?={_ARTICLE} {_TELLS})",
            r"the article contradicts \1. ",
        ),
        (
            rf"{_RETOLD},? (?:contrary to|in contrast (?:to|with)|unlike)(?: what)? {_SUMMARY}{_SAYS}?{_ENDS}",
            r"\1. The article contradicts \2",
        ),
        (
            rf"{_RETOLD},? (?:and )?(?:not|rather than) (?:(?!\b[AB]\b)[^,.;:!?\n]){{1,60}}?"
            rf" as (?:{_SUMMARY} (?:wrongly |incorrectly )?(?:claims|says|states|suggests|has it|reports)"
            rf"|(?:claimed|stated|suggested|said|reported) (?:by|in) {_SUMMARY}){_ENDS}",
            r"\1. The article contradicts \2\3",
        ),
        (
            rf"({_OPENS}{_SUMMARY} (?:\w+ly )?(?:claims|alleges|asserts|suggests|implies|says|states){_ANY}), "
            rf"(?:but|whereas|when) (?:in fact |actually )?(?:(?:according to|in) {_ARTICLE},? "
            rf"|{_ARTICLE} (?:\w+ly )?(?:says|states|reports|makes clear)\b)"
            rf"(?!{_ANY} (?:also|too|same|as well|so|agrees?|either|if|may|might|both|more|[AB])\b)",
            r"\1. The article contradicts \2. The article says ",
        ),
        (rf"{_OPENS}(?i:in) {_SUMMARY}, (?i:the|its|his|her|their) (?=\w)", r"\1's "),
    )
)
_NEEDED = expression(r"(?i)\b(?:article|text|source|passage|original)\b|\bin (?:summary )?[ab]\b")
