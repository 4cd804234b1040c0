"""Records of validation: suites of expectations, and the findings that tasks return and reports show."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal, TypedDict, get_args

from contrapose.tasks.tables.table import Table

Kind = Literal["samples", "cases", "completions", "results"]
"""The tables that are validated, in the order of the corridor."""
KINDS: tuple[Kind, ...] = get_args(Kind)
SHOWN_ROWS = 20
"""Rows that are kept by name of those that break one expectation."""
TOLD_ROWS = 5
"""Rows that an error names of them."""


class SuiteFile(TypedDict):
    """The file that a suite was read from."""

    file: str
    """Its name, without folders."""
    sha256: str
    """Of its bytes."""
    own: bool
    """Whether the user added it."""


class Suite(TypedDict):
    """The expectations of one file, in Great Expectations' own format."""

    source: SuiteFile
    table: Kind
    """What it is about."""
    tests: list[str]
    """Tests that it is about; empty: all."""
    expectations: list[dict[str, Any]]
    """Each with `type` and `kwargs`, and perhaps `meta`, `severity` and `description`."""


class BrokenRow(TypedDict):
    """A row that breaks an expectation."""

    row: int
    """Its number in the table, from 1."""
    key: str | None
    """Its id; None if that is missing."""
    values: dict[str, Any]
    """What is there, by column; empty if the columns only say that something is wrong."""


class Finding(TypedDict):
    """The result of one expectation for one table."""

    suite: SuiteFile
    place: int
    """In its suite, from 1."""
    type: str
    kwargs: dict[str, Any]
    what: str
    """What is expected, in words."""
    why: str
    """What it is good for; may be empty."""
    blocks: bool
    """Whether it stops the run when it does not hold."""
    looked_at: int
    """Rows."""
    observed: str
    """The measured value if there is one; else empty."""
    holds: bool
    broken: int
    """Number of rows that break it; 0 if it is not about single rows."""
    rows: list[BrokenRow]
    """The first of them."""


class Checked(TypedDict):
    """The results of one table of one test for all its suites."""

    test: str
    table: Kind
    rows: int
    findings: list[Finding]
    broken: Table | None
    """Rows that break an expectation, with the columns `row` and `broken` before their own; None: there are none."""


def blocking_findings(checked: Checked) -> list[Finding]:
    """Return the findings that stop the run."""
    return [finding for finding in checked["findings"] if finding["blocks"] and not finding["holds"]]


def describe_finding(finding: Finding, show: Callable[[str], str] = str) -> str:
    """Return a broken expectation in words, with its first rows; `show` makes unknown texts safe to display."""
    kwargs = finding["kwargs"]
    columns = [kwargs[key] for key in ("column", "column_A", "column_B") if key in kwargs]
    names = ", ".join(map(str, dict.fromkeys([*columns, *kwargs.get("column_list", ())])))
    expected = finding["what"].rstrip(".") + (f" ({names})" if names else "")
    rows = ", ".join(describe_row(row, show) for row in finding["rows"][:TOLD_ROWS])
    more = finding["broken"] - min(len(finding["rows"]), TOLD_ROWS)
    if rows:
        return f"{expected}: broken by {rows}{f' and {more} more' if more > 0 else ''}"
    return f"{expected}: found {show(finding['observed']) or 'otherwise'}"


def describe_row(row: BrokenRow, show: Callable[[str], str] = str) -> str:
    """Return a row in words by its id, or by its number if it has no id, with its values."""
    if row["key"] is None:
        return f"row {row['row']}"

    def in_words(value: Any) -> str:
        plain = "nothing" if value is None else value
        return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)

    values = ", ".join(f"{column} {show(in_words(value))}" for column, value in row["values"].items())
    return f"{show(row['key'])} [{values}]" if values else show(row["key"])
