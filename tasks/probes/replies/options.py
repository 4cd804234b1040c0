"""Which of several lettered options a reply chooses.

Each letter in question is read against all others: it becomes A, the others become B, and the reader of two letters
decides whether A is chosen. So all letters are read by the same rules, whatever their number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from contrapose.tasks.probes.replies.decision import NEXT, weigh
from contrapose.tasks.probes.replies.text import canonical, window

_ORDINALS = ("first|one|1", "second|two|2", "third|three|3", "fourth|four|4", "fifth|five|5")
_NTH = re.compile(r"(?i)\b(?:the )?(first|second|third|fourth|fifth) (?:option|choice|answer|one)\b|^the (\w+)\W*$")
_NUMBERED = re.compile(r"(?i)\b(?:option|choice|answer) (?:number )?(one|two|three|four|five|[1-5])\b(?![.,%]?\d)")
_EDGES = r"[\s()\[\]{}*_`\"'\u2018\u2019\u201c\u201d.,:;!$]"
_LONE = re.compile(rf"{_EDGES}*([A-Za-z]){_EDGES}*")
# "E. coli", "C++", "A-level": a letter that labels nothing.
_NAMES = re.compile(
    r"(?<!\w)[A-Z]\. (?!(?:because|since|as|the|it|this|that|these|they|an?|in|i)\b)(?=[a-z])|(?<!\w)[A-Z](?=\+\+)"
    r"|(?<!\w)[A-Za-z]-[A-Za-z]+"
)
_ANSWERS = re.compile(
    r"(?i)^\W*(?:(?:so|therefore|thus)\W+)?(?:(?:the )?(?:(?:correct|best|right|final) )?(?:answer|option|choice)"
    r"\W*(?:(?:is|would be|must be)\b)?|choice\W|it(?: i|')s|it (?:was|would be|must be)|that(?: i|')s|boxed)?\W*"
)
_REASON = re.compile(r"(?i)[,.;:!\n(]|\s+(?:because|since|as|due to|\u2013|-)\s")


def choose(reply: str, *, labels: Sequence[str], options: Sequence[str]) -> int | None:
    """Position of the option that a reply names by its letter, or whose text it restates; None for none or several."""
    return _choose(unicodedata.normalize("NFKC", window(reply)), labels, options)


def _choose(seen: str, labels: Sequence[str], options: Sequence[str]) -> int | None:
    started = NEXT.search(seen)
    if started and (first := _choose(seen[: started.start()], labels, options)) is not None:
        return first
    if lone := _LONE.fullmatch(seen):
        return _position(lone[1], labels)
    restated = _restated(seen, options)
    marked = _marked(seen, labels, options)
    if restated is not None or marked is None:
        return restated
    named = _numbered(_NAMES.sub("", marked), labels)
    letters = [each for each in labels if re.search(rf"(?<![\w'])(?i:{re.escape(each)})(?![\w'])", named)]
    chosen = [each for each in letters if _is_chosen(_against(named, each, labels))]
    return _position(chosen[0], labels) if len(chosen) == 1 else None


@lru_cache(maxsize=1_000)
def _is_chosen(text: str) -> bool:
    return weigh(canonical(text)).letter == "A"


def _against(text: str, letter: str, labels: Sequence[str]) -> str:
    """The text with one letter as A and every other label as B, in their case; "I think" keeps its I."""
    names = re.escape("".join(labels))
    found = re.compile(rf"(?<![\w'])(?!I\s+(?!is\b)\w|I')[{names}{names.lower()}](?![\w'])")

    def renamed(match: re.Match[str]) -> str:
        new = "A" if match[0].upper() == letter else "B"
        return new if match[0].isupper() else new.lower()

    return found.sub(renamed, text)


def _marked(reply: str, labels: Sequence[str], options: Sequence[str]) -> str | None:
    """The reply with "A. copper" and "copper (A)" as "(A)"; None when a letter stands with another option's text."""
    by_text = {_plain(option): label for label, option in zip(labels, options, strict=True)}
    texts = "|".join(re.escape(each) for each in sorted(filter(None, by_text), key=len, reverse=True))
    if not texts:
        return reply
    names = re.escape("".join(labels) + "".join(labels).lower())
    pairs = (
        rf"(?<![\w'])[(\[*]*(?P<letter>[{names}])(?P<between>[)\]*.:,\-\u2013\u2014\s(\"]+(?:(?i:the|an?)\s+)?)"
        rf"(?P<text>(?i:{texts}))(?!\w)[)*\"]*",
        rf"(?<!\w)(?P<text>(?i:{texts}))[.,:]?(?P<between>\s*\((?:(?i:option)\s)?|\s+(?=[A-Z]\W*$))"
        rf"(?P<letter>[{names}])\)?(?!\w)",
    )
    for pattern in pairs:
        for found in re.finditer(pattern, reply):
            is_article = found["letter"] in "Aa" and not found["between"].strip()
            if by_text[_plain(found["text"])] != found["letter"].upper() and not is_article:
                return None
        reply = re.sub(pattern, lambda found: f"({found['letter'].upper()})", reply)
    return reply


def _numbered(text: str, labels: Sequence[str]) -> str:
    """The text with "the third option" and "option 3" as "Option C"."""

    def lettered(found: re.Match[str]) -> str:
        word = next(filter(None, found.groups())).lower()
        index = next((i for i, words in enumerate(_ORDINALS) if word in words.split("|")), len(labels))
        return f"Option {labels[index]}" if index < len(labels) else found[0]

    return _NUMBERED.sub(lettered, _NTH.sub(lettered, text))


def _restated(reply: str, options: Sequence[str]) -> int | None:
    """The one option whose text is the reply, its first line, or its answer before a reason."""
    plain = [_plain(option) for option in options]
    line = reply.strip().partition("\n")[0]
    whole = {_plain(text) for text in (reply, line, _ANSWERS.sub("", reply), _ANSWERS.sub("", line))} - {""}
    found = [i for i, option in enumerate(plain) if option in whole]
    if not found:
        answer = _ANSWERS.sub("", line)
        found = [i for i, option in enumerate(plain) if option and option == _plain(_REASON.split(answer)[0])]
        if any(re.search(rf"(?i)(?<!\w){re.escape(other)}(?!\w)", line) for other in _others(plain, found)):
            return None
    return found[0] if len(found) == 1 else None


def _others(options: Sequence[str], found: Sequence[int]) -> list[str]:
    """The other options' texts, without those that are part of what was found: "iron" in "iron ore"."""
    kept = [options[i] for i in found]
    return [each for i, each in enumerate(options) if each and i not in found and not any(each in one for one in kept)]


def _position(letter: str, labels: Sequence[str]) -> int | None:
    return list(labels).index(letter.upper()) if letter.upper() in labels else None


def _plain(text: str) -> str:
    """Lower case, one space between words, no article before them and no marks around them."""
    bare = re.sub(r"^[\W_]+|[\W_]+$", "", text.casefold())
    return re.sub(r"^(?:the|an?)\s+(?=\w)", "", " ".join(bare.split()))
