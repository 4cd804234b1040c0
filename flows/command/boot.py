"""Prefect's temporary server takes seconds to start: what the run needs is imported in that time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from contrapose.flows.command.writable import unwritable
from contrapose.tasks.errors import ConfigError


@contextmanager
def server_starting() -> Iterator[None]:
    """Start the temporary server, where one is needed, while what is inside is done; wait for it at the end.

    Raises:
        ConfigError: it has no place for its database; Prefect would wait for minutes, then tell a traceback.
    """
    from prefect.settings import PREFECT_API_URL, PREFECT_SERVER_EPHEMERAL_ENABLED

    if PREFECT_API_URL.value() or not PREFECT_SERVER_EPHEMERAL_ENABLED.value():
        yield
        return
    if why := homeless():
        raise ConfigError(
            f"Prefect's home cannot be written ({why})",
            expected="a folder for the database of a temporary server",
            remedy="Name another one in PREFECT_HOME, or a server in PREFECT_API_URL.",
        )
    # This import is the server's whole code; Prefect's client makes it, too, in the process that runs a flow.
    from contrapose.flows.command.temporary_server import TemporaryServer

    # Prefect asks the same instance again, and finds it running; if it failed to start, it tries once more.
    server = TemporaryServer()
    starting = Thread(target=_start, args=(server,), daemon=True)
    starting.start()
    yield
    starting.join()


def homeless() -> str:
    """Why a temporary server cannot keep its database in Prefect's home; empty where it can, or has it elsewhere."""
    from prefect.settings import get_current_settings

    settings = get_current_settings()
    url = settings.server.database.connection_url
    inside = url is None or str(settings.home) in url.get_secret_value()
    return unwritable(settings.home) if inside else ""


def _start(server: object) -> None:
    with suppress(Exception):
        server.start()  # type: ignore[attr-defined]


def import_libraries() -> None:
    """Import what every run needs."""
    from contrapose.flows import evaluate_model  # noqa: F401
    from contrapose.tasks.validate.expectations import import_library

    import_library()
