"""Start of a run at a terminal: library settings, a Prefect server, and imports during the server's start."""

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
from contrapose.flows.serve.prefect_database import DATABASE, find_own_file, find_used_file
from contrapose.flows.serve.server_key import ADDRESS, bring_key_as_configured, refuse_silent_server, use_in_process
from contrapose.flows.serve.temporary_server import get_own_server, is_server_kept, is_server_wanted
from contrapose.tasks.core.errors import ConfigError

ENGINES = ("prefect.flow_engine", "prefect.task_engine", "fastapi.encoders")
"""What Prefect imports once a flow has begun, and what writes the parameters for its server."""

Use = Callable[[Mapping[str, str]], object]
"""Has Prefect use some settings, as `use_in_process`."""


def set_environment_defaults(*, logs: bool) -> None:
    """Set environment defaults before `prefect` or any model library is imported; with `logs` Prefect may log."""
    settings = {**SETTINGS, "PREFECT_LOGGING_LEVEL": "INFO" if logs else "CRITICAL"}
    if not logs:
        # What its background threads say, by loggers of other settings.
        settings |= {"PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL", "PREFECT_LOGGING_ROOT_LEVEL": "ERROR"}
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    shorten_logged_errors()
    create_parent_of_home()


def create_parent_of_home() -> None:
    """Create the parent folder of Prefect's home, because Prefect does not create it."""
    with suppress(OSError):
        Path(os.environ.get("PREFECT_HOME") or Path.home()).expanduser().mkdir(parents=True, exist_ok=True)


def begin_server() -> None:
    """Start the temporary server before other imports, unless the environment names a server.

    It takes longer than all that is imported and checked meanwhile. Where Prefect is imported already, which a caller
    in Python may have done, its settings are asked, too.
    """
    if not os.environ.get(ADDRESS) and ("prefect.settings" not in sys.modules or is_server_wanted()):
        get_own_server().begin()


def name_step() -> str:
    """Return the name of the step that a terminal shows while Prefect starts."""
    return "database" if get_own_server().makes_database else "start"


@contextmanager
def start_server(use: Use = use_in_process) -> Iterator[None]:
    """Start the temporary server, if one is needed, during the work inside; wait for it at the end.

    Raises:
        ConfigError: it has no place for its database, for which Prefect would wait for minutes; or the server that is
            named stays silent.
    """
    if not wants_own_server():
        yield
        refuse_silent_server(temporary=True)
        return
    if why := describe_database_problem():
        own = "home in CONTRAPOSE_HOME" if find_used_file() == find_own_file() else f"database in {DATABASE}"
        raise ConfigError(
            f"the database of a temporary Prefect server cannot be written ({why})",
            expected="a folder that can be written",
            remedy=f"Name another {own}, or a server in PREFECT_API_URL.",
            where=str(find_used_file()),
        )
    get_own_server().begin()
    yield
    use(get_own_server().start())


def wants_own_server() -> bool:
    """Return True if no server is named; if one is named, this process uses the key that it knows for it."""
    bring_key_as_configured()
    return is_server_wanted()


def ensure_block_server(named: object, use: Use = use_in_process) -> None:
    """Make sure that a server can read the named block, if there is one; `use` sets Prefect to use that server."""
    if named and wants_own_server():
        use(get_own_server().start())
    elif named:
        refuse_silent_server()


@contextmanager
def stop_heartbeats() -> Iterator[None]:
    """Switch off a flow run's heartbeats to a temporary server, because they delay its end by up to a second."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    with nullcontext() if is_server_kept() else temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield


def describe_database_problem() -> str:
    """Describe why a temporary server cannot write its database; return "" if it can, or writes no file."""
    file = find_used_file()
    return "" if file is None else explain_unwritable(file.parent)


def explain_unwritable(folder: Path) -> str:
    """Describe why nothing can be written in a folder, or where it would be created; return "" if writing works."""
    # The file that is tried leaves nothing behind.
    try:
        place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
        with TemporaryFile(dir=place):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__


def import_libraries() -> None:
    """Import what every run needs, and validation if the cache is empty, because the server starts more slowly.

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
