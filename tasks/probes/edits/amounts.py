"""Other values for a number, written as the number is."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

SPELLED = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
"""The numbers from two to twenty: all take a plural, so one may stand for another."""
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
    found = _PLAIN.fullmatch(spelling)
    if not found:
        return None
    whole, fraction = found[1].replace(",", ""), found[2] or ""
    return Amount(units=int(whole + fraction), decimals=len(fraction), commas="," in found[1])


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
    fitting = [each for each in values if low < each / scale < high and _keeps_form(number, each)]
    if an is not None:
        fitting = [each for each in fitting if takes_an(number.written(each)) == an]
    return number.written(rng.choice(fitting)) if fitting else ""


def takes_an(written: str) -> bool:
    """Whether "an" stands before a number: 8, 11, 18 and what starts with them when spoken."""
    whole = written.split(".")[0]
    thousands = whole.split(",")[0] if "," in whole else whole[: (len(whole) - 1) % 3 + 1]
    return written in ("eight", "eleven", "eighteen") or written.startswith("8") or thousands in ("11", "18")


def _years(units: int, low: float) -> Iterator[int]:
    last = units if units >= _LATEST and low < _YEARS.start else units + _FURTHEST
    return (each for each in range(units - _FURTHEST, last + 1) if each != units and each in _YEARS)


def _values(number: Amount) -> Iterator[int]:
    """Values a fifth to three fifths away, as round as the number."""
    step = _step(number.units)
    count = number.units // step
    near, far = max(1, -(-count // 5)), max(3, count * 3 // 5)
    return (sign * each * step + number.units for each in range(near, far + 1) for sign in (-1, 1))


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
