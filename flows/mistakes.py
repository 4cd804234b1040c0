"""What Prefect logs when a run ends because of a mistake of the user's: one line, not a traceback."""

from __future__ import annotations

import logging

from contrapose.tasks.core.errors import ContraposeError

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
