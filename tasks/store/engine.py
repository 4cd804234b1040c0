"""The database of the response store: where it is, and connections that are watched."""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from contrapose.tasks.core.damage import warn
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import resolved
from contrapose.tasks.tables.table import home

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine


BUSY_SECONDS = 60
"""How long a SQLite connection waits for another one that writes."""

BETWEEN_SECONDS = 0.02
"""Between two tries of what SQLite does not wait for by itself."""

LITTLE_ROOM = 1_000_000
"""Bytes of a disk below which a failure to write is taken for want of room."""

PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-16384", "wal_autocheckpoint=128000")
"""Readers beside one writer, and no wait for the disk at each commit.

Keys are hashes, so that each new one changes another page: what many transactions changed is carried over together. A
connection forgets its pages whenever another one has written, and a larger cache only takes memory.
"""

CARRIED_AT = 20_000
"""Answers after which the log is carried over beside whoever writes: many pages are changed again before that."""
ROUNDS = 4
"""How often at most, while others go on writing."""


@cache
def connect(url: str) -> Engine:
    """An engine whose tables exist; a file that is damaged is repaired first.

    Raises:
        ConfigError: the database cannot be opened, or another version of Contrapose made it.
    """
    engine = _healthy(url)
    with _raise_mendable(url):
        _create(engine)
    # What the log of a SQLite file holds goes into the file when its last connection is closed.
    atexit.register(engine.dispose)
    return engine


class Log:
    """What is written to a SQLite file goes into its log first; a thread carries it over.

    A commit that finds the log long would do that itself, and wait for the disk: then it finds little to do.

    Args:
        engine: of any database; others than SQLite see to it themselves.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self._since = engine, 0
        self._carrying = Lock()

    def grown(self, answers: int) -> None:
        """So many answers were written."""
        self._since += answers
        is_long = self._since >= CARRIED_AT and self._engine.dialect.name == "sqlite"
        if is_long and self._carrying.acquire(blocking=False):
            self._since = 0
            Thread(target=self._carry_over, name="contrapose-log").start()

    def _carry_over(self) -> None:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            # Whatever fails here, a commit tries again, and says so.
            with suppress(SQLAlchemyError, sqlite3.Error), closing(self._engine.raw_connection()) as connection:
                cursor = connection.cursor()
                # SQLite begins its log anew once all of it is carried over, what is written meanwhile too.
                for _ in range(ROUNDS):
                    _, written, carried = cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                    if written == carried:
                        break
        finally:
            self._carrying.release()


@cache
def log_of(engine: Engine) -> Log:
    """The log of a database, of which a process has one."""
    return Log(engine)


def reach(url: str) -> Engine:
    """An engine of a database as it is: nothing is created in it, but a SQLite file that is not there is made whole.

    Raises:
        ConfigError: the database cannot be opened, or another version of Contrapose made it.
    """
    from sqlalchemy import create_engine

    refuse_unreadable(url)
    with _raise_mendable(url):
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


def file_of(url: str) -> Path | None:
    """The file of a SQLite store; None for another database, or one in memory."""
    from sqlalchemy import make_url

    path = make_url(url).database if url.startswith("sqlite") else None
    return Path(path) if path and path != ":memory:" else None


def is_damage(error: BaseException | None) -> bool:
    """Whether an error says that the content of a SQLite file is not what SQLite wrote."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_full(error: BaseException, path: Path | None) -> bool:
    """Whether an error of SQLite says that there is no room, or comes of it.

    Args:
        error: as the driver or SQLAlchemy raised it.
        path: of the file.
    """
    code = _code(error)
    if code != sqlite3.SQLITE_IOERR or path is None:
        return code == sqlite3.SQLITE_FULL
    # What lies beside the file grows too, and SQLite does not say why that failed.
    return shutil.disk_usage(path.parent).free < LITTLE_ROOM


def _code(error: BaseException | None) -> int | None:
    """SQLite's own number of an error, without its details."""
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _healthy(url: str) -> Engine:
    """An engine of a database that can be used, repaired if it must be."""
    from contrapose.tasks.store import repair

    refuse_unreadable(url)
    path = file_of(url)
    if path is not None and repair.is_headless(path) and repair.is_ours(path):
        heal(path, url)
    try:
        return reach(url)
    except ConfigError as error:
        if path is None or not is_damage(error.__cause__) or not repair.is_ours(path):
            raise
    heal(path, url)
    return reach(url)


def heal(path: Path, url: str) -> int:
    """Put a new store in the place of a damaged one, with what can be rescued, and say so; returns how many answers.

    Raises:
        ConfigError: it cannot be written there.
    """
    from contrapose.tasks.store.repair import repair

    with _raise_mendable(url):
        repaired = repair(path)
    if repaired is None:
        return -1
    warn(repaired.in_words())
    return repaired.answers


def without_address(error: Exception) -> str:
    """What went wrong, without the address, which may hold a password."""
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}" if "://" in str(cause) else f"{type(cause).__name__}: {str(cause)[:160].strip()}"


@contextmanager
def _raise_mendable(url: str) -> Iterator[None]:
    """Turn what a database or its driver raises into an error that the user can mend."""
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    try:
        yield
    except (ArgumentError, NoSuchModuleError, SQLAlchemyError, ImportError, OSError, ValueError) as error:
        raise ConfigError(
            f"the response store cannot be opened ({without_address(error)})",
            expected="sqlite:///path or postgresql+psycopg://user:password@host/name",
            remedy="Correct the environment variable CONTRAPOSE_STORE, or unset it to use SQLite in the user's cache.",
            where=shown(url),
        ) from error


def _sqlite(url: str) -> Engine:
    from sqlalchemy import create_engine, event

    from contrapose.tasks.store.presence import watch

    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_use_lifo=True)
    if path := file_of(url):
        watch(engine, path)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        # The driver must not open transactions by itself: they would start as readers, and fail when they write.
        connection.isolation_level = None
        # A byte that is no text any more must not keep the rest of its table from being read.
        connection.text_factory = lambda raw: str(raw, "utf-8", "replace")
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

    from contrapose.tasks.store.schema import METADATA

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

    from contrapose.tasks.store.schema import METADATA

    with engine.execution_options(reading=True).connect() as connection:
        inspector = inspect(connection)
        there = set(inspector.get_table_names()) & set(METADATA.tables)
        for name in sorted(there):
            columns = {column["name"] for column in inspector.get_columns(name)}
            wanted = {column.name for column in METADATA.tables[name].columns}
            if columns != wanted:
                missing, unknown = sorted(wanted - columns), sorted(columns - wanted)
                return f"table {name} {f'lacks {missing[0]}' if missing else f'has {unknown[0]}, which is unknown'}"
    return ""


def store_url() -> str:
    """`CONTRAPOSE_STORE`, or SQLite in the user's cache.

    It is an address such as `postgresql+psycopg://user:password@host/name`, or `secret://<block>`, a Prefect Secret
    block that holds one.

    Raises:
        ConfigError: the block cannot be used.
    """
    named = resolved(os.environ.get("CONTRAPOSE_STORE", ""), where="CONTRAPOSE_STORE")
    return named or f"sqlite:///{home() / 'answers.sqlite3'}"


def identity_of_store() -> str:
    """What tells the store of this process from those of others: a file of the same name lies on every machine."""
    import socket

    url = store_url()
    return f"{shown(url)} on {socket.gethostname()}" if file_of(url) else shown(url)


def shown(url: str) -> str:
    """A store's address without its password."""
    address = _address(url)
    # A query may hold a password, too.
    return "CONTRAPOSE_STORE" if address is None else address.set(query={}).render_as_string(hide_password=True)


def refuse_unreadable(url: str) -> None:
    """Refuse an address that is taken apart in the wrong places: its errors would show parts of the password."""
    if _address(url) is None:
        raise ConfigError(
            "the address of the response store cannot be read",
            expected="sqlite:///path or postgresql+psycopg://user:password@host/name",
            remedy="Correct the environment variable CONTRAPOSE_STORE; in a password write @ as %40 and : as %3A.",
            where="CONTRAPOSE_STORE",
        )


def _address(url: str) -> URL | None:
    """An address taken apart; None where it cannot be, or the host holds what belongs to a password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    with suppress(ArgumentError, ValueError):
        address = make_url(url)
        return None if "@" in (address.host or "") else address
    return None
