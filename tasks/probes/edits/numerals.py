"""The numbers of a sentence that may change: counts, measures, shares, years; not names, labels, dates or times."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from contrapose.tasks.probes.edits.amounts import SPELLED, Amount, amount, is_year
from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.reading import Sentence, flags_of
from contrapose.tasks.probes.english.words import words

_CHUNK = re.compile(r"\S+")
_BEFORE = "$£€¥-\u2212~≈*_\"'“\u2018("
_BEHIND = ".,;!?…%°*_\"'”\u2019)"
_MONTHS = words(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    """
)
_LABELS = words(
    """
    no nos nr number numbers chapter page pages room section figure fig table line version route highway bus
    platform gate flight type grade level class channel act scene volume vol part article unit exercise step episode
    phase stage model block building apartment code zip area lot item question option group season world war
    """
)
_NOT_BEFORE = words(
    """
    am pm a.m p.m o'clock o\u2019clock half halves third thirds quarter quarters fourths fifths sixths sevenths eighths
    ninths tenths
    """
)
_TENS = words("one twenty thirty forty fifty sixty seventy eighty ninety")
_UNITS = words("Celsius Fahrenheit Kelvin Newton Newtons Watt Watts Volt Volts Hz Pa Joule Joules Euro Euros Mb Gb")
_DATING = words("in since until")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """What stands between two spaces of a text."""

    core: str
    """It, without the marks around it."""
    start: int
    """Offset of the core in the text."""
    marks: str
    """The marks directly behind the core."""

    @property
    def word(self) -> str:
        """The core in lower case."""
        return self.core.lower()


def chunks(s: Sentence) -> list[Chunk]:
    """The chunks of a sentence, in order."""
    return [_chunk(found) for found in _CHUNK.finditer(s.text, s.starts[0]) if found.start() < s.ends[-1]]


def _chunk(found: re.Match[str]) -> Chunk:
    front = found[0].lstrip(_BEFORE)
    core = front.rstrip(_BEHIND)
    return Chunk(core=core, start=found.end() - len(front), marks=front[len(core) :])


def changeable(parts: list[Chunk], i: int, s: Sentence) -> Amount | None:
    """The number at chunk `i`; None where there is none, or one that is left alone."""
    number = amount(parts[i].core)
    if number is None or (number.units == 1 and not number.decimals):
        return None
    token = bisect_left(s.starts, parts[i].start)
    if token == len(s.starts) or s.starts[token] != parts[i].start:
        return None
    if number.spelled and s.tags[token] & f.NAME:
        return None
    if _in_date(parts, i, number):
        return number
    return None if _labelled(parts, i, s) or _goes_on(parts, i, spelled=number.spelled) else number


def dates(parts: list[Chunk], i: int, number: Amount) -> bool:
    """Whether the number at chunk `i` may be a year: four digits, and no plural behind them that they count."""
    if not is_year(number) or _in_date(parts, i, number):
        return is_year(number)
    counts = i + 1 < len(parts) and not parts[i].marks and flags_of(parts[i + 1].word) & f.NOUN == f.PLURAL
    return not counts


def _in_date(parts: list[Chunk], i: int, number: Amount) -> bool:
    """Whether the number at chunk `i` is the year of a date: "In 1969 Anna …", "July 4, 1776", "12 May 1903"."""
    if not i or not is_year(number):
        return False
    months = parts[i - 1].word in _MONTHS or parts[max(0, i - 2)].word in _MONTHS
    return months or (i == 1 and parts[0].word in _DATING)


def _labelled(parts: list[Chunk], i: int, s: Sentence) -> bool:
    """Whether the number belongs to a name, a label, a date or a time: "Apollo 11", "room 12", "4 July", "9 am"."""
    if i and (parts[i - 1].word in _LABELS or (_is_name(parts[i - 1], first=i == 1) and not _shouts(s.text))):
        return not (parts[i - 1].marks and parts[i - 1].word not in _LABELS)
    if i + 1 == len(parts) or parts[i].marks not in ("", "%", "°"):
        return False
    behind = parts[i + 1]
    named = behind.core[:1].isupper() and behind.core[1:2].islower() and behind.core not in _UNITS
    return behind.word in _NOT_BEFORE or named


@lru_cache(maxsize=8)
def _shouts(text: str) -> bool:
    """Whether a text is all in capitals; asked for every number of a text, and read once."""
    return text.isupper()


def _is_name(chunk: Chunk, *, first: bool) -> bool:
    """Whether a chunk is spelled as a name; the first word of a sentence must be no other word."""
    core = chunk.core
    if len(core) > 1 and core.isupper():
        return True
    if not core[:1].isupper():
        return core[1:2].isupper()  # "iPhone"
    return not first or not flags_of(chunk.word) & (f.CLOSED | f.BASE)


def _goes_on(parts: list[Chunk], i: int, *, spelled: bool) -> bool:
    """Whether a number stands right beside it, as in "555 0134", "10 000", "2 1/2" or "thirty two"."""
    alike = _is_numeral if spelled else _has_digit
    before = i > 0 and not parts[i - 1].marks and alike(parts[i - 1])
    return before or (i + 1 < len(parts) and not parts[i].marks and alike(parts[i + 1]))


def _has_digit(chunk: Chunk) -> bool:
    return any(map(str.isdigit, chunk.core))


def _is_numeral(chunk: Chunk) -> bool:
    return chunk.word in _TENS or chunk.word in SPELLED
