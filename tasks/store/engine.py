"""The database of the response store: where it is, its connections, and by what name a process works on it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import resolved
from contrapose.tasks.tables.table import home

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine, Select, Table


BUSY_SECONDS = 60
"""How long a SQLite connection waits for another one that writes."""

BETWEEN_SECONDS = 0.02
"""Between two tries of what SQLite does not wait for by itself."""

LITTLE_ROOM = 1_000_000
"""Bytes of a disk below which a failure to write is taken for want of room."""

PRAGMAS = ("journal_mode=WAL", "synchronous=OFF", "cache_size=-16384", "wal_autocheckpoint=128000")
"""Readers beside one writer, and no wait for the disk: what a power cut breaks is made anew from the receipts.

Keys are hashes, so that each new one changes another page: what many transactions changed is carried over together. A
connection forgets its pages whenever another one has written, and a larger cache only takes memory.
"""


def reach(url: str, *, prepare: Callable[[Engine], None] | None = None) -> Engine:
    """An engine of a database as it is: nothing is created in it.

    Args:
        url: of the database.
        prepare: called with the engine before it is used.

    Raises:
        ConfigError: the database cannot be opened, or another version of Contrapose made it.
    """
    from sqlalchemy import create_engine

    refuse_unreadable(url)
    with raise_mendable(url):
        engine = _sqlite(url) if url.startswith("sqlite") else create_engine(url, pool_pre_ping=True)
        if prepare is not None:
            prepare(engine)
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
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such table" in str(error)


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


def without_address(error: Exception) -> str:
    """What went wrong, without the address, which may hold a password."""
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}" if "://" in str(cause) else f"{type(cause).__name__}: {str(cause)[:160].strip()}"


@contextmanager
def raise_mendable(url: str) -> Iterator[None]:
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

    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_use_lifo=True)

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


def insert_into(dialect: str, table: Table) -> Any:
    """An insert that can say what to do on a conflict, which each kind of database has in a form of its own."""
    from sqlalchemy.dialects import postgresql, sqlite

    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


@cache
def keys_subquery(dialect: str) -> Select[tuple[str]]:
    """Keys as rows of a query, however many they are: they travel as one value (`sent`), and the statement stays."""
    from sqlalchemy import ARRAY, Text, bindparam, func, select

    if dialect == "postgresql":
        return select(func.unnest(bindparam("sent", type_=ARRAY(Text))).column_valued("key"))
    return select(func.json_each(bindparam("sent", type_=Text)).table_valued("value").c.value)


def sent(connection: Connection, keys: Iterable[str]) -> dict[str, object]:
    """Keys as a statement with `keys_subquery` is executed with them."""
    return {"sent": list(keys) if connection.dialect.name == "postgresql" else json.dumps(list(keys))}


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


def new_owner() -> str:
    """`<machine>:<process>:<a random part>`: two owners never have one name, in one process or on two machines."""
    return f"{_machine()}:{os.getpid()}:{uuid4().hex[:12]}"


def gone(owner: str) -> bool:
    """Whether an owner is certainly no more: a process of this machine that has ended."""
    machine, process, _ = owner.rsplit(":", 2)
    if os.name != "posix" or machine != _machine() or here(owner):
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def here(owner: str) -> bool:
    """Whether an owner is, or was, part of this very process."""
    machine, process, _ = owner.rsplit(":", 2)
    return machine == _machine() and int(process) == os.getpid()


def _machine() -> str:
    """Host name and process namespace: containers may share the one, and have process numbers of their own."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{''.join(filter(str.isdigit, namespace))}"
