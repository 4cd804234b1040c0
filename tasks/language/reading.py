"""Reads the last sentence of a text into words with their places and flags."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.sentence import Sentence, UnreadableError
from contrapose.tasks.language.tokens import BREAKS, IDLE, MOST_SEEN, QUOTE, WORD, flags_of, seen, token

_TOKEN = re.compile(r"(\w+(?:[-'\u2019]\w+)*)|[^\w\s]")
_SENTENCE_END = re.compile(r"[.!?…][\"'”\u2019)\]*_]*\s+|\n\s*")
_OPTION = re.compile(r"\(?[A-Ha-h1-8][.):]\s")
_ANSWER_LABEL = re.compile(r"[\w ]{1,20}:\Z")
_WRAPPED = re.compile(r"\s*\(([^()]*)\)\Z")
_ABBREVIATIONS = words("mr mrs ms dr prof st no vs etc approx fig jr sr inc ltd co gen col capt cf al ca e.g i.e")
_CLOSERS = {'"': '"', "“": "”", "«": "»", "(": ")", "[": "]"}
_SINGLE = {"'": "'", "\u2018": "\u2019"}
_LONGEST_TAIL = 40

__all__ = ["Sentence", "UnreadableError", "flags_of", "last_sentence", "read"]


def read(text: str) -> Sentence:
    """Read the last sentence.

    Raises:
        UnreadableError: `empty`, `no_word`, `unbalanced_quotes` or `options_in_text`.
    """
    end = len(text.rstrip())
    return read_plain(text, 0, end) or _read_marked(text, end)


def _read_marked(text: str, end: int) -> Sentence:
    begin, end = _span(text, end)
    plain = read_plain(text, begin, end) if begin else None
    if plain is not None:
        return plain
    tail = text[max(begin, end - _LONGEST_TAIL) : end].rstrip("\"'”\u2019)]*_")
    sentence = Sentence(text, [], [], [], [], 0, tail.endswith("?"), tail.endswith((".", "!", "?")))
    _fill(sentence, begin, end)
    if sentence.words == ['"']:
        inside = sentence.starts[0] + 1, sentence.ends[0] - 1
        sentence = Sentence(text, [], [], [], [], 0, sentence.asks, sentence.closed)
        _fill(sentence, *inside)
    if not any(word[0].isalnum() for word in sentence.words):
        raise UnreadableError("no_word" if any(map(str.isalnum, text)) else "empty")
    for tag in sentence.tags:
        sentence.union |= tag
    return sentence


def _span(text: str, end: int) -> tuple[int, int]:
    """Where the last sentence starts and ends; an empty "Answer:" line and outer brackets are left out."""
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
    for stop in _SENTENCE_END.finditer(text, 0, end):
        if text[stop.start()] != "." or not _is_abbreviation(text[max(begin, stop.start() - 20) : stop.start()]):
            begin = stop.end()
    return begin if begin < end else 0


def _is_abbreviation(before: str) -> bool:
    """Whether a full stop behind these characters ends no sentence; behind a unit or an amount it does ("5 s.")."""
    said = before.rsplit(None, 2)
    last = said[-1].lower().lstrip("(\"'“") if said else ""
    if len(last) == 1 and last.isalpha():
        return len(said) == 1 or not said[-2][-1].isdigit()
    return last in _ABBREVIATIONS or ("." in last and not last[-1].isdigit())


def _fill(sentence: Sentence, begin: int, end: int) -> None:
    """Note every word between two offsets."""
    words, starts, ends, tags = sentence.words, sentence.starts, sentence.ends, sentence.tags
    text = sentence.text
    shouting = text.isupper()
    known = seen()
    closer = ""
    bracket = False
    for match in _TOKEN.finditer(text, begin, end):
        mark = match[0]
        if closer:
            if mark == closer:
                closer = ""
                if not bracket:
                    ends[-1] = match.end()
            continue
        word, tag, name, kind = known[mark]
        if kind != WORD:
            if kind == IDLE:
                continue
            closer = _closer(mark, text, match) if kind == QUOTE else ""
            bracket = mark in ("(", "[")
            if (not closer and not _breaks(mark, text, match)) or (closer and bracket):
                continue
            if closer:
                word, tag = '"', f.QUOTED
        elif name and words and not shouting and words[-1] != ":":
            tag = name
        elif tag & f.NUMBER and words and words[-1] == "no" and text[match.start() - 2] == ".":
            tags[-1] = f.SINGULAR  # "No. 7"
        start, stop = match.span()
        words.append(word)
        starts.append(start)
        ends.append(stop)
        tags.append(tag)
    if closer:
        raise UnreadableError("unbalanced_quotes")


def _closer(mark: str, text: str, match: re.Match[str]) -> str:
    """The mark that ends what `mark` opens, or "" when it opens nothing."""
    if mark in "”»)]":
        raise UnreadableError("unbalanced_quotes")
    if mark in "'\u2018":
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        return _SINGLE[mark] if after.strip() and not before.strip() else ""
    return _CLOSERS[mark]


def _breaks(mark: str, text: str, match: re.Match[str]) -> bool:
    """Whether a mark stands between phrases: a comma or a dash, but not the comma of "1,000"."""
    return mark in BREAKS and not text[match.end() : match.end() + 1].isdigit()


# Reads a text that is one sentence of words and commas, as most are: one look-up for each piece between spaces.
# It gives what `_read_marked` gives in a third of the time, and leaves every other text to it.

_ODD = 1 << 60
"""Flags a piece that must be read with what stands around it."""
_PLAIN = re.compile(r"[^\W_]\w*(?:[-'\u2019]\w+)*|[,\u2013—-]")
_LONGEST_KEPT = 40


class _Piece(NamedTuple):
    word: str
    tag: int  # flags inside a sentence, where a capital makes a name
    width: int
    step: int  # the width, and that of the space before; a comma has none


class _Pieces(dict[str, _Piece]):
    """Every piece met so far."""

    def __missing__(self, spelled: str) -> _Piece:
        if len(self) >= MOST_SEEN:
            self.clear()
        piece = _piece(spelled)
        if piece.width <= _LONGEST_KEPT:
            self[spelled] = piece
        return piece


@cache
def _pieces() -> _Pieces:
    return _Pieces()


def _piece(spelled: str) -> _Piece:
    width = len(spelled)
    if not _PLAIN.fullmatch(spelled):
        return _Piece(spelled, _ODD, width, width)
    word, tag, name, _ = token(spelled)
    return _Piece(word, name or tag, width, width + (spelled != ","))


def read_plain(text: str, begin: int, end: int) -> Sentence | None:
    """The sentence between two offsets; None when it holds other marks, or is all in capitals."""
    trimmed = text[begin:end]
    bare = trimmed.rstrip(".?!")
    if "." in bare:
        return None
    spelled = bare.replace(",", " ,").split(" ")
    spelled[0] = spelled[0].lower()  # no name there
    words, starts, ends, tags = [], [], [], []
    at, union = begin - 1, 0
    for word, tag, width, step in map(_pieces().__getitem__, spelled):
        at += step
        union |= tag
        words.append(word)
        starts.append(at - width)
        ends.append(at)
        tags.append(tag)
    if union & _ODD or union == f.BREAK or text.isupper():
        return None  # no word at all, or capitals that make no names
    return Sentence(text, words, starts, ends, tags, union, trimmed.endswith("?"), len(bare) < len(trimmed))
