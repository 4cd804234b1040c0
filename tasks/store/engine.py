"""Database access of the response store: address, engine, errors, and SQL for SQLite and PostgreSQL."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.home import home_folder
from contrapose.tasks.core.secrets import resolve_secret

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine, Select, Table

BUSY_SECONDS = 60
"""How long a SQLite connection waits for another one that writes."""
LITTLE_ROOM = 1_000_000
"""Bytes of a disk below which a failure to write is taken for want of room."""
PRAGMAS = ("synchronous=OFF", "cache_size=-16384", "wal_autocheckpoint=128000")
"""No wait for the disk: what a power cut breaks is made anew from the receipts.

Keys are hashes, so that each new one changes another page: what many transactions changed is carried over together. A
connection forgets its pages whenever another one has written, and a larger cache only takes memory.
"""
ADDRESSES = "sqlite:///path or postgresql+psycopg://user:password@host/name"


def store_url() -> str:
    """Return `CONTRAPOSE_STORE`, or the address of a SQLite file in the user's cache, or raise ConfigError.

    The variable holds an address such as `postgresql+psycopg://user:password@host/name`, or `secret://<block>`, a
    Prefect Secret block that holds one.
    """
    named = resolve_secret(os.environ.get("CONTRAPOSE_STORE", ""), where="CONTRAPOSE_STORE")
    return named or f"sqlite:///{home_folder() / 'answers.sqlite3'}"


def get_store_identity() -> str:
    """Return a globally unique name of this process's store; for a file it includes the machine."""
    url = store_url()
    return f"{remove_password(url)} on {socket.gethostname()}" if get_store_file(url) else remove_password(url)


def get_url(engine: Engine) -> str:
    """Return the address of an engine's database, with its password."""
    return engine.url.render_as_string(hide_password=False)


def remove_password(url: str) -> str:
    """Return a store's address without passwords, also without its query."""
    address = _parse_address(url)
    return "CONTRAPOSE_STORE" if address is None else address.set(query={}).render_as_string(hide_password=True)


def get_store_file(url: str) -> Path | None:
    """Return the file of a SQLite store, or None for another database, or one in memory."""
    from sqlalchemy import make_url

    path = make_url(url).database if url.startswith("sqlite") else None
    return Path(path) if path and path != ":memory:" else None


def _parse_address(url: str) -> URL | None:
    """Return the parsed address, or None if it is invalid or part of a password ended up in the host."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    with suppress(ArgumentError, ValueError):
        address = make_url(url)
        return None if "@" in (address.host or "") else address
    return None


def refuse_unreadable(url: str) -> None:
    """Raise ConfigError for an address that is parsed wrongly, because its errors could show the password."""
    if _parse_address(url) is None:
        raise ConfigError(
            "the address of the response store cannot be read",
            expected=ADDRESSES,
            remedy="Correct the environment variable CONTRAPOSE_STORE; in a password write @ as %40 and : as %3A.",
            where="CONTRAPOSE_STORE",
        )


def open_database(url: str, *, prepare: Callable[[Engine], None] | None = None) -> Engine:
    """Return an engine of an existing database without creating tables; `prepare` gets it before its first use.

    Raises ConfigError if the database cannot be opened, or another version of Contrapose made it.
    """
    from sqlalchemy import create_engine

    refuse_unreadable(url)
    with raise_with_remedy(url):
        engine = _open_sqlite(url) if url.startswith("sqlite") else create_engine(url, pool_pre_ping=True)
        if prepare is not None:
            prepare(engine)
        difference = _find_difference(engine)
    if difference:
        raise ConfigError(
            f"another version of Contrapose made the response store: {difference}",
            expected="the tables of this version",
            remedy="Name another one in CONTRAPOSE_STORE: the next run makes it. Nothing in this one was changed; the "
            "version that made it still reads it.",
            where=remove_password(url),
        )
    return engine


def _open_sqlite(url: str) -> Engine:
    from sqlalchemy import create_engine, event

    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_use_lifo=True)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        # The driver must not open transactions by itself: they would start as readers, and fail when they write.
        connection.isolation_level = None
        # A byte that is no text any more must not keep the rest of its table from being read.
        connection.text_factory = lambda raw: str(raw, "utf-8", "replace")
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _find_difference(engine: Engine) -> str:
    """Return the first difference between the database's tables and those of `schema`, or "".

    The columns themselves are compared: a version number would not be found in stores that were made without one.
    """
    from sqlalchemy import inspect

    from contrapose.tasks.store.schema import METADATA

    with engine.execution_options(reading=True).connect() as connection:
        inspector = inspect(connection)
        for name in sorted({*inspector.get_table_names()} & {*METADATA.tables}):
            columns = {column["name"] for column in inspector.get_columns(name)}
            wanted = {column.name for column in METADATA.tables[name].columns}
            if missing := sorted(wanted - columns):
                return f"table {name} lacks {missing[0]}"
            if unknown := sorted(columns - wanted):
                return f"table {name} has {unknown[0]}, which is unknown"
    return ""


@contextmanager
def raise_with_remedy(url: str) -> Iterator[None]:
    """Turn errors of a database or its driver into a ConfigError with a remedy."""
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    try:
        yield
    except (ArgumentError, NoSuchModuleError, SQLAlchemyError, ImportError, OSError, ValueError) as error:
        raise ConfigError(
            f"the response store cannot be opened ({remove_address(error)})",
            expected=ADDRESSES,
            remedy="Set CONTRAPOSE_STORE to a database that can be opened, or unset it to use SQLite in the folder "
            "CONTRAPOSE_HOME.",
            where=remove_password(url),
        ) from error


def remove_address(error: Exception) -> str:
    """Return an error's text without the address, which may hold a password."""
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}" if "://" in str(cause) else f"{type(cause).__name__}: {str(cause)[:160].strip()}"


def is_damage(error: BaseException | None) -> bool:
    """Return whether an error reports damaged content of a SQLite file."""
    return _get_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such table" in str(error)


def is_out_of_space(error: BaseException, path: Path | None) -> bool:
    """Return whether SQLAlchemy's error was caused by a full disk under SQLite."""
    if _get_code(error) != sqlite3.SQLITE_IOERR or path is None:
        return _get_code(error) == sqlite3.SQLITE_FULL
    # The log grows too, and SQLite does not say why that failed.
    return shutil.disk_usage(path.parent).free < LITTLE_ROOM


def _get_code(error: BaseException | None) -> int | None:
    """Return SQLite's primary error code, or None."""
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def build_insert(dialect: str, table: Table) -> Any:
    """Return the dialect's insert statement, which supports a conflict clause."""
    from sqlalchemy.dialects import postgresql, sqlite

    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def build_upsert(dialect: str, table: Table, columns: Iterable[str], *, newer: bool) -> Any:
    """Return an insert statement for some columns; if a key exists, the new row replaces the old or is ignored."""
    statement, keys = build_insert(dialect, table), [column.name for column in table.primary_key]
    if not newer:
        return statement.on_conflict_do_nothing(index_elements=keys)
    new = {name: statement.excluded[name] for name in columns if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=new)


MOST_VALUES = 30_000
"""Values that one statement of SQLite takes: 32,766 at most."""


def upsert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], *, newer: bool) -> None:
    """Insert complete rows of a table with the conflict rule of `build_upsert`.

    In SQLite one statement inserts many: a thread that inserts row by row takes turns with the others at each of them.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(build_upsert(connection.dialect.name, table, table.c.keys(), newer=newer), rows)
        return
    statement, names = _build_sqlite_upsert(table, newer=newer)
    one, at_once = f"({', '.join('?' * len(names))})", MOST_VALUES // len(names)
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        values = tuple(row[name] for row in part for name in names)
        connection.exec_driver_sql(statement.replace(one, ", ".join([one] * len(part)), 1), values)


@cache
def _build_sqlite_upsert(table: Table, *, newer: bool) -> tuple[str, Sequence[str]]:
    """Return the statement for one row, and the columns in the order of its values."""
    from sqlalchemy.dialects import sqlite

    # SQLite copies each page before it changes it, to take back one statement and not the transaction: it never must.
    statement = build_upsert("sqlite", table, table.c.keys(), newer=newer).prefix_with("OR FAIL", dialect="sqlite")
    compiled = statement.compile(dialect=sqlite.dialect(), column_keys=table.c.keys())
    return str(compiled), compiled.positiontup


@cache
def keys_subquery(dialect: str) -> Select[tuple[str]]:
    """Return a subquery of keys that are sent as one value (`sent`): one statement fits any number of keys."""
    from sqlalchemy import ARRAY, Text, bindparam, func, select

    if dialect == "postgresql":
        return select(func.unnest(bindparam("sent", type_=ARRAY(Text))).column_valued("key"))
    return select(func.json_each(bindparam("sent", type_=Text)).table_valued("value").c.value)


def pack_keys(dialect: str, keys: Iterable[str]) -> dict[str, object]:
    """Return the parameters for executing a statement with `keys_subquery`."""
    return {"sent": list(keys) if dialect == "postgresql" else json.dumps(list(keys))}
