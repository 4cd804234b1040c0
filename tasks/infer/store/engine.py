"""Where the response store is, and how it is opened."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contrapose.tasks.errors import ConfigError
from contrapose.tasks.tables import home

if TYPE_CHECKING:
    from sqlalchemy import Engine

BUSY_SECONDS = 60
"""How long a SQLite connection waits for another one that writes."""

PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-65536", "wal_autocheckpoint=8000")
"""Readers beside one writer, no wait for the disk at each commit; keys are hashes, so pages are met in no order."""


def store_url() -> str:
    """`CONTRAPOSE_STORE`, such as `postgresql+psycopg://user:password@host/name`, or SQLite in the user's cache."""
    return os.environ.get("CONTRAPOSE_STORE") or f"sqlite:///{home() / 'answers.sqlite3'}"


@cache
def connect(url: str) -> Engine:
    """An engine whose tables exist.

    Raises:
        ConfigError: the database cannot be opened.
    """
    from sqlalchemy import create_engine
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    try:
        engine = _sqlite(url) if url.startswith("sqlite") else create_engine(url, pool_pre_ping=True)
        _create(engine)
    except (ArgumentError, NoSuchModuleError, SQLAlchemyError, ImportError, OSError, ValueError) as error:
        raise ConfigError(
            f"the response store cannot be opened ({told(error)})",
            expected="sqlite:///path or postgresql+psycopg://user:password@host/name",
            remedy="Correct the environment variable CONTRAPOSE_STORE, or unset it to use SQLite in the user's cache.",
            where=shown(url),
        ) from error
    return engine


def shown(url: str) -> str:
    """A store's address without its password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        # A query may hold a password, too.
        return make_url(url).set(query={}).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):
        return "CONTRAPOSE_STORE"


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
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _create(engine: Engine) -> None:
    from sqlalchemy.exc import IntegrityError, OperationalError, ProgrammingError

    from contrapose.tasks.infer.store.schema import METADATA

    # Another process may create the same tables at this moment; the second look then finds them.
    with suppress(IntegrityError, OperationalError, ProgrammingError):
        METADATA.create_all(engine)
        return
    METADATA.create_all(engine)


def told(error: Exception) -> str:
    """What went wrong, without the address, which may hold a password."""
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}" if "://" in str(cause) else f"{type(cause).__name__}: {str(cause)[:160].strip()}"
