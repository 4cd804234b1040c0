"""Databases for tests: SQLite in a folder, and PostgreSQL servers of the tests' own."""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import pytest

_numbers = count()
DEBIAN = Path("/usr/lib/postgresql")


@contextmanager
def postgres() -> Iterator[str]:
    """URL of a new, empty PostgreSQL database."""
    with warnings.catch_warnings():
        # It says that XDG_RUNTIME_DIR is not set, which is so where no desktop runs.
        warnings.simplefilter("ignore")
        import pgserver

        server = pgserver.get_server(mkdtemp(prefix="contrapose-pg-"))
    try:
        name = f"contrapose_{next(_numbers)}"
        server.psql(f"CREATE DATABASE {name}")
        yield server.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://")
    finally:
        server.cleanup()


@contextmanager
def whole_postgres() -> Iterator[str]:
    """URL of a new, empty database of Debian's PostgreSQL, which has the extensions that Prefect needs."""
    found = sorted(DEBIAN.glob("*/bin"), key=lambda each: int(each.parent.name))
    if not found:
        pytest.skip("needs PostgreSQL with its extensions: apt-get install postgresql")
    # It refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(mkdtemp(prefix="contrapose-pg-"))
    if user:
        shutil.chown(folder, user)
    log = {"user": user, "stdout": subprocess.DEVNULL, "cwd": folder, "check": True}
    data, options = folder / "data", f"-h '' -k {folder} -c max_connections=200"
    subprocess.run([found[-1] / "initdb", "-D", data, "-U", "postgres", "-A", "trust"], **log)
    control = [found[-1] / "pg_ctl", "-D", data, "-l", folder / "log"]
    subprocess.run([*control, "-w", "-o", options, "start"], **log)
    try:
        yield f"postgresql+asyncpg://postgres@/postgres?host={folder}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **log)
        shutil.rmtree(folder)


def sqlite(folder: Path) -> str:
    """URL of a new SQLite database in a folder."""
    return f"sqlite:///{folder / f'answers-{next(_numbers)}.sqlite3'}"
