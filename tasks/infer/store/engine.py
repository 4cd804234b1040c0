"""How the response store is opened."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contrapose.tasks.errors import ConfigError
from contrapose.tasks.infer.store.address import refuse_unreadable, shown

if TYPE_CHECKING:
    from sqlalchemy import Engine

BUSY_SECONDS = 60
"""How long a SQLite connection waits for another one that writes."""

BETWEEN_SECONDS = 0.02
"""Between two tries of what SQLite does not wait for by itself."""

PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-65536", "wal_autocheckpoint=8000")
"""Readers beside one writer, no wait for the disk at each commit; keys are hashes, so pages are met in no order."""


@cache
def connect(url: str) -> Engine:
    """An engine whose tables exist.

    Raises:
        ConfigError: the database cannot be opened, or another version of Contrapose made it.
    """
    engine = reach(url)
    with _told(url):
        _create(engine)
    return engine


def reach(url: str) -> Engine:
    """An engine of a database as it is: nothing is created in it.

    Raises:
        ConfigError: the database cannot be opened, or another version of Contrapose made it.
    """
    from sqlalchemy import create_engine

    refuse_unreadable(url)
    with _told(url):
        engine = _sqlite(url) if url.startswith("sqlite") else create_engine(url, pool_pre_ping=True)
        other = difference(engine)
    if other:
        raise ConfigError(
            f"another version of Contrapose made the response store: {other}",
            expected="the tables of this version",
            remedy="Move it aside, or name another one in CONTRAPOSE_STORE, and a new one is made; "
            "nothing in it was changed, and the version that made it still reads it.",
            where=shown(url),
        )
    return engine


def told(error: Exception) -> str:
    """What went wrong, without the address, which may hold a password."""
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}" if "://" in str(cause) else f"{type(cause).__name__}: {str(cause)[:160].strip()}"


@contextmanager
def _told(url: str) -> Iterator[None]:
    """Turn what a database or its driver raises into an error that the user can mend."""
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    try:
        yield
    except (ArgumentError, NoSuchModuleError, SQLAlchemyError, ImportError, OSError, ValueError) as error:
        raise ConfigError(
            f"the response store cannot be opened ({told(error)})",
            expected="sqlite:///path or postgresql+psycopg://user:password@host/name",
            remedy="Correct the environment variable CONTRAPOSE_STORE, or unset it to use SQLite in the user's cache.",
            where=shown(url),
        ) from error


def _sqlite(url: str) -> Engine:
    from sqlalchemy import create_engine, event, make_url

    path = make_url(url).database
    if path:
        # It holds prompts and replies: they are nobody else's.
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        with suppress(OSError):
            Path(path).touch(mode=0o600)
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        # The driver must not open transactions by itself: they would start as readers, and fail when they write.
        connection.isolation_level = None
        for pragma in PRAGMAS:
            _patiently(partial(connection.execute, f"PRAGMA {pragma}"))

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _patiently(change: Callable[[], object]) -> None:
    """Change a setting of a SQLite file; SQLite itself never waits for whoever changes the journal at that moment."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            change()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(BETWEEN_SECONDS)
        else:
            return


def _create(engine: Engine) -> None:
    from sqlalchemy.exc import IntegrityError, OperationalError, ProgrammingError

    from contrapose.tasks.infer.store.schema import METADATA

    # Another process may create the same tables at this moment; the second look then finds them.
    with suppress(IntegrityError, OperationalError, ProgrammingError):
        METADATA.create_all(engine)
        return
    METADATA.create_all(engine)


def difference(engine: Engine) -> str:
    """What sets the tables that are there apart from those of `schema`, in words; empty where nothing does.

    The columns themselves are compared: a version number would not be found in stores that were made without one.
    """
    from sqlalchemy import inspect

    from contrapose.tasks.infer.store.schema import METADATA

    with engine.execution_options(reading=True).connect() as connection:
        found = inspect(connection)
        there = set(found.get_table_names()) & set(METADATA.tables)
        for name in sorted(there):
            columns = {column["name"] for column in found.get_columns(name)}
            wanted = {column.name for column in METADATA.tables[name].columns}
            if columns != wanted:
                missing, unknown = sorted(wanted - columns), sorted(columns - wanted)
                return f"table {name} {f'lacks {missing[0]}' if missing else f'has {unknown[0]}, which is unknown'}"
    return ""
