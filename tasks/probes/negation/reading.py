"""Reads the last sentence of a text into words with their places and flags."""

from __future__ import annotations

import re
from dataclasses import dataclass

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.result import SkipError
from contrapose.tasks.probes.negation.words import words

_TOKEN = re.compile(r"(\w+(?:[-'\u2019]\w+)*)|[^\w\s]")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”\u2019)\]]*\s+(?=\S)|\n\s*(?=\S)")
_OPTION_LINE = re.compile(r"\n\s*\(?[A-Ha-h1-8][.):]\s[^\n]*\s*\Z")
_ABBREVIATIONS = words("mr mrs ms dr prof st no vs etc approx fig jr sr inc ltd co gen col capt cf al ca e.g i.e")
_CLOSERS = {'"': '"', "“": "”", "«": "»", "(": ")", "[": "]"}
_SINGLE = {"'": "'", "\u2018": "\u2019"}
_BREAKS = ",;:-\u2013—"


@dataclass(frozen=True, slots=True)
class Sentence:
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
    """Flags of each word (`tags.py`)."""
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


def read(text: str) -> Sentence:
    """Read the last sentence.

    Raises:
        SkipError: there is no word in it, its quotes do not balance, or it is a lettered option.
    """
    if "\n" in text and _OPTION_LINE.search(text):
        raise SkipError("options_in_text")
    begin = last_sentence(text)
    tail = text.rstrip().rstrip("\"'”\u2019)]")
    closed = tail.endswith((".", "!", "?", "…"))
    sentence = Sentence(text, [], [], [], [], tail.endswith("?"), closed)
    _fill(sentence, begin)
    if not any(word[0].isalnum() for word in sentence.words):
        raise SkipError("no_finite_verb" if any(map(str.isalnum, text)) else "empty")
    return sentence


def last_sentence(text: str) -> int:
    """Offset where the last sentence starts. Abbreviations and initials end no sentence."""
    begin = 0
    for found in _SENTENCE_END.finditer(text):
        if not (found[0].startswith(".") and _is_abbreviation(text[begin : found.start()])):
            begin = found.end()
    return begin


def _is_abbreviation(before: str) -> bool:
    last = before.rsplit(None, 1)[-1].lower().lstrip("(\"'“") if before.strip() else ""
    return last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha()) or "." in last


def _fill(sentence: Sentence, begin: int) -> None:
    known, text = t.table(), sentence.text
    words, starts, ends, flags = sentence.words, sentence.starts, sentence.ends, sentence.tags
    closer = opened = ""
    for found in _TOKEN.finditer(text, begin):
        mark = found[0]
        if closer:
            if mark == closer:
                if opened not in "([":
                    ends[-1] = found.end()
                closer = ""
            continue
        if not found[1]:
            closer, opened = _closer(mark, text, found), mark
            if not _counts(mark, closer, text[found.end() : found.end() + 1]):
                continue
            mark = '"' if closer else mark
        word = mark.lower()
        if "\u2019" in word:
            word = word.replace("\u2019", "'")
        words.append(word)
        starts.append(found.start())
        ends.append(found.end())
        flags.append(known.get(word) or _unknown(word))
    if closer:
        raise SkipError("unbalanced_quotes")


def _closer(mark: str, text: str, found: re.Match[str]) -> str:
    """The mark that ends what `mark` opens, or "" when it opens nothing."""
    if mark in "”»)]":
        raise SkipError("unbalanced_quotes")
    if mark in "'\u2018":
        return _SINGLE[mark] if _opens(text, found) else ""
    return _CLOSERS.get(mark, "")


def _counts(mark: str, closer: str, after: str) -> bool:
    """Whether a mark stands among the words: a quotation or a break, but no bracket and no "1,000"."""
    return mark not in "([" if closer else mark in _BREAKS and not after.isdigit()


def _opens(text: str, found: re.Match[str]) -> bool:
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    return (not before or before.isspace()) and not after.isspace() and after != ""


def _unknown(word: str) -> int:
    if word == '"':
        return t.QUOTED
    return t.NEG if word.endswith("n't") else 0
