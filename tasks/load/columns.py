"""Columns of tables: their names, and the cells of a record under them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_COLUMNS
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.opening import failure
from contrapose.tasks.load.rows import Problem, Row, shown


def to_decode(schema: pa.Schema, data: DataSettings) -> list[str]:
    """Columns of an Arrow table whose values are read: texts, numbers, truth values, lists and objects of these.

    Images, sounds and times are no part of a question, and some cannot be decoded; those that a setting names are read
    all the same.
    """
    named = {part.strip().partition(".")[0] for columns in data.columns.values() for part in columns.split(",")}
    named |= {data.slice_by or "", data.cluster_by or "", *data.columns.values()}
    return [field.name for field in schema if data.every_column or field.name in named or _is_plain(field.type)]


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _is_plain(kind.value_type)
    if pa.types.is_struct(kind):
        return all(_is_plain(kind.field(place).type) for place in range(kind.num_fields))
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return bool(text or number or pa.types.is_null(kind))


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


def refuse_wide(count: int, source: str) -> None:
    """Stop where a table has more columns than any that people make.

    Raises:
        DataError: it has.
    """
    if count > MOST_COLUMNS:
        remedy = "Leave out columns that are not needed."
        raise failure(source, f"{count:,} columns", expected=f"at most {MOST_COLUMNS:,}", remedy=remedy)


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
