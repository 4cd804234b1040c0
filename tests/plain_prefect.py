"""A Prefect server without a key, for the tests of one process; its SQLite queues, as that of a run does."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib import metadata
from pathlib import Path

from filelock import FileLock

from contrapose.flows.serve.temporary_server import OWN_SETTINGS, collect_rarely
from contrapose.tasks.core.home import home_folder

MADE = (home_folder() / "models").resolve().parent / f"prefect-{metadata.version('prefect')}.db"
"""A new database. To make it takes seconds, so that it is kept where the converted models are."""

UNREAD = {
    f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false"
    for name in ("TASK_RUN_RECORDER", "EVENT_PERSISTER", "EVENT_LOGGER", "TRIGGERS")
}
"""Services that write down what became of each task, and every event: two thirds of a server's work in a run."""


@contextmanager
def serving_prefect(*, records: bool = False) -> Iterator[None]:
    """A server with a new database, which the settings of this process name; others are told by their tests.

    Args:
        records: whether it is sent events and writes down them and tasks, which few tests read; one that does not
            has nothing to do in the background either.
    """
    from prefect.events.clients import NullEventsClient
    from prefect.events.worker import EventsWorker
    from prefect.settings import (
        PREFECT_API_URL,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        PREFECT_SERVER_DATABASE_CONNECTION_URL,
        temporary_settings,
    )

    with tempfile.TemporaryDirectory(prefix="prefect-server-", ignore_cleanup_errors=True) as folder:
        put_database(Path(folder) / "prefect.db")
        database = f"sqlite+aiosqlite:///{folder}/prefect.db"
        with _running(database, records=records) as url:
            named = {PREFECT_API_URL: url, PREFECT_SERVER_DATABASE_CONNECTION_URL: database}
            EventsWorker.set_client_override(None if records else NullEventsClient)
            try:
                with temporary_settings({**named, PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
                    yield
            finally:
                EventsWorker.set_client_override(NullEventsClient)


def put_own_database(home: Path) -> None:
    """Put a new database in place in a home of Contrapose, where a temporary server uses it."""
    put_database(home / "prefect" / metadata.version("prefect") / "prefect.db")


def put_database(file: Path) -> None:
    """Put a new database in place, unless one is there."""
    MADE.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{MADE}.lock"):
        if not MADE.exists():
            part = MADE.with_suffix(".part")
            part.unlink(missing_ok=True)
            own = {"PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{part}"}
            command = [sys.executable, "-m", "prefect", "server", "database", "upgrade", "--yes"]
            subprocess.run(command, env={**os.environ, **own}, check=True, capture_output=True)
            part.rename(MADE)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(MADE, file)


@contextmanager
def _running(database: str, *, records: bool) -> Iterator[str]:
    """The URL of its API."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"PREFECT_SERVER_DATABASE_CONNECTION_URL": database, "PREFECT_API_DATABASE_MIGRATE_ON_START": "false"}
    environment = {**os.environ, **OWN_SETTINGS, **({} if records else UNREAD), **own}
    server = subprocess.Popen([sys.executable, __file__, str(port), *(["records"] if records else [])], env=environment)
    try:
        end = time.monotonic() + 180
        while not _answers(port):
            assert server.poll() is None, "the Prefect server of the tests ended by itself"
            assert time.monotonic() < end, "the Prefect server of the tests does not answer"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/api"
    finally:
        server.terminate()
        server.wait(60)


def _answers(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=5):
        return True
    return False


def main(port: int, *, records: bool) -> None:
    """Serve until a signal comes."""
    import uvicorn
    from prefect.server.api import server

    from contrapose.flows.serve.queued_sqlite import queue_writes

    collect_rarely()
    if not records:
        server.background_worker = _nothing_scheduled
    with queue_writes():
        uvicorn.run(server.create_app, factory=True, port=port, lifespan="on", log_level="error")


@asynccontextmanager
async def _nothing_scheduled(*_: object, **__: object) -> AsyncIterator[None]:
    """In place of what looks four times a second whether anything is to be done in the background."""
    yield


if __name__ == "__main__":
    main(int(sys.argv[1]), records="records" in sys.argv)
