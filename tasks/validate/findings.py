"""What was found of each expectation, gathered over the parts of a table; column types are checked on the schema."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from contrapose.tasks.core.validation import SHOWN_ROWS, BrokenRow, Finding, Suite
from contrapose.tasks.validate.expectations import SeenRows
from contrapose.tasks.validate.suites import named_columns

KEPT_ROWS = 10_000
"""Rows that are kept as evidence of those that break one expectation."""
LONGEST = 200
"""Characters of a value that a finding repeats."""


@dataclass(slots=True, kw_only=True)
class ExpectationTally:
    """What the parts of a table say of one expectation."""

    expectation: Mapping[str, Any]
    """As its suite has it."""
    place: int
    """In its suite, from 1."""
    key: str
    """Column that names a row."""
    flags: frozenset[str]
    """Columns whose values say nothing but that something is wrong."""
    holds: bool = True
    looked_at: int = 0
    observed: str = ""
    count: int = 0
    rows: list[BrokenRow] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """Of the rows that are kept as evidence."""

    def add(self, seen: SeenRows, rows: pa.Table, *, first: int) -> None:
        """Add what is said of a part, whose first row has the number `first`."""
        self.holds &= seen.holds
        self.looked_at += seen.looked_at
        self.observed = seen.error or shown(seen.observed) or self.observed
        self.count += seen.count
        self.rows += [self._row(number, rows, first) for number in seen.broken[: SHOWN_ROWS - len(self.rows)]]
        self.numbers += seen.broken[: KEPT_ROWS - len(self.numbers)]

    @property
    def about(self) -> str:
        """The columns that the expectation looks at, or its type where it looks at none."""
        return ", ".join(named_columns(self.expectation)) or str(self.expectation["type"])

    def finding(self, suite: Suite) -> Finding:
        """All of it, as plain data."""
        meta = self.expectation["meta"]
        return Finding(
            suite=suite["source"],
            place=self.place,
            type=self.expectation["type"],
            kwargs=dict(self.expectation["kwargs"]),
            what=meta["what"] or self._in_words(),
            why=meta["why"],
            blocks=self.expectation["severity"] == "critical",
            looked_at=self.looked_at,
            observed=self.observed,
            holds=self.holds,
            broken=self.count,
            rows=self.rows,
        )

    def _in_words(self) -> str:
        """The expectation's own name and arguments, where nobody put it into words."""
        words = self.expectation["type"].removeprefix("expect_").replace("_", " ")
        about = ", ".join(f"{name}: {shown(value)}" for name, value in self.expectation["kwargs"].items())
        return f"{words} ({about})" if about else words

    def _row(self, number: int, rows: pa.Table, first: int) -> BrokenRow:
        def value(name: str) -> Any:
            return _plain(rows[name][number - first].as_py())

        key = value(self.key)
        values = {name: value(name) for name in named_columns(self.expectation) if name not in self.flags}
        return BrokenRow(row=number, key=None if key is None else str(key), values=values)


def type_finding(suite: Suite, *, rows: int, wrong: Sequence[str]) -> Finding:
    """Whether a table has the right columns, of the right types, before the findings of the project's own suite.

    It is a finding like any other; Great Expectations sees types less reliably.
    """
    return Finding(
        suite=suite["source"],
        place=0,
        type="arrow_schema",
        kwargs={},
        what="Every column is there, and of its type.",
        why="The files of a run can be read by the same code as those of any other.",
        blocks=True,
        looked_at=rows,
        observed="; ".join(wrong),
        holds=not wrong,
        broken=0,
        rows=[],
    )


def numbered(tallies: Sequence[ExpectationTally]) -> dict[int, list[str]]:
    """The numbers of broken rows, and of each what the expectations that it breaks are about."""
    reasons: dict[int, list[str]] = {}
    for tally in tallies:
        for number in tally.numbers:
            reasons.setdefault(number, []).append(tally.about)
    return dict(sorted(reasons.items())[:KEPT_ROWS])


def shown(value: Any) -> str:
    """A value in few characters; empty where there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False, default=str)[:LONGEST]


def _plain(value: Any) -> Any:
    """A value as JSON has it; what is no finite number is told by its name, a long text cut."""
    item = value.item() if hasattr(value, "item") and not isinstance(value, str) else value
    if isinstance(item, float) and not math.isfinite(item):
        return None if math.isnan(item) else str(item)
    if isinstance(item, str):
        return item[:LONGEST]
    if isinstance(item, Mapping):
        return {str(name): _plain(part) for name, part in item.items()}
    if isinstance(item, list | tuple | set):
        return [_plain(part) for part in list(item)[:20]]
    return item if item is None or isinstance(item, bool | int | float) else str(item)[:LONGEST]


def type_violations(observed: pa.Schema, expected: pa.Schema) -> list[str]:
    """What is missing or of another type than expected; empty when all is well. Extra columns are allowed."""
    wrong = []
    for column in expected:
        index = observed.get_field_index(column.name)
        if index < 0:
            wrong.append(f"column {column.name} is missing")
        elif observed.field(index).type != column.type:
            wrong.append(f"column {column.name} is {observed.field(index).type}, expected {column.type}")
    return wrong
