"""Databases for tests: SQLite in a folder, and PostgreSQL servers of the tests' own."""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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

        folder = mkdtemp(prefix="contrapose-pg-")
        server = pgserver.get_server(folder)
    try:
        name = f"contrapose_{next(_numbers)}"
        # A test ends processes, never the machine: what the system was given to write is kept.
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf()")
        server.psql(f"CREATE DATABASE {name}")
        yield server.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://")
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class Server:
    """A PostgreSQL server of Debian's, with an empty database."""

    folder: Path
    programs: Path
    user: str | None
    """Who runs it: it refuses to run as root."""

    def url(self, driver: str) -> str:
        """Of its database, for one of SQLAlchemy's drivers."""
        return f"postgresql+{driver}://postgres@/postgres?host={self.folder}"

    def make(self) -> None:
        """Make its files."""
        self._call("initdb", "-U", "postgres", "-A", "trust")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-h '' -k {self.folder} -c max_connections=200"
        self._call("pg_ctl", "-l", str(self.folder / "log"), "-w", "-o", options, "start")

    def stop(self) -> None:
        """End it as a crash would."""
        self._call("pg_ctl", "-m", "immediate", "stop")

    def _call(self, program: str, *words: str) -> None:
        command = [self.programs / program, "-D", self.folder / "data", *words]
        subprocess.run(command, user=self.user, stdout=subprocess.DEVNULL, cwd=self.folder, check=True)


@contextmanager
def debian_postgres() -> Iterator[Server]:
    """A server that can be stopped and started."""
    found = sorted(DEBIAN.glob("*/bin"), key=lambda each: int(each.parent.name))
    if not found:
        pytest.skip("needs PostgreSQL with its extensions: apt-get install postgresql")
    folder = Path(mkdtemp(prefix="contrapose-pg-"))
    server = Server(folder=folder, programs=found[-1], user="postgres" if os.geteuid() == 0 else None)
    if server.user:
        shutil.chown(folder, server.user)
    server.make()
    server.start()
    try:
        yield server
    finally:
        with suppress(subprocess.CalledProcessError):
            server.stop()
        shutil.rmtree(folder)


@contextmanager
def whole_postgres() -> Iterator[str]:
    """URL of a new, empty database of Debian's PostgreSQL, which has the extensions that Prefect needs."""
    with debian_postgres() as server:
        yield server.url("asyncpg")


def sqlite(folder: Path) -> str:
    """URL of a new SQLite database in a folder."""
    return f"sqlite:///{folder / f'answers-{next(_numbers)}.sqlite3'}"
