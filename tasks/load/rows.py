"""One row of a data source as it was read, before anything is known about its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SHOWN = 80
"""Characters of a value that an error shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row, or what is wrong with it."""

    number: int
    """1-based, as a person counts in that file: the line of a JSONL file, the record of a JSON list,
    a Parquet file or a dataset, the row of a CSV file or sheet with its header as row 1."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Column name to value."""
    problem: Problem | None = None
    """Why the row could not be read; `values` is empty then."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one row or cell, in the words of an error."""

    observed: str
    """What was met, with its value; reads on after "row 7: "."""
    expected: str
    """What would have been right."""
    column: str | None = None
    """Where it was met; None where it is the whole row."""
    remedy: str = "Correct that row"
    """What to do about it, without the full stop."""
    also: tuple[Problem, ...] = ()
    """What else is wrong with the same row."""


@dataclass(frozen=True, slots=True)
class Omission:
    """Why a row that is in order has no sample, such as a pair whose judges call it a tie."""

    reason: str
    """Follows a count of rows: `3 rows: a tie`."""


class Unfit(Exception):  # noqa: N818 - it never leaves this room; what users see is a DataError
    """A cell that cannot be used."""

    def __init__(self, observed: str, *, expected: str) -> None:
        """Take the words of the error to come."""
        super().__init__(observed)
        self.problem = Problem(observed, expected)


def shown(value: object) -> str:
    """A value as an error quotes it: one line, at most 80 characters, control characters escaped."""
    whole = repr(value[: SHOWN + 1] if isinstance(value, str) else value)
    return whole if len(whole) <= SHOWN else whole[: SHOWN - 1] + "…"


def listed(names: Sequence[object], *, most: int = 12) -> str:
    """Names as an error lists them, with a count of those left out."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(shown(name) for name in names[:most]) or "none") + rest


def escaped(text: str, *, most: int = 300) -> str:
    """Text without quotes around it, such as a path: control characters escaped, cut when very long."""
    safe = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text[:most])
    return "".join(safe) + ("…" if len(text) > most else "")
