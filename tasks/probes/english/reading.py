"""Reads the last sentence of a text into words with their places and flags."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from contrapose.tasks.probes.english import closed, vocabulary
from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.words import words

_TOKEN = re.compile(r"(\w+(?:[-'\u2019]\w+)*)|[^\w\s]")
_SENTENCE_END = re.compile(r"[.!?…][\"'”\u2019)\]*_]*\s+|\n\s*")
_OPTION = re.compile(r"\(?[A-Ha-h1-8][.):]\s")
_ANSWER_LABEL = re.compile(r"[\w ]{1,20}:\Z")
_WRAPPED = re.compile(r"\s*\(([^()]*)\)\Z")
_ABBREVIATIONS = words("mr mrs ms dr prof st no vs etc approx fig jr sr inc ltd co gen col capt cf al ca e.g i.e")
_CLOSERS = {'"': '"', "“": "”", "«": "»", "(": ")", "[": "]"}
_SINGLE = {"'": "'", "\u2018": "\u2019"}
_BREAKS = ",;:-\u2013—…"
_QUOTES = "\"'“”\u2018«»()[]"
_LONGEST_TAIL = 40
_MOST_SEEN = 1 << 16


class Sentence(NamedTuple):
    """The last sentence of a text. Quoted passages are one opaque word each; brackets are left out."""

    text: str
    """The whole text; offsets below count its characters."""
    words: list[str]
    """Lower case, straight apostrophes."""
    starts: list[int]
    """Offset of each word's first character."""
    ends: list[int]
    """Offset one past each word's last character."""
    tags: list[int]
    """Flags of each word (`flags.py`)."""
    asks: bool
    """Whether it ends in a question mark."""
    closed: bool
    """Whether it ends in a full stop, question mark or exclamation mark."""

    def word(self, index: int) -> str:
        """The word at an index, or "" outside the sentence."""
        return self.words[index] if 0 <= index < len(self.words) else ""

    def tag(self, index: int) -> int:
        """The flags at an index, or 0 outside the sentence."""
        return self.tags[index] if 0 <= index < len(self.tags) else 0

    def source(self, index: int) -> str:
        """The word as the text spells it."""
        return self.text[self.starts[index] : self.ends[index]]


class UnreadableError(Exception):
    """Raised for a text that cannot be read into words; `reason` says why."""

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


def read(text: str) -> Sentence:
    """Read the last sentence.

    Raises:
        UnreadableError: `empty`, `no_word`, `unbalanced_quotes` or `options_in_text`.
    """
    begin, end = _span(text)
    tail = text[max(begin, end - _LONGEST_TAIL) : end].rstrip("\"'”\u2019)]*_")
    sentence = Sentence(text, [], [], [], [], tail.endswith("?"), tail.endswith((".", "!", "?")))
    _fill(sentence, begin, end)
    if sentence.words == ['"']:
        inside = sentence.starts[0] + 1, sentence.ends[0] - 1
        sentence = Sentence(text, [], [], [], [], sentence.asks, sentence.closed)
        _fill(sentence, *inside)
    if not sentence.words or not any(word[0].isalnum() for word in sentence.words):
        raise UnreadableError("no_word" if any(map(str.isalnum, text)) else "empty")
    return sentence


def _span(text: str) -> tuple[int, int]:
    """Where the last sentence starts and ends; an empty "Answer:" line and outer brackets are left out."""
    end = len(text.rstrip())
    if "\n" in text:
        end = _before_label(text, end)
    begin = last_sentence(text, end)
    wrapped = _WRAPPED.match(text, begin, end) if text[begin : begin + 1] == "(" else None
    return wrapped.span(1) if wrapped else (begin, end)


def _before_label(text: str, end: int) -> int:
    """Where the text ends when an empty last line "Answer:" is left out."""
    line = text.rfind("\n", 0, end) + 1
    last = text[line:end].lstrip()
    if line and _OPTION.match(last):
        raise UnreadableError("options_in_text")
    if not line or not _ANSWER_LABEL.match(last):
        return end
    return len(text[:line].rstrip()) or end


def last_sentence(text: str, end: int) -> int:
    """Offset where the last sentence before `end` starts. Abbreviations and initials end no sentence."""
    begin = 0
    for found in _SENTENCE_END.finditer(text, 0, end):
        if text[found.start()] != "." or not _is_abbreviation(text[max(begin, found.start() - 20) : found.start()]):
            begin = found.end()
    return begin if begin < end else 0


def _is_abbreviation(before: str) -> bool:
    last = before.rsplit(None, 1)[-1].lower().lstrip("(\"'“") if before.strip() else ""
    return last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha()) or "." in last


def _fill(sentence: Sentence, begin: int, end: int) -> None:
    """Note every word between two offsets."""
    text, words, starts, ends, tags, _, _ = sentence
    shouting = text.isupper()
    seen = _seen()
    closer = ""
    bracket = False
    for found in _TOKEN.finditer(text, begin, end):
        mark = found[0]
        if closer:
            if mark == closer:
                closer = ""
                if not bracket:
                    ends[-1] = found.end()
            continue
        word, tag, name, kind = seen.get(mark) or _learn(mark, seen)
        if kind is not _WORD:
            if kind is _IDLE:
                continue
            closer = _closer(mark, text, found) if kind is _QUOTE else ""
            bracket = mark in "(["
            if (not closer and not _breaks(mark, text, found)) or (closer and bracket):
                continue
            if closer:
                word, tag = '"', f.QUOTED
        elif name and words and not shouting and words[-1] != ":":
            tag = name
        elif tag & f.NUMBER and words and words[-1] == "no" and text[found.start() - 2] == ".":
            tags[-1] = f.SINGULAR  # "No. 7"
        start, stop = found.span()
        words.append(word)
        starts.append(start)
        ends.append(stop)
        tags.append(tag)
    if closer:
        raise UnreadableError("unbalanced_quotes")


_WORD, _IDLE, _BREAK, _QUOTE = range(4)
"""What a token is: a word, a mark that says nothing, a comma or dash, a quotation mark or bracket."""


class _Token(NamedTuple):
    word: str
    tag: int
    name: int  # flags of the same spelling inside a sentence, when it may be a name there
    kind: int


@cache
def _seen() -> dict[str, _Token]:
    """Every spelling met so far: a plain dict, since looking words up is most of the work."""
    return {}


def _learn(spelled: str, seen: dict[str, _Token]) -> _Token:
    """Note what a new spelling is."""
    if len(seen) >= _MOST_SEEN:
        seen.clear()
    seen[spelled] = _token(spelled)
    return seen[spelled]


def _token(spelled: str) -> _Token:
    """What a spelling is, wherever it stands."""
    first = spelled[0]
    if not first.isalnum() and first != "_":
        kind = _BREAK if first in _BREAKS else _QUOTE if first in _QUOTES else _IDLE
        return _Token(spelled, f.BREAK, 0, kind)
    word = spelled.lower().replace("\u2019", "'")
    tag = flags_of(word)
    return _Token(word, tag, _as_name(tag, word, spelled) if first.isupper() else 0, _WORD)


def flags_of(word: str) -> int:
    """All that a word in lower case can be."""
    if word == '"':
        return f.QUOTED
    known = closed.table().get(word)
    if known is not None:
        if word in closed.OPEN_TOO:
            return known | vocabulary.look_up(word)
        if word in closed.OPEN_NOMINALS:
            return known | vocabulary.look_up(word) & (f.NOUN | f.ADJ)
        return known
    if word.endswith("n't"):
        return f.NEG
    if word[0].isdigit():
        return f.NUMBER | f.SINGULAR | f.PLURAL
    return vocabulary.look_up(word)


def _as_name(tag: int, word: str, spelled: str) -> int:
    """A capitalised word inside a sentence is a name, unless it is a word that names rarely are."""
    if tag & f.CLOSED and not tag & f.MODAL and spelled not in closed.ACRONYMS:
        return tag
    return f.NAME | (tag & f.NOUN or f.SINGULAR) | (f.NEG if word.endswith("n't") else 0)


def _closer(mark: str, text: str, found: re.Match[str]) -> str:
    """The mark that ends what `mark` opens, or "" when it opens nothing."""
    if mark in "”»)]":
        raise UnreadableError("unbalanced_quotes")
    if mark in "'\u2018":
        return _SINGLE[mark] if _opens(text, found) else ""
    return _CLOSERS.get(mark, "")


def _breaks(mark: str, text: str, found: re.Match[str]) -> bool:
    """Whether a mark stands between phrases: a comma or a dash, but not the comma of "1,000"."""
    return mark in _BREAKS and not text[found.end() : found.end() + 1].isdigit()


def _opens(text: str, found: re.Match[str]) -> bool:
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    return (not before or before.isspace()) and not after.isspace() and after != ""
