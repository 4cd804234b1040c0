"""The header of a table, and the cells of a record under its names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.columns import refuse_wide
from contrapose.tasks.load.opening import failure
from contrapose.tasks.load.rows import Problem, Row, shown


def header(cells: Sequence[Any], source: str) -> list[str | None]:
    """Column names in their order; None for a column without one.

    Raises:
        DataError: there are no names, two columns share one, or they are too many.
    """
    refuse_wide(len(cells), source)
    names = [None if cell is None or not str(cell).strip() else str(cell).strip() for cell in cells]
    named = [name for name in names if name is not None]
    if not named:
        raise _refused(source, "row 1 holds no column names")
    twice = next((name for name, count in Counter(named).items() if count > 1), None)
    if twice is not None:
        raise _refused(source, f"two columns are called {shown(twice)}")
    return names


def row_of(number: int, cells: Sequence[Any], names: Sequence[str | None]) -> Row | None:
    """A record under its column names; None for an empty one."""
    if all(cell is None for cell in cells):
        return None
    if any(cell is not None for cell in cells[len(names) :]):
        problem = Problem(f"{len(cells)} fields", f"{len(names)} fields, as in the header")
        return Row(number=number, problem=problem)
    padded = [*cells, *[None] * (len(names) - len(cells))]
    pairs = zip(names, padded, strict=False)
    return Row(number=number, values={name: cell for name, cell in pairs if name is not None})


def _refused(source: str, observed: str) -> DataError:
    return failure(
        source, observed, expected="a header of distinct column names in row 1", remedy="Correct the header."
    )
