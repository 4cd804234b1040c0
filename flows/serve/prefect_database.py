"""Databases of the Prefect servers that Contrapose starts: in its home folder, one file per Prefect version.

A newer Prefect changes its database, and an older one then refuses to start on it ("No such revision"). So the user's
own database is left alone unless the user's settings name a server or a database.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from contrapose.tasks.core.home import home_folder

DATABASE = "PREFECT_SERVER_DATABASE_CONNECTION_URL"
NAMED = (DATABASE, "PREFECT_API_DATABASE_CONNECTION_URL")
"""Environment variables by which a user names another database."""
FIELDS = {"connection_url", "driver", "name", "host"}
"""Settings of Prefect by which a user names another database, in the environment or in a profile."""
SQLITE = "sqlite+aiosqlite:///"


def find_own_file() -> Path:
    """Return Contrapose's SQLite file for the installed Prefect version."""
    return home_folder().absolute() / "prefect" / metadata.version("prefect") / "prefect.db"


def find_used_file() -> Path | None:
    """Return the SQLite file that our servers use; None if the user named another kind of database."""
    from prefect.settings import get_current_settings

    database = get_current_settings().server.database
    if not FIELDS & database.model_fields_set or database.connection_url is None:
        return find_own_file()
    url = database.connection_url.get_secret_value()
    return Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) and "memory" not in url else None


def use_own_database() -> None:
    """Set this process, a server, to keep its records in Contrapose's home, unless the user named a database.

    The first server of a version begins with a copy of what an older version recorded: runs, blocks and automations.
    """
    from filelock import FileLock

    from contrapose.flows.serve.server_key import use_in_process

    file = find_own_file()
    if find_used_file() != file:
        return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(file.with_suffix(".lock")):
        older = [] if file.exists() else [*list_older_files(file)]
        # One that is damaged or in use for long is left out: the server makes a new one.
        with suppress(sqlite3.Error):
            for source in older[-1:]:
                copy_database(source, file)
    use_in_process({DATABASE: f"{SQLITE}{file}"})


def list_older_files(file: Path) -> Iterator[Path]:
    """Return the databases of older versions of Prefect, the newest last."""
    from packaging.version import InvalidVersion, Version

    versions = []
    for other in file.parent.parent.glob(f"*/{file.name}"):
        with suppress(InvalidVersion):
            versions.append(Version(other.parent.name))
    return (
        file.parent.parent / str(version) / file.name
        for version in sorted(versions)
        if version < Version(file.parent.name)
    )


def copy_database(source: Path, target: Path) -> None:
    """Copy a SQLite database that may be in use; the target is complete or does not exist."""
    part = target.with_suffix(".part")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(part)) as new:
        old.backup(new)
    os.replace(part, target)


def find_database_problem(file: Path) -> str:
    """Describe why the installed Prefect cannot use a database; "" if it can, or creates a new one."""
    if not file.exists():
        return ""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            revisions = [str(row[0]) for row in connection.execute("SELECT version_num FROM alembic_version")]
    except sqlite3.Error as error:
        return f"it cannot be read: {error}"
    spec = find_spec("prefect")
    [package] = (spec and spec.submodule_search_locations) or [""]
    known = [path.name for path in Path(package).glob("server/database/_migrations/versions/sqlite/*")]
    unknown = [revision for revision in revisions if not any(f"_{revision}_" in name for name in known)]
    return f"another version of Prefect changed it (revision {unknown[0]})" if unknown else ""
