"""The database of a store, opened: made where there is none, and brought up to its receipts.

A SQLite file is an index of the receipts beside it. It notes how much of each file it holds, in the transaction that
adds it; so whatever it lacks, after a kill, a damage or a deletion, is read from there.
"""

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

from sqlalchemy import (
    URL,
    Engine,
    create_engine,
    delete,
    event,
    func,
    select,
)
from sqlalchemy.exc import DisconnectionError, IntegrityError, OperationalError, ProgrammingError
from sqlalchemy.pool import NullPool

from contrapose.tasks.core.damage import put_in_place, sync, warn
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.store.engine import (
    file_of,
    is_damage,
    raise_mendable,
    reach,
    shown,
)
from contrapose.tasks.store.receipts import Receipts, to_line
from contrapose.tasks.store.replay import NOTE, TOGETHER, add, answer_line, catch_up, noted
from contrapose.tasks.store.schema import ANSWERS, DURABLE, METADATA, RECEIPTS, RUNS
from contrapose.tasks.tables.table import home

LOCK_SECONDS = 600
EXAMINED_UP_TO = 256_000_000
"""Bytes of a file up to which a run has SQLite examine all of it first: a second at most."""
BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside its file, by how their names end."""


@cache
def connect(url: str) -> Engine:
    """An engine of a store, with its tables and all that its receipts hold.

    Raises:
        ConfigError: the database cannot be opened, or another version of Contrapose made it.
    """
    path = file_of(url)
    if path is not None and is_headless(path):
        heal(path, url)
    try:
        engine = _opened(url)
    except ConfigError as error:
        if path is None or not is_damage(error.__cause__) or not is_ours(path):
            raise
        heal(path, url)
        engine = _opened(url)
    # What the log of a SQLite file holds goes into the file when its last connection is closed.
    atexit.register(engine.dispose)
    return engine


def _opened(url: str) -> Engine:
    path = file_of(url)
    engine = reach(url, prepare=None if path is None else partial(_watch, path=path, url=url))
    with raise_mendable(url):
        _create(engine)
        receipts = receipts_of(url)
        event.listen(engine, "engine_disposed", lambda _: receipts.close())
        if path is not None:
            _convert(engine, receipts, path)
        catch_up(engine, receipts)
    return engine


def _create(engine: Engine) -> None:
    # Another process may create the same tables at this moment; the second look then finds them.
    with suppress(IntegrityError, OperationalError, ProgrammingError):
        METADATA.create_all(engine)
        return
    METADATA.create_all(engine)


@cache
def receipts_of(url: str) -> Receipts:
    """The receipts of a database; those of a server are written only where it does not take the answers."""
    path = file_of(url)
    name = hashlib.sha256(shown(url).encode()).hexdigest()[:12]
    return Receipts(folder_of(path) if path is not None else home() / f"{name}.receipts")


def folder_of(path: Path) -> Path:
    """Where the receipts of a SQLite file are."""
    return path.with_name(f"{path.name.removesuffix('.sqlite3')}.receipts")


def is_headless(path: Path) -> bool:
    """Whether a store was cut to nothing; SQLite would take it for a new one."""
    return path.is_file() and path.stat().st_size == 0


def is_ours(path: Path) -> bool:
    """Whether a file that is no database any more may have been a store: other files are left as they are."""
    return path.suffix in (".sqlite3", ".sqlite", ".db") or folder_of(path).is_dir()


def fails(path: Path) -> str:
    """What SQLite says is wrong with a file, looking at all of it; empty where nothing is, or others keep it busy."""
    if is_headless(path):
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
def examine(url: str) -> None:
    """Have SQLite look at all of a file before a run relies on what it does not find there, and heal it if need be."""
    path = file_of(url)
    if path is not None and path.is_file() and path.stat().st_size <= EXAMINED_UP_TO and fails(path):
        heal(path, url)


def heal(path: Path, url: str, *, anyway: bool = False) -> None:
    """Put a damaged store aside and make it anew from its receipts, and say so.

    Args:
        path: of the file.
        url: of the store.
        anyway: even where SQLite finds nothing wrong with the file.

    Raises:
        ConfigError: it cannot be written there.
    """
    with raise_mendable(url), locked(path):
        if path.exists() and not anyway and not fails(path):
            return
        aside, had_receipts = _move_aside(path), folder_of(path).is_dir()
        answers, lost = _make(path)
    bad = f"; {lost} receipts are damaged, and what they held is asked again when it is needed" if lost else ""
    made = f"it was made anew from its receipts, with {answers:,} answers{bad}"
    made = made if had_receipts else "an older version made it without receipts, so a new one begins without answers"
    recover = "" if had_receipts else "; `sqlite3 FILE .recover` reads what is left of it"
    warn(f"the response store was damaged: {made}; the damaged file was kept as {aside}{recover}")


def _move_aside(path: Path) -> Path:
    """Rename a store and what belongs to it, under a name that nothing has yet."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    names = (f"{path.name}.damaged-{moment}{f'-{number}' if number > 1 else ''}" for number in range(1, 1000))
    aside = next(name for name in map(path.with_name, names) if not name.exists())
    for end in ("", *BESIDE):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).replace(aside.with_name(aside.name + end))
    return aside


def make(path: Path) -> None:
    """Make a store with all that its receipts hold; one that is there stays.

    Raises:
        OSError: it cannot be written.
    """
    with locked(path):
        if path.exists():
            return
        for end in BESIDE:
            # The log of the file that is gone would be taken for the new one's.
            path.with_name(path.name + end).unlink(missing_ok=True)
        answers, lost = _make(path)
    if answers or lost:
        bad = f"; {lost} receipts are damaged" if lost else ""
        warn(f"the response store was gone: it was made anew from its receipts, with {answers:,} answers{bad}: {path}")


def _make(path: Path) -> tuple[int, int]:
    """Make a file; whoever looks finds all of it or nothing. How many answers it has, and damaged receipts."""
    receipts = Receipts(folder_of(path))
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as work:
        part = Path(work) / path.name
        engine = create_engine(URL.create("sqlite", database=str(part)), poolclass=NullPool)
        with engine.begin() as connection:
            connection.exec_driver_sql("PRAGMA synchronous=OFF")
            # The driver begins none by itself before a table is made.
            connection.exec_driver_sql("BEGIN")
            METADATA.create_all(connection, checkfirst=False)
            counts = add(connection, dict.fromkeys(receipts.files(), 0))
            answers = int(connection.execute(select(func.count()).select_from(ANSWERS)).scalar_one())
        part.chmod(0o600)
        sync(part)
        put_in_place(part, path)
        path.chmod(0o600)
    return answers, counts["damaged"]


def _convert(engine: Engine, receipts: Receipts, path: Path) -> None:
    """Write receipts of a store that was made without them, or whose receipts are gone."""
    if _has_receipts(engine, receipts):
        return
    with locked(path):
        if not _has_receipts(engine, receipts):
            answers = write_anew(engine, receipts)
            warn(f"receipts of the {answers:,} answers in the response store were written: {receipts.folder}")


def _has_receipts(engine: Engine, receipts: Receipts) -> bool:
    with engine.execution_options(reading=True).connect() as connection:
        names = set(noted(connection))
        if names:
            return names <= {file.name for file in receipts.files()}
        return all(connection.execute(select(table).limit(1)).first() is None for table in (RUNS, ANSWERS))


def write_anew(engine: Engine, receipts: Receipts) -> int:
    """Write a receipt for all that the database holds, and remove the older ones that nobody is writing.

    Returns:
        How many answers there are.
    """
    receipts.close()
    catch_up(engine, receipts)
    old = [file for file in receipts.files() if not receipts.is_being_written(file)]
    fresh = Receipts(receipts.folder)
    answers = 0
    with engine.begin() as connection:
        for table in DURABLE:
            lines: list[str] = []
            now = time.time()
            for row in connection.execution_options(yield_per=TOGETHER).execute(select(table)).mappings():
                answers += table is ANSWERS
                lines.append(
                    answer_line(dict(row), again=True)
                    if table is ANSWERS
                    else to_line({"at": now, "do": "put", "table": table.name, "row": dict(row)})
                )
                if len(lines) == TOGETHER:
                    written, lines = fresh.append(lines), []
                    connection.execute(NOTE, {"file": written.file, "end": written.end})
            if lines:
                written = fresh.append(lines)
                connection.execute(NOTE, {"file": written.file, "end": written.end})
        fresh.close()
    # In this order: what is noted of a file that is still there keeps it from being read again.
    for file in old:
        file.unlink(missing_ok=True)
    with engine.begin() as connection:
        connection.execute(delete(RECEIPTS).where(RECEIPTS.c.file.in_([file.name for file in old])))
    return answers


def _watch(engine: Engine, path: Path, url: str) -> None:
    """See at each use of a connection that the file at an engine's path is still the one that it was opened on."""
    _make_if_missing(engine, path)

    @event.listens_for(engine, "connect")
    def remember(_: object, record: Any) -> None:
        record.info["file"] = _identity(path)

    @event.listens_for(engine, "checkout")
    def compare(connection: Any, record: Any, _: object) -> None:
        if record.info["file"] == _identity(path) is not None:
            return
        if is_headless(path):
            heal(path, url)
        plain = reach(url, prepare=partial(_make_if_missing, path=path))
        catch_up(plain, receipts_of(url))
        plain.dispose()
        raise DisconnectionError("the file of the response store is another one now")


def _make_if_missing(engine: Engine, path: Path) -> None:
    """Have an engine make the file before it connects; SQLite itself would make an empty one."""

    @event.listens_for(engine, "do_connect")
    def see_that_it_is_there(*_: object) -> None:
        if not path.exists():
            make(path)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file lies at a path now; None where there is none, or an empty one."""
    with suppress(OSError):
        status = os.stat(path)
        return (status.st_dev, status.st_ino) if status.st_size else None
    return None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process, and one thread of it, at a time."""
    from filelock import FileLock

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(path.with_name(f"{path.name}.lock"), timeout=LOCK_SECONDS, is_singleton=True):
        yield
