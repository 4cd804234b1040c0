"""Start of a run at a terminal: settings of libraries, a Prefect server, and imports in the background."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile

from contrapose.flows.orchestration.error_display import shorten_logged_errors
from contrapose.flows.orchestration.library_settings import SETTINGS
from contrapose.flows.serve.prefect_database import DATABASE, own_file, used_file
from contrapose.flows.serve.server_key import ADDRESS, bring_key_as_configured, refuse_silent_server, use_in_process
from contrapose.flows.serve.temporary_server import is_kept, is_wanted, own_server
from contrapose.tasks.core.errors import ConfigError

ENGINES = ("prefect.flow_engine", "prefect.task_engine", "fastapi.encoders")
"""What Prefect imports once a flow has begun, and what writes the parameters for its server."""

Use = Callable[[Mapping[str, str]], object]
"""Has Prefect use some settings, as `use_in_process`."""


def be_quiet(*, logs: bool) -> None:
    """Set what the user has not set, before `prefect` or any model library is imported; `logs`: Prefect may log."""
    settings = {**SETTINGS, "PREFECT_LOGGING_LEVEL": "INFO" if logs else "CRITICAL"}
    if not logs:
        # What its background threads say, by loggers of other settings.
        settings |= {"PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL", "PREFECT_LOGGING_ROOT_LEVEL": "ERROR"}
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    shorten_logged_errors()
    make_home()


def make_home() -> None:
    """Make the folder that Prefect's home is to lie in, which Prefect does not."""
    with suppress(OSError):
        Path(os.environ.get("PREFECT_HOME") or Path.home()).expanduser().mkdir(parents=True, exist_ok=True)


def begin_server() -> None:
    """Begin the temporary server before anything else is imported, unless the environment names another one.

    It takes longer than all that is imported and checked meanwhile. Where Prefect is imported already, which a caller
    in Python may have done, its settings are asked, too.
    """
    if not os.environ.get(ADDRESS) and ("prefect.settings" not in sys.modules or is_wanted()):
        own_server().begin()


def starting() -> str:
    """Name the step that a person at a terminal sees while Prefect starts."""
    return "database" if own_server().makes_database else "start"


@contextmanager
def server_starting(use: Use = use_in_process) -> Iterator[None]:
    """Start the temporary server, where one is needed, while what is inside is done; wait for it at the end.

    Raises:
        ConfigError: it has no place for its database, for which Prefect would wait for minutes; or the server that is
            named stays silent.
    """
    if not wants_own_server():
        yield
        refuse_silent_server(temporary=True)
        return
    if why := home_problem():
        own = "home in CONTRAPOSE_HOME" if used_file() == own_file() else f"database in {DATABASE}"
        raise ConfigError(
            f"the database of a temporary Prefect server cannot be written ({why})",
            expected="a folder that can be written",
            remedy=f"Name another {own}, or a server in PREFECT_API_URL.",
            where=str(used_file()),
        )
    own_server().begin()
    yield
    use(own_server().start())


def wants_own_server() -> bool:
    """Return True if no server is named; to one that is, this process brings the key it knows."""
    bring_key_as_configured()
    return is_wanted()


def serve_blocks(named: object, use: Use = use_in_process) -> None:
    """See that there is a server which the named block, if any, can be read from; `use` has Prefect use it."""
    if named and wants_own_server():
        use(own_server().start())
    elif named:
        refuse_silent_server()


@contextmanager
def without_heartbeats() -> Iterator[None]:
    """Let a flow run send no heartbeats to a temporary server: it would wait for the last of them, a second at most."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    with nullcontext() if is_kept() else temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield


def home_problem() -> str:
    """Say why a temporary server cannot write its database; empty where it can, or where no file is written."""
    file = used_file()
    return "" if file is None else write_problem(file.parent)


def write_problem(folder: Path) -> str:
    """Say why nothing can be written into a folder, or where it would be made; empty where it can."""
    # The file that is tried leaves nothing behind.
    try:
        place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
        with TemporaryFile(dir=place):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__


def import_libraries() -> None:
    """Import what every run begins with, and while nothing is cached what validates, too: the server takes longer.

    Later most checks are in the cache, and what validates is imported where one is not.
    """
    from contrapose.flows import evaluate_model  # noqa: F401
    from contrapose.tasks.core.policy import RESULTS
    from contrapose.tasks.tables.large_blocks import keep_no_large_blocks
    from contrapose.tasks.validate.expectations import import_library

    for name in ENGINES:
        import_module(name)
    keep_no_large_blocks()
    if not any(RESULTS.glob("*")):
        import_library()
