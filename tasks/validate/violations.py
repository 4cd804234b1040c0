"""What a gate found to be wrong, gathered over the parts of a table and told in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

MOST_ROWS = 20
"""Rows that are kept of those that break one expectation."""

TOLD_ROWS = 5
"""Rows that are named of them."""


class Violation(TypedDict):
    """One expectation that does not hold."""

    expectation: str
    """What was expected, in words."""
    rows: list[str]
    """Keys of the rows that break it, at most `MOST_ROWS`; empty when it is not about single rows."""
    count: int
    """How many rows break it."""


def merged(violations: Iterable[Violation]) -> list[Violation]:
    """The violations of a table's parts, each expectation once."""
    found: dict[str, Violation] = {}
    for each in violations:
        name = each["expectation"]
        known = found.get(name, Violation(expectation=name, rows=[], count=0))
        rows = [*known["rows"], *each["rows"]][:MOST_ROWS]
        found[name] = Violation(expectation=name, rows=rows, count=known["count"] + each["count"])
    return list(found.values())


def told(violation: Violation) -> str:
    """A violation in words, with the first rows that break the expectation."""
    rows = ", ".join(violation["rows"][:TOLD_ROWS])
    more = violation["count"] - min(len(violation["rows"]), TOLD_ROWS)
    where = f" broken by {rows}{f' and {more} more' if more > 0 else ''}" if rows else " does not hold"
    return f"{violation['expectation']}{where}"
