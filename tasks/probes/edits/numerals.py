"""The numbers of a sentence that may change: counts, measures, shares, years; not names, labels, dates or times."""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.reading import Sentence, flags_of

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
class NumberPart:
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


def chunks(s: Sentence) -> list[NumberPart]:
    """The chunks of a sentence, in order."""
    return [_chunk(match) for match in _CHUNK.finditer(s.text, s.starts[0]) if match.start() < s.ends[-1]]


def _chunk(match: re.Match[str]) -> NumberPart:
    front = match[0].lstrip(_BEFORE)
    core = front.rstrip(_BEHIND)
    return NumberPart(core=core, start=match.end() - len(front), marks=front[len(core) :])


def changeable(parts: list[NumberPart], i: int, s: Sentence) -> Amount | None:
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


def dates(parts: list[NumberPart], i: int, number: Amount) -> bool:
    """Whether the number at chunk `i` may be a year: four digits, and no plural behind them that they count."""
    if not is_year(number) or _in_date(parts, i, number):
        return is_year(number)
    behind = parts[i + 1].word if i + 1 < len(parts) and not parts[i].marks else ""
    # Where a mark stands alone there is no word.
    return not behind or flags_of(behind) & f.NOUN != f.PLURAL


def _in_date(parts: list[NumberPart], i: int, number: Amount) -> bool:
    """Whether the number at chunk `i` is the year of a date: "In 1969 Anna …", "July 4, 1776", "12 May 1903"."""
    if not i or not is_year(number):
        return False
    months = parts[i - 1].word in _MONTHS or parts[max(0, i - 2)].word in _MONTHS
    return months or (i == 1 and parts[0].word in _DATING)


def _labelled(parts: list[NumberPart], i: int, s: Sentence) -> bool:
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


def _is_name(chunk: NumberPart, *, first: bool) -> bool:
    """Whether a chunk is spelled as a name; the first word of a sentence must be no other word."""
    core = chunk.core
    if len(core) > 1 and core.isupper():
        return True
    if not core[:1].isupper():
        return core[1:2].isupper()  # "iPhone"
    return not first or not flags_of(chunk.word) & (f.CLOSED | f.BASE)


def _goes_on(parts: list[NumberPart], i: int, *, spelled: bool) -> bool:
    """Whether a number stands right beside it, as in "555 0134", "10 000", "2 1/2" or "thirty two"."""

    def alike(part: NumberPart) -> bool:
        return part.word in _NUMERALS if spelled else any(map(str.isdigit, part.core))

    before = i > 0 and not parts[i - 1].marks and alike(parts[i - 1])
    return before or (i + 1 < len(parts) and not parts[i].marks and alike(parts[i + 1]))


SPELLED = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
"""The numbers from two to twenty: all take a plural, so one may stand for another."""
_NUMERALS = _TENS.union(SPELLED)
_PLAIN = re.compile(r"(0|[1-9]\d{0,6}|[1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d{1,6}))?")
_YEARS = range(1000, 2101)
_LATEST = 1995
"""A year from here on is moved back, so that it does not end up in the future."""
_FURTHEST = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number as a text writes it."""

    units: int
    """Its value in units of its last decimal: 125 for "12.5"."""
    decimals: int = 0
    """Digits behind the point."""
    commas: bool = False
    """Whether commas separate its thousands."""
    spelled: bool = False
    """Whether it is a word."""

    @property
    def value(self) -> float:
        """The number itself."""
        return self.units / float(10**self.decimals)

    def written(self, units: int) -> str:
        """Another value, written the same way."""
        if self.spelled:
            return SPELLED[units - 2]
        return f"{units / 10**self.decimals:{',' if self.commas else ''}.{self.decimals}f}"


def amount(spelling: str) -> Amount | None:
    """The number that a word or figure means; None for what is none, or more than one: "7th", "1.2.3", "007"."""
    if spelling.lower() in SPELLED:
        return Amount(units=SPELLED.index(spelling.lower()) + 2, spelled=True)
    match = _PLAIN.fullmatch(spelling)
    if not match:
        return None
    whole, fraction = match[1].replace(",", ""), match[2] or ""
    return Amount(units=int(whole + fraction), decimals=len(fraction), commas="," in match[1])


def is_year(number: Amount) -> bool:
    """Whether a number may be a year."""
    return not number.decimals and not number.commas and number.units in _YEARS


def other_amount(number: Amount, low: float, high: float, *, year: bool, an: bool | None, rng: random.Random) -> str:
    """A different value strictly between `low` and `high`, or "" when there is none.

    Args:
        number: the value it replaces.
        low: bound below.
        high: bound above.
        year: whether it is a year, which moves by 1 to 30.
        an: whether "an" stands before it; None when no article does.
        rng: draws the value.
    """
    scale = 10**number.decimals
    values = _years(number.units, low) if year else _values(number)
    fitting = [units for units in values if low < units / scale < high and _keeps_form(number, units)]
    if an is not None:
        fitting = [units for units in fitting if takes_an(number.written(units)) == an]
    return number.written(rng.choice(fitting)) if fitting else ""


def takes_an(written: str) -> bool:
    """Whether "an" stands before a number: 8, 11, 18 and what starts with them when spoken."""
    whole = written.split(".")[0]
    thousands = whole.split(",")[0] if "," in whole else whole[: (len(whole) - 1) % 3 + 1]
    return written in ("eight", "eleven", "eighteen") or written.startswith("8") or thousands in ("11", "18")


def _years(units: int, low: float) -> Iterator[int]:
    last = units if units >= _LATEST and low < _YEARS.start else units + _FURTHEST
    return (year for year in range(units - _FURTHEST, last + 1) if year != units and year in _YEARS)


def _values(number: Amount) -> Iterator[int]:
    """Values a fifth to three fifths away, as round as the number."""
    step = _step(number.units)
    count = number.units // step
    near, far = max(1, -(-count // 5)), max(3, count * 3 // 5)
    return (sign * steps * step + number.units for steps in range(near, far + 1) for sign in (-1, 1))


def _step(units: int) -> int:
    """The power of ten that a number counts in: 1000 for 25,000, 10 for 100."""
    step = 1
    while units and units % (step * 10) == 0:
        step *= 10
    return step // 10 if step > 1 and units // step < 5 else step


def _keeps_form(number: Amount, units: int) -> bool:
    """Whether a value agrees with the same noun and is written as long: never 0 or 1, commas where there were some."""
    if number.spelled:
        return units in range(2, len(SPELLED) + 2)
    return units != 10**number.decimals and (not number.commas or units >= 1000 * 10**number.decimals)
