"""Response stores for tests: SQLite in a folder, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

_numbers = count()


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


def sqlite(folder: Path) -> str:
    """URL of a new SQLite database in a folder."""
    return f"sqlite:///{folder / f'answers-{next(_numbers)}.sqlite3'}"
