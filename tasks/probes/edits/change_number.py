"""The test change_number: change a number in the last sentence: "8 legs" → "11 legs"."""

from __future__ import annotations

import math
import random
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.reading import Sentence, UnreadableError, flags_of, read_sentence
from contrapose.tasks.language.sentence import Edit, apply_edits
from contrapose.tasks.probes.edits.base import NEEDS_SENTENCE, Edited, TextEdit

_CHUNK = re.compile(r"\S+")
_BEFORE = "$£€¥-\u2212~≈*_\"'“\u2018("
_BEHIND = ".,;!?…%°*_\"'”\u2019)"
_MONTHS = words("""
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
""")
_LABELS = words("""
    no nos nr number numbers chapter page pages room section figure fig table line version route highway bus
    platform gate flight type grade level class channel act scene volume vol part article unit exercise step episode
    phase stage model block building apartment code zip area lot item question option group season world war
""")
_NOT_BEFORE = words("""
    am pm a.m p.m o'clock o\u2019clock half halves third thirds quarter quarters fourths fifths sixths sevenths eighths
    ninths tenths
""")
_TENS = words("one twenty thirty forty fifty sixty seventy eighty ninety")
_UNITS = words("Celsius Fahrenheit Kelvin Newton Newtons Watt Watts Volt Volts Hz Pa Joule Joules Euro Euros Mb Gb")
_DATING = words("in since until")


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
class NumberPart:
    """A part of a sentence between two spaces."""

    core: str
    """It, without the marks around it."""
    start: int
    """Offset of the core in the text."""
    marks: str
    """The marks directly behind the core."""

    @property
    def word(self) -> str:
        """Return the core in lower case."""
        return self.core.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number, with the form in which a text writes it."""

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
        """Return the value of the number."""
        return self.units / float(10**self.decimals)

    @property
    def is_year(self) -> bool:
        """Return whether the number may be a year."""
        return not self.decimals and not self.commas and self.units in _YEARS

    def write(self, units: int) -> str:
        """Return another value in the same form."""
        if self.spelled:
            return SPELLED[units - 2]
        return f"{units / 10**self.decimals:{',' if self.commas else ''}.{self.decimals}f}"


def split_number_parts(s: Sentence) -> list[NumberPart]:
    """Split a sentence at its spaces, and return the parts in order."""
    parts = []
    for match in _CHUNK.finditer(s.text, s.starts[0]):
        if match.start() < s.ends[-1]:
            front = match[0].lstrip(_BEFORE)
            core = front.rstrip(_BEHIND)
            parts.append(NumberPart(core=core, start=match.end() - len(front), marks=front[len(core) :]))
    return parts


def parse_amount(spelling: str) -> Amount | None:
    """Parse a word or figure as a number; None if it is not exactly one number: "7th", "1.2.3", "007"."""
    if spelling.lower() in SPELLED:
        return Amount(units=SPELLED.index(spelling.lower()) + 2, spelled=True)
    match = _PLAIN.fullmatch(spelling)
    if not match:
        return None
    integer, fraction = match[1].replace(",", ""), match[2] or ""
    return Amount(units=int(integer + fraction), decimals=len(fraction), commas="," in match[1])


def find_changeable_number(parts: list[NumberPart], i: int, s: Sentence) -> Amount | None:
    """Return the number at part `i`; None if there is none, or it must not be changed."""
    number = parse_amount(parts[i].core)
    if number is None or (number.units == 1 and not number.decimals):
        return None
    token = bisect_left(s.starts, parts[i].start)
    if token == len(s.starts) or s.starts[token] != parts[i].start:
        return None
    if number.spelled and s.tags[token] & f.NAME:
        return None
    if _is_in_date(parts, i, number):
        return number
    return None if _is_labelled(parts, i, s) or _has_neighbour(parts, i, spelled=number.spelled) else number


def is_year_place(parts: list[NumberPart], i: int, number: Amount) -> bool:
    """Return whether the number at part `i` may be a year: four digits without a plural noun after them."""
    if not number.is_year or _is_in_date(parts, i, number):
        return number.is_year
    behind = parts[i + 1].word if i + 1 < len(parts) and not parts[i].marks else ""
    # Where a mark stands alone there is no word.
    return not behind or flags_of(behind) & f.NOUN != f.PLURAL


def _is_in_date(parts: list[NumberPart], i: int, number: Amount) -> bool:
    """Return whether the number at part `i` is the year of a date: "In 1969 Anna …", "July 4, 1776", "12 May 1903"."""
    if not i or not number.is_year:
        return False
    months = parts[i - 1].word in _MONTHS or parts[max(0, i - 2)].word in _MONTHS
    return months or (i == 1 and parts[0].word in _DATING)


def _is_labelled(parts: list[NumberPart], i: int, s: Sentence) -> bool:
    """Return whether the number is part of a name, label, date or time: "Apollo 11", "room 12", "4 July", "9 am"."""
    before = parts[i - 1] if i else None
    if before is not None:
        core, is_name = before.core, True
        if len(core) < 2 or not core.isupper():
            if not core[:1].isupper():
                is_name = core[1:2].isupper()  # "iPhone"
            elif i == 1:  # the first word of a sentence must be no other word
                is_name = not flags_of(before.word) & (f.CLOSED | f.BASE)
        if before.word in _LABELS or (is_name and not s.text.isupper()):
            return not (before.marks and before.word not in _LABELS)
    if i + 1 == len(parts) or parts[i].marks not in ("", "%", "°"):
        return False
    behind = parts[i + 1]
    named = behind.core[:1].isupper() and behind.core[1:2].islower() and behind.core not in _UNITS
    return behind.word in _NOT_BEFORE or named


def _has_neighbour(parts: list[NumberPart], i: int, *, spelled: bool) -> bool:
    """Return whether the part before or after is a number: "555 0134", "10 000", "2 1/2", "thirty two"."""

    def is_number(part: NumberPart) -> bool:
        return part.word in _NUMERALS if spelled else any(map(str.isdigit, part.core))

    before = i > 0 and not parts[i - 1].marks and is_number(parts[i - 1])
    return before or (i + 1 < len(parts) and not parts[i].marks and is_number(parts[i + 1]))


def draw_amount(number: Amount, low: float, high: float, *, year: bool, an: bool | None, rng: random.Random) -> str:
    """Draw a different value strictly between `low` and `high`; "" if there is none."""
    units, scale = number.units, 10**number.decimals
    if year:
        last = units if units >= _LATEST and low < _YEARS.start else units + _FURTHEST
        values = [year for year in range(units - _FURTHEST, last + 1) if year != units and year in _YEARS]
    else:
        # A fifth to three fifths away, as round as the number: it counts in thousands in 25,000, in tens in 100.
        step = 1
        while units and units % (step * 10) == 0:
            step *= 10
        step = step // 10 if step > 1 and units // step < 5 else step
        count = units // step
        away = range(max(1, -(-count // 5)), max(3, count * 3 // 5) + 1)
        values = [sign * steps * step + units for steps in away for sign in (-1, 1)]
    fitting = []
    for value in values:
        # It agrees with the same noun and is written as long: never 0 or 1, commas where there were some.
        keeps_form = value != scale and (not number.commas or value >= 1000 * scale)
        if number.spelled:
            keeps_form = value in range(2, len(SPELLED) + 2)
        if low < value / scale < high and keeps_form and an in (None, is_read_with_an(number.write(value))):
            fitting.append(value)
    return number.write(rng.choice(fitting)) if fitting else ""


def is_read_with_an(written: str) -> bool:
    """Return whether a number needs "an": 8, 11, 18 and numbers that start with them in speech."""
    integer = written.split(".")[0]
    thousands = integer.split(",")[0] if "," in integer else integer[: (len(integer) - 1) % 3 + 1]
    return written in ("eight", "eleven", "eighteen") or written.startswith("8") or thousands in ("11", "18")


_ROUGH = words("about approximately around roughly nearly almost over under least most than some the these those")
_JOINTS = words("to and of out in or through until than from")
_PERCENT = words("percent per percentage")
_REACH = 4
_SPELLED = frozenset(SPELLED)


class ChangeNumber(TextEdit):
    """Changes the last number of the last sentence."""

    name: ClassVar[str] = "change_number"
    version: ClassVar[str] = "6"
    summary: ClassVar[str] = "Changes a number of the text; the answer should change."
    edits_english: ClassVar[bool] = True
    skip_reasons: ClassVar[Mapping[str, str]] = {
        **NEEDS_SENTENCE,
        "no_number": "without a number in the last sentence",
        "number_left_alone": "without a number that can be changed safely",
    }

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Return the text with its last changeable number changed to a random one."""
        try:
            s = read_sentence(text)
        except UnreadableError as error:
            return Edited(reason="no_number" if error.reason == "no_word" else error.reason)
        if not any(tag & f.NUMBER for tag in s.tags) and _SPELLED.isdisjoint(s.words):
            return Edited(reason="no_number")
        parts = split_number_parts(s)
        for i in reversed(range(len(parts))):
            part, before = parts[i], parts[i - 1].word if i else ""
            if (number := find_changeable_number(parts, i, s)) is None:
                continue
            low, high = _find_limits(parts, i, number)
            an = before == "an" if before in ("a", "an") else None
            new = draw_amount(number, low, high, year=is_year_place(parts, i, number), an=an, rng=rng)
            if not new:
                continue
            # A number word takes the case of the one that it replaces.
            new = new.upper() if s.text.isupper() else new.capitalize() if part.core[0].isupper() else new
            # Another number in a statement that may be false already need not make it true.
            doubtful = before in _ROUGH or s.text.lower().lstrip().startswith("true or false")
            edit = Edit(part.start, part.start + len(part.core), new)
            return Edited(text=apply_edits(s.text, [edit]), confidence="medium" if doubtful else "high")
        return Edited(reason="number_left_alone")


def _find_limits(parts: list[NumberPart], i: int, number: Amount) -> tuple[float, float]:
    """Return the open interval for the new number, which keeps a percentage below 100 and "from 5 to 10" in order."""
    low, high = 0.0, math.inf
    behind = parts[i + 1] if i + 1 < len(parts) else None
    separate_sign = behind is not None and not behind.core and behind.marks.startswith("%")
    is_percent = parts[i].marks.startswith("%") or separate_sign or (behind is not None and behind.word in _PERCENT)
    if is_percent and number.value <= 100:
        high = 100.0
    elif number.decimals and number.value < 1:
        high = 1.0
    if i and parts[i - 1].word in _JOINTS:
        near = (parse_amount(part.core) for part in reversed(parts[max(0, i - _REACH) : i]))
        other = next((nearby.value for nearby in near if nearby), None)
        if other is not None and other < number.value:
            low = other
        elif other is not None and other > number.value:
            high = min(high, other)
    return low, high
