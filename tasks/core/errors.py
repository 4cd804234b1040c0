"""Errors that a user can fix: each shows the value found, the expected one, and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Self, TypeVar

MOST_SHOWN = 20


class ContraposeError(Exception):
    """One or several problems that the user can fix; each is shown as one line, never as a traceback.

    Args:
        observed: what was met, with its value.
        expected: what would have been right.
        remedy: what to do about it.
        where: file, row, column or configuration key, when there is one.
        others: further problems that were met at the same time.
        uncounted: how many more there are that nobody kept.
    """

    exit_code = 2

    def __init__(
        self,
        observed: str,
        *,
        expected: str,
        remedy: str,
        where: str = "",
        others: Sequence[ContraposeError] = (),
        uncounted: int = 0,
    ) -> None:
        self.found, self.expected, self.remedy, self.where = observed, expected, remedy, where
        self.others, self.uncounted = tuple(others), uncounted
        super().__init__(observed, expected, remedy, where)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return one line for each problem, and the number of problems left out after the first ones."""
        lines = [self.line(), *(other.line() for other in self.others)]
        rest = max(len(lines) - MOST_SHOWN, 0) + self.uncounted
        return lines[:MOST_SHOWN] + ([f"…and {rest} more such problems."] if rest else [])

    def line(self) -> str:
        """Return the line of the first problem."""
        place = f"{self.where}: " if self.where else ""
        line = f"{place}{self.found}; expected {self.expected}. {self.remedy}"
        return " ".join(line.split())

    def reworded(self, change: Callable[[str], str], *, remedy: Callable[[str], str] | None = None) -> Self:
        """Return the problems with texts changed by `change`, after `remedy` changed the remedies."""
        observed, expected, where = map(change, (self.found, self.expected, self.where))
        others = [other.reworded(change, remedy=remedy) for other in self.others]
        mended = change(remedy(self.remedy) if remedy else self.remedy)
        return type(self)(
            observed, expected=expected, remedy=mended, where=where, others=others, uncounted=self.uncounted
        )

    def _render_traceback_(self) -> list[str]:
        """Return the line that IPython shows in a notebook."""
        return [f"{type(self).__name__}: {self}"]

    def __reduce__(self) -> tuple[object, ...]:
        names = ("expected", "remedy", "where", "others", "uncounted")
        return (partial(type(self), **{name: getattr(self, name) for name in names}), (self.found,))


class ConfigError(ContraposeError):
    """A configuration file, option or environment variable is wrong."""


class DataError(ContraposeError):
    """A data source cannot be read, or has rows that cannot be used."""


class ModelError(ContraposeError):
    """A model cannot be opened or reached."""


class ComparisonError(ContraposeError):
    """Runs cannot be compared, because one is not finished or they asked different questions."""


class GateError(ContraposeError):
    """Great Expectations refused a table, so nothing was published."""

    exit_code = 4


class CutShortError(ContraposeError):
    """A run stopped without disk space or without its store; its results are kept, and a new start continues it."""

    exit_code = 4


class Problems:
    """Collector of the user's problems, so that one error shows all of them."""

    def __init__(self) -> None:
        self.errors: list[ContraposeError] = []

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """Keep an error that the user can fix and go on after the block; raise any other error."""
        try:
            yield
        except ContraposeError as error:
            if error.exit_code != ContraposeError.exit_code:
                raise
            self.errors.append(error)

    def refuse(self) -> None:
        """Raise all problems, each once, if there are any."""
        if self.errors:
            raise self.errors[0] if len(self.errors) == 1 else join_errors(self.errors)


Problem = TypeVar("Problem", bound=ContraposeError)


def join_errors(errors: Sequence[Problem], *, uncounted: int = 0) -> Problem:
    """Return one error of the first problem's type with all problems, each once, and a count of further ones."""
    distinct = list({str(error): error for error in errors}.values())
    every: list[ContraposeError] = []
    for error in distinct:
        every += [error, *error.others]
    single = {problem.line(): problem for problem in every}
    first, *others = single.values()
    return type(errors[0])(
        first.found,
        expected=first.expected,
        remedy=first.remedy,
        where=first.where,
        others=others,
        uncounted=uncounted + sum(error.uncounted for error in distinct),
    )


def suggest_name(name: str, known: Iterable[str], *, otherwise: str) -> str:
    """Return the remedy for an unknown name: a similar known name, or the remedy `otherwise`."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean {close[0]!r}?" if close else otherwise


def install_command(extra: str) -> str:
    """Return the command that installs an extra of Contrapose."""
    return f'pip install "contrapose[{extra}]"'


def require_package(*packages: str, extra: str, where: str) -> None:
    """Raise ConfigError if a setting needs a package that is not installed, with the extra that installs it."""
    for package in packages:
        if find_spec(package) is None:
            raise ConfigError(
                f"the package {package} is not installed",
                expected=f"it, which {where} needs",
                remedy=f"Install it with {install_command(extra)}.",
                where=where,
            )
