"""How a run begins at a terminal: settings of other people's libraries, a server, and imports meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import TYPE_CHECKING

from contrapose.flows.serve.guard import new_key
from contrapose.flows.serve.server_key import KEY, bring_key_as_configured
from contrapose.tasks.core.errors import ConfigError

if TYPE_CHECKING:
    from contrapose.flows.serve.temporary_server import TemporaryServer


@contextmanager
def server_starting() -> Iterator[None]:
    """Start the temporary server, where one is needed, while what is inside is done; wait for it at the end.

    Raises:
        ConfigError: it has no place for its database; Prefect would wait for minutes, then tell a traceback.
    """
    if not wants_own_server():
        yield
        return
    if why := homeless():
        raise ConfigError(
            f"Prefect's home cannot be written ({why})",
            expected="a folder for the database of a temporary server",
            remedy="Name another one in PREFECT_HOME, or a server in PREFECT_API_URL.",
        )
    starting = Thread(target=_start, args=(own_server(),), daemon=True)
    starting.start()
    yield
    starting.join()


def wants_own_server() -> bool:
    """Whether Prefect will start a temporary server; to one that is named, this process brings the key it knows."""
    from prefect.settings import PREFECT_API_URL, PREFECT_SERVER_EPHEMERAL_ENABLED

    bring_key_as_configured()
    return not PREFECT_API_URL.value() and bool(PREFECT_SERVER_EPHEMERAL_ENABLED.value())


def own_server() -> TemporaryServer:
    """The temporary server of this process, with a key of its own that everything here brings.

    Whatever asks Prefect from now on is given this one: Prefect's own would answer everybody.
    """
    # This import is the server's whole code; Prefect's client makes it, too, in the process that runs a flow.
    from prefect.context import refresh_global_settings_context

    from contrapose.flows.serve.temporary_server import TemporaryServer

    # Prefect asks the same instance again, and finds it running; if it failed to start, it tries once more.
    server = TemporaryServer()
    if not server.running:
        os.environ[KEY] = new_key()
        refresh_global_settings_context()
    return server


def serve_blocks(named: object) -> None:
    """See that a server which Prefect starts to read a block is ours; there is none to see to where none is named.

    Args:
        named: the block; empty or None for none.
    """
    if named and wants_own_server():
        own_server()


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
    """Import what every run needs, and while nothing is cached what validates, too: the server takes longer to start.

    Later most checks are found as they were, and what validates is imported where one is not.
    """
    from contrapose.flows import evaluate_model  # noqa: F401
    from contrapose.tasks.core.policy import RESULTS
    from contrapose.tasks.validate.expectations import import_library

    if not any(RESULTS.glob("*")):
        import_library()


def unwritable(folder: Path) -> str:
    """Why nothing can be written into a folder, or where it would be made; empty where it can."""
    # The file that is tried leaves nothing behind.
    try:
        place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
        with TemporaryFile(dir=place):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__


SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "GX_ANALYTICS_ENABLED": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TQDM_DISABLE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Settings of other people's libraries: no telemetry, no promotion, no noise."""


def be_quiet(*, logs: bool) -> None:
    """Set what the user has not set, before `prefect` or any model library is imported.

    Args:
        logs: whether Prefect may say what it does; otherwise it says nothing, and errors are told by the command.
    """
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    # Prefect makes its home itself, but not the folder that it is to lie in.
    with suppress(OSError):
        Path(os.environ.get("PREFECT_HOME") or Path.home()).expanduser().mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "INFO" if logs else "CRITICAL")
    if not logs:
        # What its background threads say, by loggers of other settings.
        os.environ.setdefault("PREFECT_LOGGING_INTERNAL_LEVEL", "CRITICAL")
        os.environ.setdefault("PREFECT_LOGGING_ROOT_LEVEL", "ERROR")
