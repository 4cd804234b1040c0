"""Errors as people see them: a lost Prefect server, and errors that a user can fix as one line of Prefect's log."""

from __future__ import annotations

import logging

from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.secrets import remove_credentials

REFUSED = (401, 403)
"""Status of a server that asks for another key."""

UNREACHED = ("Failed to reach API at", "Timed out while attempting to connect to ephemeral")
"""First words of Prefect's own errors that have no better type: its check of an address before a flow begins, and of a
temporary server that did not start."""

FLOW_RUN = "PREFECT__FLOW_RUN_ID"
"""Variable by which Prefect names the flow run that a process was started for."""

LOGGERS = ("prefect.flow_runs", "prefect.task_runs", "prefect.engine")
"""Loggers to which Prefect's engine reports what a flow or task raised."""


def find_lost_server(error: BaseException) -> ContraposeError | None:
    """Return an error about a Prefect server that does not answer or refuses; return None for any other error."""
    from httpx import HTTPStatusError, TransportError

    cause: BaseException | None = error
    seen: list[BaseException] = []
    while cause is not None and cause not in seen:
        if isinstance(cause, HTTPStatusError) and cause.response.status_code in REFUSED:
            return ConfigError(
                f"the Prefect server refuses what this command asks (status {cause.response.status_code})",
                expected="the key of that server",
                remedy="Set PREFECT_API_AUTH_STRING or PREFECT_API_KEY. Of `contrapose ui`, the key is found once "
                "CONTRAPOSE_HOME is the folder that it was started with. Run the same command again to continue.",
            )
        if isinstance(cause, TransportError) or str(cause).startswith(UNREACHED):
            return ConfigError(
                f"the Prefect server does not answer ({type(cause).__name__}: {remove_credentials(str(cause))})",
                expected="a server that stays reachable during the run",
                remedy="Start it, correct PREFECT_API_URL, or unset that to use a temporary one; `contrapose doctor` "
                "checks it. Run the same command again to continue.",
            )
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    return None


def shorten_logged_errors() -> None:
    """Shorten such errors in Prefect's logs, as the command line does; a second call changes nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_drop_traceback)


def _drop_traceback(record: logging.LogRecord) -> bool:
    """Remove the traceback from a log record if the error itself says what to do."""
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if isinstance(error, ContraposeError):
        record.msg, record.args, record.exc_info = str(error), (), None
    return True
