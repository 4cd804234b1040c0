"""Findings of each expectation, gathered over the parts of a table; column types are checked on the schema."""

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
"""Upper bound of the rows kept as evidence of those that break one expectation."""
LONGEST = 200
"""Characters of a value that a finding repeats."""


@dataclass(slots=True, kw_only=True)
class ExpectationTally:
    """Findings of one expectation over the parts of a table."""

    expectation: Mapping[str, Any]
    """As its suite has it."""
    place: int
    """In its suite, from 1."""
    key: str
    """Column that names a row."""
    flags: frozenset[str]
    """Columns whose values say only that something is wrong."""
    holds: bool = True
    looked_at: int = 0
    observed: str = ""
    count: int = 0
    rows: list[BrokenRow] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """Numbers of the rows that are kept as evidence."""

    def add(self, seen: SeenRows, rows: pa.Table, *, first: int) -> None:
        """Add the findings of a part, whose first row has the number `first`."""
        self.holds &= seen.holds
        self.looked_at += seen.looked_at
        self.observed = seen.error or value_text(seen.observed) or self.observed
        self.count += seen.count
        names = [name for name in named_columns(self.expectation) if name not in self.flags]
        for number in seen.broken[: SHOWN_ROWS - len(self.rows)]:
            row = {name: to_plain(rows[name][number - first].as_py()) for name in (self.key, *names)}
            key = None if row[self.key] is None else str(row[self.key])
            self.rows.append(BrokenRow(row=number, key=key, values={name: row[name] for name in names}))
        self.numbers += seen.broken[: KEPT_ROWS - len(self.numbers)]

    def finding(self, suite: Suite) -> Finding:
        """Return the findings as plain data; an expectation without words is told by its type and arguments."""
        kind, kwargs, meta = self.expectation["type"], self.expectation["kwargs"], self.expectation["meta"]
        about = ", ".join(f"{name}: {value_text(value)}" for name, value in kwargs.items())
        words = kind.removeprefix("expect_").replace("_", " ") + (f" ({about})" if about else "")
        return Finding(
            suite=suite["source"],
            place=self.place,
            type=kind,
            kwargs=dict(kwargs),
            what=meta["what"] or words,
            why=meta["why"],
            blocks=self.expectation["severity"] == "critical",
            looked_at=self.looked_at,
            observed=self.observed,
            holds=self.holds,
            broken=self.count,
            rows=self.rows,
        )


def type_finding(suite: Suite, *, rows: int, wrong: Sequence[str]) -> Finding:
    """Return the finding about columns and types, which Arrow checks: Great Expectations sees types less reliably."""
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


def broken_numbers(tallies: Sequence[ExpectationTally]) -> dict[int, list[str]]:
    """Numbers of broken rows, with the columns (or types) of the expectations that each breaks."""
    reasons: dict[int, list[str]] = {}
    for tally in tallies:
        about = ", ".join(named_columns(tally.expectation)) or str(tally.expectation["type"])
        for number in tally.numbers:
            reasons.setdefault(number, []).append(about)
    return dict(sorted(reasons.items())[:KEPT_ROWS])


def value_text(value: Any) -> str:
    """Return a value in few characters; empty for None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(to_plain(value), ensure_ascii=False, default=str)[:LONGEST]


def to_plain(value: Any) -> Any:
    """Return a value as JSON has it: an infinite number by its name, NaN as None, a long text cut."""
    item = value.item() if hasattr(value, "item") and not isinstance(value, str) else value
    if isinstance(item, float) and not math.isfinite(item):
        return None if math.isnan(item) else str(item)
    if isinstance(item, str):
        return item[:LONGEST]
    if isinstance(item, Mapping):
        return {str(name): to_plain(part) for name, part in item.items()}
    if isinstance(item, list | tuple | set):
        return [to_plain(part) for part in list(item)[:20]]
    return item if item is None or isinstance(item, bool | int | float) else str(item)[:LONGEST]


def type_violations(observed: pa.Schema, expected: pa.Schema) -> list[str]:
    """Columns that are missing or of another type than expected, in words. Extra columns are allowed."""
    wrong = []
    for column in expected:
        index = observed.get_field_index(column.name)
        if index < 0:
            wrong.append(f"column {column.name} is missing")
        elif observed.field(index).type != column.type:
            wrong.append(f"column {column.name} is {observed.field(index).type}, expected {column.type}")
    return wrong
