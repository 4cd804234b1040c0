"""Convert records to Arrow columns and back, in little memory.

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

Item = TypeVar("Item")

_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def schema_of(kind: Any) -> pa.Schema:
    """Return the Arrow schema of a record."""
    return pa.schema([pa.field(name, _find_arrow_type(hint)) for name, hint in _find_type_hints(kind).items()])


def to_arrow(records: Iterable[Any], kind: Any) -> pa.Table:
    """Return the records of one dataclass as an Arrow table."""
    rest = list(records)
    columns = [_to_column(rest, name, hint) for name, hint in _find_type_hints(kind).items()]
    return pa.Table.from_arrays(columns, schema=schema_of(kind))


def from_arrow(table: pa.Table, kind: Any) -> list[Any]:
    """Return the records of a slotted dataclass without `__post_init__` from a table that has at least its columns."""
    with garbage_collection_paused():
        return _to_records([table.column(name) for name in _find_type_hints(kind)], kind)


def split_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield items in lists of `size`, the last one shorter."""
    rest = iter(items)
    while True:
        with garbage_collection_paused():
            portion = list(islice(rest, size))
        if not portion:
            return
        yield portion


def regroup_rows(parts: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Yield the rows of tables in tables of `rows`, the last one shorter."""
    kept: list[pa.Table] = []
    for part in parts:
        kept.append(part)
        while sum(map(len, kept)) >= rows:
            whole = pa.concat_tables(kept)
            yield whole.slice(0, rows).combine_chunks()
            kept = [whole.slice(rows)]
    if any(map(len, kept)):
        yield pa.concat_tables(kept).combine_chunks()


def shrink_to_fit(part: pa.Table) -> pa.Table:
    """Return a copy of rows in no more memory than they fill, because readers of texts reserve 50 % more."""
    return part.take(pa.array(range(len(part)), pa.int64()))


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Pause garbage collection inside the context, because new records have no cycles and searching is slow."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
def _find_type_hints(kind: Any) -> Mapping[str, Any]:
    """Return the type of each field, in order, without None for optional fields."""
    hints = get_type_hints(kind)
    return {field.name: _strip_none(hints[field.name]) for field in fields(kind)}


def _strip_none(hint: Any) -> Any:
    """Return the type of the values of an optional field."""
    is_union = get_origin(hint) in (Union, types.UnionType)
    return next(arg for arg in get_args(hint) if arg is not type(None)) if is_union else hint


def _find_arrow_type(hint: Any) -> pa.DataType:
    """Return the Arrow type of a field."""
    hint = _strip_none(hint)
    if is_dataclass(hint):
        return pa.struct(list(schema_of(hint)))
    origin, args = get_origin(hint), get_args(hint)
    if origin is tuple:
        return pa.list_(_find_arrow_type(args[0]))
    if origin is Literal:
        return pa.string()
    return pa.map_(pa.string(), _find_arrow_type(args[1])) if _is_mapping(hint) else _PLAIN[hint]


def _is_mapping(hint: Any) -> bool:
    """Return whether a field is a mapping."""
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _to_column(records: Sequence[Any], name: str, hint: Any) -> pa.Array:
    """Return a field of records as an array, because a dictionary for each row is several times slower."""
    values = list(map(attrgetter(name), records))
    if not is_dataclass(hint):
        return pa.array(values, _find_arrow_type(hint))
    kind: Any = hint
    parts = [_to_column(values, part, inner) for part, inner in _find_type_hints(kind).items()]
    return pa.StructArray.from_arrays(parts, fields=list(schema_of(kind)))


def _to_records(columns: Sequence[Any], kind: Any) -> list[Any]:
    """Return records that are filled one field at a time, because their constructor is three times slower."""
    made = [object.__new__(kind) for _ in range(len(columns[0]))]
    for column, (name, hint) in zip(columns, _find_type_hints(kind).items(), strict=True):
        if is_dataclass(hint):
            struct = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            cells = _to_records(struct.flatten(), hint)
        else:
            cells = column.to_pylist()
        # Records hold tuples and dictionaries where Arrow has lists.
        make: Any = tuple if get_origin(hint) is tuple else dict if _is_mapping(hint) else None
        if make is not None:
            cells = [None if cell is None else make(cell) for cell in cells]
        deque(map(getattr(kind, name).__set__, made, cells), maxlen=0)
    return made
