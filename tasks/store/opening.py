"""Open the store's database: create it, apply its receipts, and rebuild it when it is damaged."""

from __future__ import annotations

import atexit
import hashlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, func, select
from sqlalchemy.exc import DisconnectionError, IntegrityError, OperationalError, ProgrammingError
from sqlalchemy.pool import NullPool

from contrapose.tasks.core.damage import put_in_place, sync, warn
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.home import home_folder
from contrapose.tasks.store.engine import get_store_file, is_damage, open_database, raise_with_remedy, remove_password
from contrapose.tasks.store.receipts import Receipts
from contrapose.tasks.store.replay import add_receipts, apply_missing_receipts, read_noted_bytes, rewrite_receipts
from contrapose.tasks.store.schema import ANSWERS, METADATA, RUNS

LOCK_SECONDS = 600
EXAMINED_UP_TO = 256_000_000
"""Bytes of a file up to which a run has SQLite examine all of it first: a second at most."""
LOGS = ("-wal", "-shm", "-journal")
"""What SQLite keeps next to its file, by how their names end."""


@cache
def connect(url: str) -> Engine:
    """Return an engine of a store, with its tables and all that its receipts hold.

    Raises ConfigError if the database cannot be opened, or another version of Contrapose made it.
    """
    path = get_store_file(url)
    if path is not None and _is_empty(path):
        rebuild_damaged(path, url)
    try:
        engine = _open(url, path)
    except ConfigError as error:
        # A file that was never a store is left as it is.
        is_store = path is not None and (path.suffix in (".sqlite3", ".sqlite", ".db") or locate_folder(path).is_dir())
        if path is None or not is_store or not is_damage(error.__cause__):
            raise
        rebuild_damaged(path, url)
        engine = _open(url, path)
    # What the log of a SQLite file holds goes into the file when its last connection is closed.
    atexit.register(engine.dispose)
    return engine


def _open(url: str, path: Path | None) -> Engine:
    engine = open_database(url, prepare=None if path is None else partial(_watch, path=path, url=url))
    with raise_with_remedy(url):
        if path is not None:
            _keep_log(path)
        try:
            METADATA.create_all(engine)
        except (IntegrityError, OperationalError, ProgrammingError):
            # Another process was creating the same tables at this moment; a second look finds them.
            METADATA.create_all(engine)
        receipts = open_receipts(url)
        event.listen(engine, "engine_disposed", lambda _: receipts.close())
        if path is not None and not _has_receipts(engine, receipts):
            with lock_file(path):
                if not _has_receipts(engine, receipts):
                    answers = rewrite_receipts(engine, receipts)
                    warn(f"receipts of the {answers:,} answers in the response store were written: {receipts.folder}")
        apply_missing_receipts(engine, receipts)
    return engine


def _has_receipts(engine: Engine, receipts: Receipts) -> bool:
    """Return whether all receipt files that the database lists exist; an empty database needs none."""
    with engine.execution_options(reading=True).connect() as connection:
        if names := set(read_noted_bytes(connection)):
            return names <= {file.name for file in receipts.files()}
        return all(connection.execute(select(table).limit(1)).first() is None for table in (RUNS, ANSWERS))


@cache
def open_receipts(url: str) -> Receipts:
    """Return the receipts of a database; those of a server are written only while it is down."""
    path = get_store_file(url)
    name = hashlib.sha256(remove_password(url).encode()).hexdigest()[:12]
    return Receipts(locate_folder(path) if path is not None else home_folder() / f"{name}.receipts")


def locate_folder(path: Path) -> Path:
    """Return the folder of a SQLite file's receipts."""
    return path.with_name(f"{path.name.removesuffix('.sqlite3')}.receipts")


def _is_empty(path: Path) -> bool:
    """Return whether a store file was truncated to nothing; SQLite would treat it as a new one."""
    return path.is_file() and path.stat().st_size == 0


def find_damage(path: Path) -> str:
    """Return the damage that SQLite finds in the complete file, or "" if it is intact or locked."""
    if _is_empty(path):
        return "it is empty"
    try:
        with closing(sqlite3.connect(path, timeout=60)) as connection:
            verdict = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
            return "" if verdict == "ok" else verdict.replace("\n", ": ")
    except sqlite3.OperationalError:
        return ""
    except sqlite3.DatabaseError as error:
        return str(error)


@cache
def check_database(url: str) -> None:
    """Check the complete SQLite file before a run, and repair it if it is damaged."""
    path = get_store_file(url)
    if path is not None and path.is_file() and path.stat().st_size <= EXAMINED_UP_TO and find_damage(path):
        rebuild_damaged(path, url)


def rebuild_damaged(path: Path, url: str, *, anyway: bool = False) -> None:
    """Move a damaged store aside, rebuild it from its receipts and report this, or raise ConfigError.

    `anyway`: even if SQLite finds no damage.
    """
    with raise_with_remedy(url), lock_file(path):
        if path.exists() and not anyway and not find_damage(path):
            return
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        names = (f"{path.name}.damaged-{moment}{f'-{number}' if number > 1 else ''}" for number in range(1, 1000))
        aside = next(name for name in map(path.with_name, names) if not name.exists())
        for end in ("", *LOGS):
            with suppress(FileNotFoundError):
                path.with_name(path.name + end).replace(aside.with_name(aside.name + end))
        had_receipts = locate_folder(path).is_dir()
        answers, lost = _build(path)
    bad = f"; {lost} receipts are damaged, and what they held is asked again when it is needed" if lost else ""
    made = f"it was rebuilt from its receipts, with {answers:,} answers{bad}"
    made = made if had_receipts else "an older version made it without receipts, so a new one begins without answers"
    recover = "" if had_receipts else "; `sqlite3 FILE .recover` reads what is left of it"
    warn(f"the response store was damaged: {made}; the damaged file was kept as {aside}{recover}")


def rebuild_missing(path: Path) -> None:
    """Rebuild a missing store file from its receipts, or raise OSError; an existing file stays."""
    with lock_file(path):
        if path.exists():
            return
        for end in LOGS:
            # The log of the file that is gone would be taken for the new one's.
            path.with_name(path.name + end).unlink(missing_ok=True)
        answers, lost = _build(path)
    if answers or lost:
        bad = f"; {lost} receipts are damaged" if lost else ""
        warn(f"the response store was gone: it was rebuilt from its receipts, with {answers:,} answers{bad}: {path}")


def _build(path: Path) -> tuple[int, int]:
    """Build a store file from the receipts; return the numbers of its answers and of damaged receipts."""
    receipts = Receipts(locate_folder(path))
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as work:
        part = Path(work) / path.name
        engine = create_engine(URL.create("sqlite", database=str(part)), poolclass=NullPool)
        with engine.begin() as connection:
            connection.exec_driver_sql("PRAGMA synchronous=OFF")
            # The driver begins none by itself before a table is made.
            connection.exec_driver_sql("BEGIN")
            METADATA.create_all(connection, checkfirst=False)
            damaged = add_receipts(connection, dict.fromkeys(receipts.files(), 0))["damaged"]
            answers = int(connection.execute(select(func.count()).select_from(ANSWERS)).scalar_one())
        _keep_log(part)
        part.chmod(0o600)
        sync(part)
        put_in_place(part, path)
        path.chmod(0o600)
    return answers, damaged


def _keep_log(path: Path) -> None:
    """Switch the file to SQLite's write-ahead log, so that others can read while one process writes."""
    # A copy that another tool made has lost it. Where others use the file at this moment, a later opening sets it.
    with closing(sqlite3.connect(path)) as plain, suppress(sqlite3.OperationalError):
        plain.execute("PRAGMA journal_mode=WAL")


def _watch(engine: Engine, path: Path, url: str) -> None:
    """Check at each use of a connection that its file was not deleted or replaced."""
    _make_if_missing(engine, path)

    @event.listens_for(engine, "connect")
    def remember(_: object, record: Any) -> None:
        record.info["file"] = _identify_file(path)

    @event.listens_for(engine, "checkout")
    def compare(connection: Any, record: Any, _: object) -> None:
        if record.info["file"] == _identify_file(path) is not None:
            return
        if _is_empty(path):
            rebuild_damaged(path, url)
        plain = open_database(url, prepare=partial(_make_if_missing, path=path))
        apply_missing_receipts(plain, open_receipts(url))
        plain.dispose()
        raise DisconnectionError("the file of the response store is another one now")


def _make_if_missing(engine: Engine, path: Path) -> None:
    """Let an engine rebuild a missing file before it connects, because SQLite would create an empty one."""

    @event.listens_for(engine, "do_connect")
    def make_file(*_: object) -> None:
        if not path.exists():
            rebuild_missing(path)


def _identify_file(path: Path) -> tuple[int, int] | None:
    """Return device and inode number of a file, or None if it is missing or empty."""
    with suppress(OSError):
        status = os.stat(path)
        return (status.st_dev, status.st_ino) if status.st_size else None
    return None


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Allow only one thread of one process at a time to work on a store's file."""
    from filelock import FileLock

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(path.with_name(f"{path.name}.lock"), timeout=LOCK_SECONDS, is_singleton=True):
        yield
