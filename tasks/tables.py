"""Tables travel between rooms by reference: a Parquet file named by its content."""

from __future__ import annotations

import hashlib
import io
import os
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.errors import ContraposeError

Record = TypeVar("Record")

_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


class Table(TypedDict):
    """A reference to a Parquet file. It is plain JSON, so it hashes, caches and travels as it is."""

    uri: str
    """Where the file lies: a path or any fsspec URL."""
    sha256: str
    """Of the file's bytes; checked whenever it is read."""
    rows: int
    """Number of rows."""


def home() -> Path:
    """Folder of cached tables, results and converted models: `CONTRAPOSE_HOME` or the user's cache."""
    chosen = os.environ.get("CONTRAPOSE_HOME")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "contrapose"


def storage() -> str:
    """Folder or fsspec URL that holds tables: `CONTRAPOSE_STORAGE` or a folder in `home()`."""
    return os.environ.get("CONTRAPOSE_STORAGE") or str(home() / "tables")


def write_arrow(data: pa.Table) -> Table:
    """Store an Arrow table under the hash of its bytes; storing the same rows twice is harmless."""
    buffer = io.BytesIO()
    pq.write_table(data, buffer, compression="zstd")
    content = buffer.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    files, folder = fsspec.core.url_to_fs(storage())
    uri = f"{storage().rstrip('/')}/{digest}.parquet"
    path = f"{folder.rstrip('/')}/{digest}.parquet"
    if not files.exists(path):
        files.makedirs(folder, exist_ok=True)
        # A half-written file must never carry the final name.
        files.pipe_file(f"{path}.{os.getpid()}.part", content)
        files.mv(f"{path}.{os.getpid()}.part", path)
    return Table(uri=uri, sha256=digest, rows=data.num_rows)


def read_arrow(table: Table) -> pa.Table:
    """The rows behind a reference.

    Raises:
        ContraposeError: the file is gone or is not what was stored.
    """
    try:
        with fsspec.open(table["uri"], "rb") as file:
            content = cast(bytes, file.read())
    except OSError as error:
        raise _lost(table, f"stored table cannot be read ({type(error).__name__})") from error
    if hashlib.sha256(content).hexdigest() != table["sha256"]:
        raise _lost(table, "stored table has changed since it was written")
    return pq.read_table(io.BytesIO(content))


def _lost(table: Table, found: str) -> ContraposeError:
    return ContraposeError(
        found,
        expected=f"{table['rows']} rows with sha256 {table['sha256'][:12]}…",
        remedy="Run again with --refresh: the cache was emptied or edited in part.",
        where=table["uri"],
    )


def intact(table: Table) -> bool:
    """Whether the file behind a reference is there."""
    files, path = fsspec.core.url_to_fs(table["uri"])
    return bool(files.exists(path))


def write(records: Sequence[Any], kind: type[Any]) -> Table:
    """Store records of one dataclass."""
    return write_arrow(to_arrow(records, kind))


def read(table: Table, kind: type[Record]) -> list[Record]:
    """The records behind a reference, of the dataclass they were written from."""
    return [cast(Record, _build(kind, row)) for row in read_arrow(table).to_pylist()]


def to_arrow(records: Iterable[Any], kind: Any) -> pa.Table:
    """Records as an Arrow table whose schema is the dataclass's own."""
    return pa.Table.from_pylist([asdict(record) for record in records], schema=schema_of(kind))


@cache
def schema_of(kind: Any) -> pa.Schema:
    """The Arrow schema of a record: the dataclass is the only place that lists its fields."""
    hints = get_type_hints(kind)
    return pa.schema([pa.field(each.name, _arrow_type(hints[each.name])) for each in fields(kind)])


def _arrow_type(hint: Any) -> pa.DataType:
    if is_dataclass(hint):
        return pa.struct(list(schema_of(cast(Any, hint))))
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


def _build(kind: Any, row: Mapping[str, Any]) -> Any:
    return kind(**{name: make(row[name]) for name, make in _makers(kind)})


@cache
def _makers(kind: Any) -> list[tuple[str, Any]]:
    """How each field is built back from what Arrow returns."""
    hints = get_type_hints(kind)
    return [(each.name, _maker(hints[each.name])) for each in fields(kind)]


def _maker(hint: Any) -> Any:
    if is_dataclass(hint):
        return lambda value: _build(cast(type[Any], hint), value)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        inner = _maker(next(arg for arg in get_args(hint) if arg is not type(None)))
        return lambda value: None if value is None else inner(value)
    if origin is tuple:
        return tuple
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict
    return lambda value: value
