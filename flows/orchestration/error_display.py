"""What people see of errors that nobody foresaw, and what Prefect logs of those they can mend: one line."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.secrets import without_user

REFUSED = (401, 403)
"""Status of a server that asks for another key."""

UNREACHED = ("Failed to reach API at", "Timed out while attempting to connect to ephemeral")
"""How Prefect's own errors begin that have no better type: its check of an address before a flow begins, and of a
temporary server that did not start."""


def lost_server(error: BaseException) -> ContraposeError | None:
    """What a Prefect server that does not answer, or refuses, comes down to; None for any other error."""
    from httpx import HTTPStatusError, TransportError

    for cause in _causes(error):
        if isinstance(cause, HTTPStatusError) and cause.response.status_code in REFUSED:
            return ConfigError(
                f"the Prefect server refuses what this command asks (status {cause.response.status_code})",
                expected="the key of that server",
                remedy="Set PREFECT_API_AUTH_STRING or PREFECT_API_KEY; that of `contrapose ui` is found in the home "
                "(CONTRAPOSE_HOME) it was started in. The same command goes on where it stopped.",
            )
        if isinstance(cause, TransportError) or str(cause).startswith(UNREACHED):
            return ConfigError(
                f"the Prefect server does not answer ({type(cause).__name__}: {without_user(str(cause))})",
                expected="a server that can be reached as long as the run goes on",
                remedy="Start it, correct PREFECT_API_URL, or unset that to use a temporary one; `contrapose doctor` "
                "looks at it. The same command goes on where it stopped.",
            )
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        yield error
        seen.append(error)
        error = error.__cause__ or error.__context__


FLOW_RUN = "PREFECT__FLOW_RUN_ID"
"""Variable by which Prefect names the flow run that a process was started for."""

LOGGERS = ("prefect.flow_runs", "prefect.task_runs", "prefect.engine")
"""Where Prefect's engine logs what a flow or task raised."""


def tell_in_one_line() -> None:
    """Have Prefect's loggers tell such errors as the command does, on a worker too; doing it again changes nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_shortened)


def _shortened(record: logging.LogRecord) -> bool:
    """Called by the logger: the record without its traceback, where the error says itself what to do."""
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if isinstance(error, ContraposeError):
        record.msg, record.args, record.exc_info = str(error), (), None
    return True
