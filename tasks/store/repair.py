"""A response store that is damaged or gone is made anew, with every answer that can still be read."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from contrapose.tasks.core.damage import put_in_place, sync
from contrapose.tasks.store.answers import is_whole
from contrapose.tasks.store.carving import Value, carved

Row: TypeAlias = tuple[str, tuple[Value, ...]]
"""Name of a table, and the values of one of its rows."""

NEWEST = {
    "answers": "stored",
    "forms": "stored",
    "runs": "seen",
    "readings": "seen",
    "prompts": "changed",
    "batches": "changed",
    "looks": "cases",
    "checks": "until",
    "claims": "until",
    "portions": "until",
    "rates": "free",
}
"""By table: the column that tells which of two rows of one key is newer."""

NAMES = (".sqlite3", ".sqlite", ".db")
"""How the name of a file ends that is taken for a store even where nothing in it looks like one."""

MAGIC = b"SQLite format 3\0"
"""How the file of a database begins."""

LOCK_SECONDS = 600
BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside its file, by how their names end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What came of a store."""

    answers: int
    """Those in it now."""
    unread: int
    """Answers whose page or sum is broken, as far as they could be told apart."""
    aside: Path
    """Where the damaged file is now."""

    def in_words(self) -> str:
        """What happened, for people."""
        lost = f"; {self.unread} could not be, and are asked again when they are needed" if self.unread else ""
        return f"the response store was damaged: {self.answers} answers were rescued{lost}; it was kept as {self.aside}"


def identity(path: str | Path) -> tuple[int, int] | None:
    """Which file lies at a path now; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def is_there(path: Path) -> bool:
    """Whether a store lies at a path, or what is left of one: its log may hold answers that it lacks."""
    log = path.with_name(f"{path.name}-wal")
    return path.exists() or (log.exists() and log.stat().st_size > 0)


def is_ours(path: Path) -> bool:
    """Whether a file that is no database any more may have been a store: other files are left as they are."""
    return path.suffix in NAMES or any(isinstance(row, tuple) for row in recognised(carved(path)))


def is_headless(path: Path) -> bool:
    """Whether there is a store, or its log, without the beginning of a database: SQLite may forget both."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) != MAGIC
    except FileNotFoundError:
        return is_there(path)
    except OSError:
        # Whoever opens it says why it cannot be read.
        return False


def fails(path: Path) -> str:
    """What SQLite says is wrong with a file, looking at all of it; empty where nothing is, or others keep it busy."""
    if is_headless(path):
        return "it does not begin as a database does"
    try:
        with closing(sqlite3.connect(path, timeout=60)) as connection:
            verdict = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
            return "" if verdict == "ok" else verdict.replace("\n", ": ")
    except sqlite3.OperationalError:
        return ""
    except sqlite3.DatabaseError as error:
        return str(error)


def make(path: Path, rows: Iterable[Row] = ()) -> None:
    """Make a store with some rows; whoever looks finds all of it or nothing, and one that is there stays.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as work:
        part = Path(work) / path.name
        _create(part)
        add(part, rows)
        part.chmod(0o600)
        _link(part, path)


def _link(part: Path, path: Path) -> None:
    """Two processes may make a store at once: the one that comes second finds the first one's."""
    sync(part)
    try:
        os.link(part, path)
    except FileExistsError:
        return
    except OSError:
        # Some file systems have no second names for a file.
        if not path.exists():
            put_in_place(part, path)
    sync(path.parent)


def _create(path: Path) -> None:
    """Make a file with all tables and no rows, in one transaction; it is whoever puts it in place that syncs it."""
    from sqlalchemy import URL, create_engine
    from sqlalchemy.pool import NullPool

    from contrapose.tasks.store.schema import METADATA

    engine = create_engine(URL.create("sqlite", database=str(path)), poolclass=NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA synchronous=OFF")
        # The driver begins none by itself before a table is made.
        connection.exec_driver_sql("BEGIN")
        METADATA.create_all(connection, checkfirst=False)


def repair(path: Path) -> Repaired | None:
    """Keep a damaged store aside, and put a new one in its place with what could be read of it.

    Returns:
        What came of it; None where it lies there whole by now, for another process has done the same.
    """
    with locked(path):
        if path.exists() and not fails(path):
            return None
        broken: set[str] = set()
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as work:
            part = Path(work) / path.name
            _create(part)
            add(part, _noted(recognised(carved(path)), broken))
            answers = _count(part)
            aside = _move_aside(path)
            part.chmod(0o600)
            put_in_place(part, path)
        return Repaired(answers=answers, unread=len(broken), aside=aside)


def _noted(rows: Iterable[Row | str], broken: set[str]) -> Iterator[Row]:
    """The rows; keys of answers that are there, but not as they were written, go into `broken`."""
    whole: set[str] = set()
    for row in rows:
        if isinstance(row, str):
            broken.add(row)
        else:
            if row[0] == "answers":
                whole.add(str(row[1][0]))
            yield row
    broken -= whole


def _move_aside(path: Path) -> Path:
    """Rename a store and what belongs to it, under a name that nothing has yet."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    for number in range(1, 1000):
        aside = path.with_name(f"{path.name}.damaged-{moment}{f'-{number}' if number > 1 else ''}")
        if not aside.exists():
            break
    for end in ("", *BESIDE):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).replace(aside.with_name(aside.name + end))
    return aside


def restore(old: sqlite3.Connection, path: Path) -> int:
    """Have everything of a store that was deleted or replaced under way in the one at its path, making that if needed.

    Args:
        old: a connection that was opened before; it still reads what it has.
        path: of the store.

    Returns:
        How many answers are there now.
    """
    with locked(path):
        if not path.exists():
            for end in BESIDE:
                # The log of the file that is gone would be taken for the new one's.
                path.with_name(path.name + end).unlink(missing_ok=True)
            make(path, _all(old))
        else:
            add(path, _all(old))
        return _count(path)


def rescue(file: Path, path: Path) -> None:
    """Put whatever can be read of a file that was set aside into a store."""
    with locked(path):
        add(path, (row for row in recognised(carved(file)) if not isinstance(row, str)))


def _all(connection: sqlite3.Connection) -> Iterator[Row]:
    """Every row that a connection reads."""
    for table, names, _ in _tables():
        with suppress(sqlite3.Error):
            yield from ((table, row) for row in connection.execute(f"SELECT {_listed(names)} FROM {table}"))  # noqa: S608


def add(path: Path, rows: Iterable[Row]) -> None:
    """Put rows into a store; of two with one key the newer one stays."""
    statements = {table: _insert(table, names, keys) for table, names, keys in _tables()}
    with closing(sqlite3.connect(path, timeout=60)) as connection, connection:
        for table, values in rows:
            connection.execute(statements[table], values)


def recognised(rows: Iterable[tuple[Value, ...]]) -> Iterator[Row | str]:
    """Which table each row is of; of an answer that is not as it was written, its key. Other rows are left out."""
    from contrapose.tasks.store.schema import METADATA

    by_length = {len(table.columns): table for table in METADATA.tables.values()}
    for row in rows:
        table = by_length.get(len(row))
        if table is None or table.name == "claims":
            # Claims are of the moment, and some that were given up are still on the pages.
            continue
        if all(map(_fits, table.columns, row)) and _makes_sense(table.name, row):
            yield table.name, row
        elif table.name == "answers" and isinstance(row[0], str) and len(row[0]) == 64:
            yield row[0]


def _fits(column: Any, value: Value) -> bool:
    """Whether a column can hold a value."""
    if value is None:
        return bool(column.nullable)
    kind = column.type.python_type
    fits = isinstance(value, (int, float) if kind is float else kind)
    return fits and not (isinstance(value, str) and "\ufffd" in value and column.primary_key)


def _makes_sense(table: str, row: tuple[Value, ...]) -> bool:
    if table == "answers":
        key, _, question, answer, prompt_tokens, completion_tokens = row[:6]
        return _is_json(question) and is_whole(str(key), str(answer), prompt_tokens, completion_tokens)
    as_json = {"runs": 2, "looks": 3}
    return _is_json(row[as_json[table]]) if table in as_json else True


def _is_json(text: Value) -> bool:
    try:
        json.loads(str(text))
    except ValueError:
        return False
    return True


def _tables() -> Iterator[tuple[str, list[str], list[str]]]:
    """Each table's name, columns and key."""
    from contrapose.tasks.store.schema import METADATA

    for table in METADATA.sorted_tables:
        names = [column.name for column in table.columns]
        yield table.name, names, [column.name for column in table.primary_key]


def _insert(table: str, names: list[str], keys: list[str]) -> str:
    newest = NEWEST[table]
    new = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name not in keys)
    places = ", ".join("?" * len(names))
    return (
        f"INSERT INTO {table} ({_listed(names)}) VALUES ({places}) ON CONFLICT ({_listed(keys)}) "  # noqa: S608
        f'DO UPDATE SET {new} WHERE excluded."{newest}" > {table}."{newest}"'
    )


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _count(path: Path) -> int:
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process, and one thread of it, at a time."""
    from filelock import FileLock

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(path.with_name(f"{path.name}.lock"), timeout=LOCK_SECONDS):
        yield
