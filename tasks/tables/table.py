"""Table: a Parquet file that is named by its hash; stages pass on a reference to it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, TypedDict, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.core.damage import is_disk_full, private_folder, put_in_place, sha256
from contrapose.tasks.core.errors import ContraposeError, CutShortError
from contrapose.tasks.core.home import home_folder
from contrapose.tasks.core.places import Place
from contrapose.tasks.tables.columnar import from_arrow, regroup_rows, schema_of, split_batches, to_arrow

Record = TypeVar("Record")

STORAGE = "CONTRAPOSE_STORAGE"
"""Environment variable: a folder or fsspec URL that several machines share."""

RESULTS_FOLDER = "results"
"""Folder of results of tasks: in `home()`, and in the place that machines share, where each finds those of others."""

ROWS = 5_000
"""Rows of a row group. It is fixed: the same rows are the same bytes, however they were produced."""


class Table(TypedDict):
    """A reference to a Parquet file, as plain JSON that can be hashed, cached and sent."""

    uri: str
    """The address of the file: a path or any fsspec URL."""
    sha256: str
    """Of the file's bytes; checked whenever it is read."""
    rows: int


def open_storage() -> Place:
    """Return the place of tables, `CONTRAPOSE_STORAGE` or a folder in `home()`, or raise ConfigError."""
    return Place.at(os.environ.get(STORAGE) or str(home_folder() / "tables"), setting=STORAGE)


def write(records: Iterable[Any], kind: type[Any]) -> Table:
    """Store the records of one dataclass, one row group at a time."""
    return write_arrow((to_arrow(portion, kind) for portion in split_batches(records, ROWS)), schema_of(kind))


def write_arrow(parts: Iterable[pa.Table], schema: pa.Schema) -> Table:
    """Store rows under the hash of their file, or raise CutShortError if the disk is full."""
    folder = open_storage()
    kept = _local_folder(folder)
    try:
        # A folder that somebody chose keeps its rights; ours and new ones are nobody else's.
        if kept == home_folder() / "tables" or not kept.exists():
            private_folder(kept)
        with tempfile.TemporaryDirectory(dir=kept, prefix=".", suffix=".part") as work:
            made = Path(work) / "table.parquet"
            rows = save(made, parts, schema)
            digest = sha256(made)
            place = folder / f"{digest}.parquet"
            table = Table(uri=str(place), sha256=digest, rows=rows)
            # A half-written file must never carry the name, nor may a damaged one keep it.
            if not is_intact(table):
                place.receive(made)
            if not place.is_local:
                # It is read here next.
                put_in_place(made, kept / place.name)
    except OSError as error:
        if is_disk_full(error):
            raise disk_full_error(str(folder)) from error
        raise
    return table


def is_intact(table: Table) -> bool:
    """Return whether the file of a reference has the stored content; rename a damaged file.

    One elsewhere is not read as long as its copy on this machine is intact: it must be as large.
    """
    place, digest = Place(table["uri"]), table["sha256"]
    copy = place.path if place.is_local else _local_folder(place) / place.name
    try:
        if place.is_local:
            same = sha256(copy) == digest
        elif copy.exists() and sha256(copy) == digest:
            same = place.size() == copy.stat().st_size
        else:
            same = hashlib.sha256(place.read()).hexdigest() == digest
    except FileNotFoundError:
        return False
    except OSError:
        same = False
    if not same:
        place.set_aside()
    elif place.is_local:
        # It is needed again: pruning looks at its time.
        os.utime(copy)
    return same


def _local_folder(folder: Place) -> Path:
    """Return the local folder for the tables of a place."""
    return folder.path if folder.is_local else home_folder() / "tables"


def disk_full_error(where: str) -> CutShortError:
    """Return the error that the disk is full during a run."""
    return CutShortError(
        "there is no room left on the disk",
        expected="room for the tables of a run",
        remedy="Make room, and run the same command again to continue: stored answers stay.",
        where=where,
    )


def save(path: Path, parts: Iterable[pa.Table], schema: pa.Schema) -> int:
    """Write rows to a local Parquet file, one row group after the other, and return their number."""
    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in regroup_rows(parts, ROWS):
            writer.write_table(group)
            rows += group.num_rows
    return rows


def join_tables(tables: Iterable[Table], schema: pa.Schema) -> Table:
    """Store the rows of several tables, in order; columns that a table lacks at the end are filled with nothing."""

    def widen(part: pa.Table) -> pa.Table:
        for field in list(schema)[part.num_columns :]:
            part = part.append_column(field, pa.nulls(part.num_rows, field.type))
        return part.cast(schema)

    return write_arrow((widen(part) for table in tables for part in batches(table)), schema)


def list_column_names(table: Table) -> list[str]:
    """Return the column names of a table."""
    with _open_checked(table) as file:
        names: list[str] = file.schema_arrow.names
    return names


def read(table: Table, kind: type[Record]) -> list[Record]:
    """Return all records of a table at once."""
    return list(iterate(table, kind))


def iterate(table: Table, kind: type[Record]) -> Iterator[Record]:
    """Yield the records of a table, as the dataclass that they were written from or one with some of its fields."""
    for part in batches(table, columns=schema_of(kind).names):
        yield from from_arrow(part, kind)


def read_arrow(table: Table, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Return all rows of a table at once; otherwise as `batches`."""
    return pa.concat_tables(batches(table, columns=columns))


def batches(table: Table, *, columns: Sequence[str] | None = None, rows: int = ROWS) -> Iterator[pa.Table]:
    """Yield the rows of a table, `rows` at a time, with some columns or all; without rows, yield one empty part.

    Raises ContraposeError if the file is gone or is not what was stored.
    """
    with _open_checked(table) as file:
        groups = (file.read_row_group(number, columns=columns) for number in range(file.num_row_groups))
        empty = file.schema_arrow.empty_table()
        # As in row groups, each once, without those that the file lacks.
        wanted = [name for name in empty.column_names if columns is None or name in columns]
        yield from regroup_rows(groups, rows) if table["rows"] else [empty.select(wanted)]


def read_rows(table: Table, kind: type[Record], *, first: int, end: int) -> list[Record]:
    """Return the records of rows `first` to before `end`, of a dataclass as for `iterate`."""
    return from_arrow(read_range(table, first, end, columns=schema_of(kind).names), kind)


def read_range(table: Table, first: int, end: int, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Return rows `first` to before `end`, and read only the row groups that hold them."""
    groups = range(first // ROWS, -(-end // ROWS)) if first < end else range(0)
    with _open_checked(table) as file:
        part = file.read_row_groups(list(groups), columns=columns)
    return part.slice(first - groups.start * ROWS, end - first)


def store_first_rows(table: Table, count: int) -> Table:
    """Store the first rows of a table as a new table."""
    part = read_range(table, 0, count)
    return write_arrow([part], part.schema)


def take(table: Table, places: Sequence[int]) -> pa.Table:
    """Return the rows at ascending places, and read only the row groups that hold them."""
    with _open_checked(table) as file:
        parts = [file.schema_arrow.empty_table()]
        for group, own in groupby(places, key=lambda place: place // ROWS):
            parts.append(file.read_row_group(group).take([place - group * ROWS for place in own]))
    return pa.concat_tables(parts)


@contextmanager
def _open_checked(table: Table) -> Iterator[pq.ParquetFile]:
    """Open the file of a table, fetched once if it is remote, or raise ContraposeError if its content has changed."""

    def loss(observed: str) -> ContraposeError:
        return ContraposeError(
            observed,
            expected=f"{table['rows']} rows with sha256 {table['sha256'][:12]}…",
            remedy="Run again, and where that does not help with --refresh: the cache was emptied or edited in part.",
            where=table["uri"],
        )

    def is_stored(path: Path) -> bool:
        # Many portions are read from one table: its hash is computed anew only when the file has changed.
        stat = path.stat()
        return _sha256_of(path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) == table["sha256"]

    place = Place(table["uri"])
    path = place.path if place.is_local else _local_folder(place) / f"{table['sha256']}.parquet"
    try:
        if not place.is_local and not (path.exists() and is_stored(path)):
            private_folder(path.parent)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=".", suffix=".part") as work:
                fetched = Path(work) / "table.parquet"
                place.fetch(fetched)
                if is_stored(fetched):
                    put_in_place(fetched, path)
                else:
                    raise loss("stored table has changed since it was written")
        if not is_stored(path):
            raise loss("stored table has changed since it was written")
        with pq.ParquetFile(path) as file:
            yield file
    except OSError as error:
        raise loss(f"stored table cannot be read ({type(error).__name__})") from error


@lru_cache(maxsize=1_000)
def _sha256_of(path: Path, *_stamp: int) -> str:
    """Return the hash of a file, cached by its inode, size and times."""
    return sha256(path)
