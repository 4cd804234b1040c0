"""Errors a user can cause: each says what was found, what was expected and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import partial


class ContraposeError(Exception):
    """A problem that the user can mend; shown as one line, never as a traceback.

    Args:
        observed: what was met, with its value.
        expected: what would have been right.
        remedy: what to do about it.
        where: file, row, column or configuration key, when there is one.
    """

    exit_code = 2

    def __init__(self, observed: str, *, expected: str, remedy: str, where: str = "") -> None:
        self.found, self.expected, self.remedy, self.where = observed, expected, remedy, where
        super().__init__(observed, expected, remedy, where)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        line = f"{place}{self.found}; expected {self.expected}. {self.remedy}"
        return " ".join(line.split())

    def _render_traceback_(self) -> list[str]:
        """Called by IPython: a notebook shows the line alone."""
        return [f"{type(self).__name__}: {self}"]

    def __reduce__(self) -> tuple[object, ...]:
        kept = {"expected": self.expected, "remedy": self.remedy, "where": self.where}
        return (partial(type(self), **kept), (self.found,))


class ConfigError(ContraposeError):
    """A configuration file, option or environment variable is wrong."""


class DataError(ContraposeError):
    """A data source cannot be read, or holds rows that cannot be used."""


class ModelError(ContraposeError):
    """A model cannot be opened or reached."""


class ComparisonError(ContraposeError):
    """Runs cannot be compared: one is not finished, or they did not ask the same."""


class GateError(ContraposeError):
    """Great Expectations refused a table: nothing was published."""

    exit_code = 4


class CutShortError(ContraposeError):
    """A run could not go on, for want of room or of its store: what it has is kept, and it goes on when begun again."""

    exit_code = 4


def meant(name: str, known: Iterable[str], *, otherwise: str) -> str:
    """The remedy for an unknown name.

    Args:
        name: that is unknown.
        known: names that there are.
        otherwise: the remedy where none of them is like it.
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean {close[0]!r}?" if close else otherwise
