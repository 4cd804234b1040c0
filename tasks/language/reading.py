"""Split the last sentence of a text into words with their places and flags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import ACRONYMS, words
from contrapose.tasks.language.sentence import Sentence, UnreadableError
from contrapose.tasks.language.vocabulary import BREAKS, IDLE, QUOTE, WORD, flags_of, is_unknown, read_token

_TOKEN = re.compile(r"(\w+(?:[-'`\u00b4\u2019]\w+)*)|[^\w\s]")
_SENTENCE_END = re.compile(r"[.!?…][\"'”\u2019)\]*_]*\s+|\n\s*")
_LOWER = re.compile(r"(?<![\w'\u2019.-])[^\W\d_A-Z]\w{3}")
_FEWEST_CAPITALS = 3
_SMALL = re.compile(r"(?<![\w'\u2019.-])[a-z][\w'\u2019]*")
_CAPITAL = re.compile(r"(?<![\w'\u2019.-])[A-Z]\w*(?:['\u2019]\w+)?")
_OPTION = re.compile(r"\(?[A-Ha-h1-8][.):]\s")
_ANSWER_LABEL = re.compile(r"[\w ]{1,20}:\Z")
_WRAPPED = re.compile(r"\s*\(([^()]*)\)\Z")
_ABBREVIATIONS = words("mr mrs ms dr prof st no vs etc approx fig jr sr inc ltd co gen col capt cf al ca e.g i.e")
_BEFORE_CAPITAL = ("a.m", "p.m", "etc")
"""Abbreviations that end a sentence if a capital follows."""
_SINGLE = {"'": "'", "`": "'", "\u2018": "\u2019"}
_CLOSERS = {'"': '"', "“": "”", "«": "»", "(": ")", "[": "]"} | _SINGLE
_APOSTROPHES = ("'", "\u2019")
_LONGEST_TAIL = 40

__all__ = ["Sentence", "UnreadableError", "find_last_sentence", "flags_of", "read_sentence", "yield_sentence_starts"]


def read_sentence(text: str) -> Sentence:
    """Read the last sentence, or raise UnreadableError: `empty`, `no_word`, `unbalanced_quotes`, `options_in_text`."""
    end = len(text.rstrip())
    line = text.rfind("\n", 0, end) + 1
    last = text[line:end].lstrip()
    if line and _OPTION.match(last):
        raise UnreadableError("options_in_text")
    if line and _ANSWER_LABEL.match(last):
        # An empty last line "Answer:" is left out.
        end = len(text[:line].rstrip()) or end
    begin = find_last_sentence(text, end)
    wrapped = _WRAPPED.match(text, begin, end) if text[begin : begin + 1] == "(" else None
    begin, end = wrapped.span(1) if wrapped else (begin, end)
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


def find_last_sentence(text: str, end: int) -> int:
    """Return the offset at which the last sentence before `end` starts."""
    *_, begin = yield_sentence_starts(text, end)
    return begin if begin < end else 0


def yield_sentence_starts(text: str, end: int) -> Iterator[int]:
    """Yield the offset of each sentence before `end`, 0 first; abbreviations and initials end no sentence."""
    begin = 0
    yield begin
    for stop in _SENTENCE_END.finditer(text, 0, end):
        before = text[max(begin, stop.start() - 20) : stop.start()]
        ends = before.lower().endswith(_BEFORE_CAPITAL) and text[stop.end() : stop.end() + 1].isupper()
        said = before.rsplit(None, 2)
        last = said[-1].lower().lstrip("(\"'“") if said else ""
        if len(last) == 1 and last.isalpha():
            abbreviates = len(said) == 1 or not said[-2][-1].isdigit()  # not a unit: "5 s."
        else:
            abbreviates = last in _ABBREVIATIONS or ("." in last and not last[-1].isdigit())
        if text[stop.start()] != "." or ends or not abbreviates:
            begin = stop.end()
            yield begin


def _fill(sentence: Sentence, begin: int, end: int) -> None:
    """Add every word between two offsets to the sentence."""
    words, starts, ends, tags = sentence.words, sentence.starts, sentence.ends, sentence.tags
    text = sentence.text
    capitals = is_title(text, begin, end)
    sentence.closed = sentence.closed and (sentence.asks or not capitals)  # its full stop may be that of "U.S."
    shouting = text.isupper()
    capitals = capitals or shouting
    closer, bracket = "", False
    for match in _TOKEN.finditer(text, begin, end):
        mark = match[0]
        if closer:
            if mark == closer:
                closer = ""
                if not bracket:
                    ends[-1] = match.end()
            continue
        word, tag, name, kind = read_token(mark)
        if kind != WORD:
            if mark in _APOSTROPHES and words and ends[-1] == match.start() and words[-1].endswith("s"):
                words[-1] += "'"  # "the players' bench"
            if kind == IDLE:
                continue
            if kind == QUOTE and mark in "”»)]":
                raise UnreadableError("unbalanced_quotes")
            # A single quotation mark may be an apostrophe, which opens nothing.
            before, after = text[match.start() - 1 : match.start()].strip(), text[match.end() : match.end() + 1].strip()
            opens = kind == QUOTE and (mark not in _SINGLE or (after and not before))
            closer = _CLOSERS[mark] if opens else ""
            bracket = mark in ("(", "[")
            if closer and not bracket:
                word, tag = '"', f.QUOTED
            elif closer or mark not in BREAKS or text[match.end() : match.end() + 1].isdigit():
                continue  # not the comma of "1,000"
        elif name and words and not capitals:
            tag = name if words[-1] != ":" else tag
        elif name and (is_unknown(word) or (mark in ACRONYMS and not shouting)):
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


def is_title(text: str, begin: int, end: int) -> bool:
    """Return whether all longer words between two offsets have a capital, as in a headline; these are not names."""
    if _LOWER.search(text, begin, end) or text.isupper():
        return False
    capitals = [match[0].lower() for match in _CAPITAL.finditer(text, begin, end)]
    if len(capitals) < _FEWEST_CAPITALS:
        return False
    if any(flags_of(word) & f.CLOSED and word != "i" for word in capitals[1:]):
        return True
    small = (flags_of(match[0]) for match in _SMALL.finditer(text, begin, end))
    return text[end - 1] not in ".?!" and all(tag & f.CLOSED and not tag & f.AUX for tag in small)
