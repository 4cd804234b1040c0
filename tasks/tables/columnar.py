"""Records as columns, and columns as records, in little memory.

The dataclass is the only place that lists its fields.
"""

from __future__ import annotations

import gc
import types
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

Item = TypeVar("Item")

_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def schema_of(kind: Any) -> pa.Schema:
    """The Arrow schema of a record."""
    return pa.schema([pa.field(name, _arrow_type(hint)) for name, hint in _hints(kind).items()])


def to_arrow(records: Iterable[Any], kind: Any, *, known: Mapping[str, Any] | None = None) -> pa.Table:
    """Records as an Arrow table.

    Args:
        records: of one dataclass.
        kind: that dataclass.
        known: fields whose columns are there already, as they were read: they need not be made again.
    """
    schema, there, rest = schema_of(kind), known or {}, list(records)
    columns = [
        there[name].cast(schema.field(name).type) if name in there else _column(rest, name, hint)
        for name, hint in _hints(kind).items()
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def from_arrow(table: pa.Table, kind: Any) -> list[Any]:
    """The records in an Arrow table that has a column for each of their fields, and perhaps others.

    Args:
        table: the columns.
        kind: a slotted dataclass; it has no `__post_init__`, since none would run.
    """
    with uncollected():
        return _records([table.column(name) for name in _hints(kind)], kind)


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Items in lists of `size`, the last one shorter."""
    rest = iter(items)
    while portion := _next(rest, size):
        yield portion


def _next(rest: Iterator[Item], size: int) -> list[Item]:
    with uncollected():
        return list(islice(rest, size))


def regrouped(parts: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of `rows`, the last one shorter."""
    kept: list[pa.Table] = []
    for part in parts:
        kept.append(part)
        while sum(map(len, kept)) >= rows:
            whole = pa.concat_tables(kept)
            yield whole.slice(0, rows).combine_chunks()
            kept = [whole.slice(rows)]
    if any(map(len, kept)):
        yield pa.concat_tables(kept).combine_chunks()


Rows = TypeVar("Rows", pa.Table, pa.ChunkedArray)


def fitted(part: Rows) -> Rows:
    """The same rows in no more memory than they fill: what reads texts asks for half as much again."""
    return part.take(pa.array(range(len(part)), pa.int64()))


FEW = 1_000
"""Different texts of a column up to which its rows share them."""


def frame_of(columns: Iterable[tuple[str, pa.ChunkedArray]]) -> Any:
    """Columns by their names as a frame of pandas, in two thirds of the memory that `to_pandas` fills.

    Rows share texts of which a column has few, and columns without any text one array.
    """
    import pandas as pd

    nothing: Any = None
    made = {}
    for name, column in columns:
        if not pa.types.is_string(column.type) or not len(column):
            made[name] = column.to_pandas()
        elif column.null_count < len(column):
            made[name] = _texts(column)
        else:
            made[name] = nothing = pd.Series([None] * len(column), dtype=object) if nothing is None else nothing
    return pd.DataFrame(made, copy=False)


def _texts(column: pa.ChunkedArray) -> Any:
    import pandas as pd

    shared = _shared_texts(column)
    return fitted(column).to_pandas() if shared is None else pd.Series(shared, dtype=object)


def _shared_texts(column: pa.ChunkedArray) -> Any:
    """(rows,) of objects, the same one for the same text; None where there are many."""
    import numpy as np

    texts: dict[str | None, None] = {}
    for chunk in column.chunks:
        texts |= dict.fromkeys(chunk.unique().to_pylist())
        if len(texts) > FEW:
            return None
    known = [text for text in texts if text is not None]
    # Where there is no text, the last one is taken, which is none.
    objects, among = np.array([*known, None], dtype=object), pa.array(known, pa.string())
    parts = (pc.index_in(chunk, value_set=among).fill_null(len(known)) for chunk in column.chunks)
    return np.concatenate([objects[part.to_numpy()] for part in parts])


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave new records alone: they hold no cycles, and looking for some takes as long as making them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    """Type of each field, in order."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _arrow_type(hint: Any) -> pa.DataType:
    if is_dataclass(hint):
        return pa.struct(list(schema_of(hint)))
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _arrow_type(next(arg for arg in args if arg is not type(None)))
    if origin is tuple:
        return pa.list_(_arrow_type(args[0]))
    if origin is Literal:
        return pa.string()
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return pa.map_(pa.string(), _arrow_type(args[1]))
    return _PLAIN[hint]


def _arrays(records: Sequence[Any], kind: Any) -> list[pa.Array]:
    """One array for each field: a column at a time, since a dictionary for each row takes several times as long."""
    return [_column(records, name, hint) for name, hint in _hints(kind).items()]


def _column(records: Sequence[Any], name: str, hint: Any) -> pa.Array:
    return _array(list(map(attrgetter(name), records)), hint)


def _array(values: list[Any], hint: Any) -> pa.Array:
    if is_dataclass(hint):
        return pa.StructArray.from_arrays(_arrays(values, hint), fields=list(schema_of(hint)))
    return pa.array(values, _arrow_type(hint))


def _records(columns: Sequence[Any], kind: Any) -> list[Any]:
    """Records filled a field at a time, as their columns come: calling a constructor takes three times as long."""
    made = [object.__new__(kind) for _ in range(len(columns[0]))]
    for column, (name, hint) in zip(columns, _hints(kind).items(), strict=True):
        deque(map(getattr(kind, name).__set__, made, _values(column, hint)), maxlen=0)
    return made


def _values(column: Any, hint: Any) -> list[Any]:
    """The cells of a column as the record holds them: tuples, not lists."""
    if is_dataclass(hint):
        parts = column.combine_chunks().flatten() if isinstance(column, pa.ChunkedArray) else column.flatten()
        return _records(parts, hint)
    cells: list[Any] = column.to_pylist()
    make = _maker(hint)
    if make is None:
        return cells
    return [None if cell is None else make(cell) for cell in cells] if column.null_count else list(map(make, cells))


def _maker(hint: Any) -> Any:
    """What a cell becomes; None where it stays what it is."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _maker(next(arg for arg in get_args(hint) if arg is not type(None)))
    if origin is tuple:
        return tuple
    return dict if isinstance(origin, type) and issubclass(origin, Mapping) else None
