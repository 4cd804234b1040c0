"""What the options of a stem are: truth values, or statements about the other options."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contrapose.tasks.probes.english.words import words

_TRUTHS = ({"yes", "no"}, {"true", "false"}, {"correct", "incorrect"}, {"right", "wrong"})
_MARKS = " .:;!()[]\"'"
_ALL = r"(?:all|none|both|neither|either|any|each|two|some|more than one|only one)"
_OTHERS = r"(?:the\s+)?(?:above|these|those|them|following|others?|options?|answers?|choices?|statements?|reasons?)"
_LETTER = r"\(?(?:[a-e]|[ivx]{1,4})\)?"
_NUMBER = r"\(?[1-5]\)?"
_JOINT = r"\s*(?:,|and|&|or|nor|,\s*and)\s*"
_BEFORE = r"(?:(?:both|only|neither|either)\s+)?(?:(?:statements?|options?)\s+)?"
_BEHIND = r"(?:\s+(?:only|alone|are\s+correct|are\s+true))"
_LISTS_SOME = re.compile(
    rf"{_BEFORE}{_LETTER}(?:{_JOINT}{_LETTER}){{0,4}}{_BEHIND}?|{_BEFORE}{_NUMBER}(?:{_JOINT}{_NUMBER}){{0,4}}{_BEHIND}"
)
_SAYS_ALL = re.compile(
    rf"{_ALL}(?:\s+(?:of\s+)?{_OTHERS}(?:\s+\w+)?)?(?:\s+(?:is|are)(?:\s+\w+)?|\s+(?:true|correct|false|wrong))?"
)
_LABEL = re.compile(r"\s*\(?[A-Ha-h1-8][.):]\s+")
_LONGEST = 60
_TRUTH = r"(?:true|false|yes|no|correct|incorrect)"
_TWO_TRUTHS = re.compile(rf"{_TRUTH}\s*[,;/|]?\s*(?:and\s+)?{_TRUTH}")
_LINKS = words("and or nor both only neither either alone , &")


def bare(option: str) -> str:
    """The option without a letter of its own before it: "B. iron" → "iron"."""
    label = _LABEL.match(option)
    return option[label.end() :] if label else option


def are_truth_values(options: Sequence[str]) -> bool:
    """Whether the options are "yes" and "no", or "true" and "false"."""
    return {option.strip(_MARKS).lower() for option in options} in _TRUTHS


def refer_to_others(option: str) -> bool:
    """Whether an option says which others are right, so that it cannot be wrong and right as they are.

    "All of the above", "Both A and C", "I only", "True, False".
    """
    if len(option) > _LONGEST:
        return False
    said = option.strip(" .").lower()
    if _SAYS_ALL.fullmatch(said) or _TWO_TRUTHS.fullmatch(said):
        return True
    return bool(_LISTS_SOME.fullmatch(said)) and not _LINKS.isdisjoint(said.replace(",", " , ").split())
