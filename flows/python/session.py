"""Runs in a user's own Python process: quiet, beside a running event loop, and interruptible.

Nothing here imports Prefect before it is needed: a preview needs none.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar, copy_context
from threading import Thread
from time import monotonic, sleep
from types import FrameType
from typing import TypeVar

from contrapose.flows.cli.interruption import interruptible, is_importing
from contrapose.flows.cli.start import create_parent_of_home
from contrapose.flows.orchestration.library_settings import SETTINGS
from contrapose.tasks.core.damage import LOGGER as DAMAGE
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.process_state import SharedChange

R = TypeVar("R")

LOGS = "PREFECT_LOGGING_LEVEL"
"""Variable by which people say that they want to see what Prefect says."""
LOGGERS, BACKGROUND = ("prefect", "httpx"), "prefect._internal"
ARGUMENTS = (
    (
        re.compile(r"--set '?data\.columns\.(\w+)=(.*?)'?, or columns: \{.*?\} next to the source"),
        r'columns={"\1": "\2"}',
    ),
    (re.compile(r"--skip-bad-rows \(skip_bad_rows: true in a suite\)"), "skip_bad_rows=True"),
    (re.compile(r"--(suite|out|model|test)\b"), r"\1"),
)
"""Options that remedies name, and what they are called in Python."""
GRACE_SECONDS = 60.0
"""How long an interrupted run may take to settle what is under way."""
LOOK_SECONDS = 0.05


class RunInterrupted(KeyboardInterrupt):
    """A call was interrupted; answers of a model with a named revision are not asked again."""

    def __str__(self) -> str:
        return "interrupted; make the same call again to continue (for a function, with the same revision)"

    def _render_traceback_(self) -> list[str]:
        """Return the one line that a notebook shows instead of a traceback; IPython calls this."""
        return [f"KeyboardInterrupt: {self}"]


def run_in_session(work: Callable[[], R], *, show_toxic: bool) -> R:
    """Do the work of a call; report errors that the user can correct, and interruptions, in one line each."""
    create_parent_of_home()
    try:
        with interruptible((signal.SIGINT,)):
            return run_beside_loops(work)
    except KeyboardInterrupt:
        raise RunInterrupted from None
    except Exception as error:
        raise reword_error(error, show_toxic=show_toxic) from None


def reword_error(error: Exception, *, show_toxic: bool) -> Exception:
    """Reword an error that the user can correct, with Python arguments instead of options; keep any other error."""
    if not isinstance(error, ContraposeError):
        from contrapose.flows.orchestration.error_display import find_lost_server

        return find_lost_server(error) or error
    from contrapose.tasks.text.masking import mask_toxic

    def in_python(remedy: str) -> str:
        for option, argument in ARGUMENTS:
            remedy = option.sub(argument, remedy)
        return remedy

    return error.reworded(str if show_toxic else mask_toxic, remedy=in_python)


@contextmanager
def use_prefect(key_block: object) -> Iterator[Callable[[], None]]:
    """Set Prefect's settings for one call, in its context only, so that the block of a key can be read.

    Yields:
        A function that imports all that a flow needs, and starts a server where none is named; it runs until the
        process ends, so that the next call finds it.
    """
    # Prefect sets up its loggers as `flow` is imported.
    from prefect import flow, settings  # noqa: F401

    from contrapose.flows.cli.start import ensure_block_server, import_libraries, name_step, start_server
    from contrapose.flows.orchestration.spinner import show_step
    from contrapose.flows.serve.server_key import find_lacking_key
    from contrapose.tasks.core.secrets import SCHEME

    with ExitStack() as stack:

        def use(values: Mapping[str, str]) -> None:
            stack.enter_context(settings.temporary_settings({getattr(settings, name): values[name] for name in values}))

        def start() -> None:
            with show_step(name_step()), start_server(use):
                import_libraries()

        patience = settings.PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS
        stack.enter_context(settings.temporary_settings(set_defaults={patience: SETTINGS[patience.name]}))
        if LOGS not in os.environ:
            stack.enter_context(silence_prefect())
        if lacking := find_lacking_key():
            use(lacking)
        ensure_block_server(key_block or os.environ.get("CONTRAPOSE_STORE", "").startswith(SCHEME), use)
        yield start


@contextmanager
def silence_call(wanted: bool) -> Iterator[None]:
    """Print nothing of the work inside, if that is wanted: no progress, no remark, no warning of a damaged file."""
    from contrapose.flows.orchestration.spinner import hide_progress

    logger, drop = logging.getLogger(DAMAGE), (lambda _: False)
    with hide_progress(wanted), ExitStack() as stack:
        if wanted:
            logger.addFilter(drop)
            stack.callback(logger.removeFilter, drop)
        yield


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def silence_prefect() -> Iterator[None]:
    """Stop all output of Prefect's log in this context; other threads still log."""
    token = _quiet.set(True)
    try:
        with _FILTERED.needed():
            yield
    finally:
        _quiet.reset(token)


def _is_heard(record: logging.LogRecord) -> bool:
    # Called by handlers; Prefect's background threads have no context of a call.
    return not (record.name.startswith(BACKGROUND) or (_quiet.get() and record.name.partition(".")[0] in LOGGERS))


def _add_filters() -> Callable[[], None]:
    loggers = [logging.getLogger(), *map(logging.getLogger, list(logging.root.manager.loggerDict))]
    handlers = {handler for logger in loggers for handler in logger.handlers}
    for handler in handlers:
        handler.addFilter(_is_heard)

    def remove_filters() -> None:
        for handler in handlers:
            handler.removeFilter(_is_heard)

    return remove_filters


_FILTERED = SharedChange(_add_filters)


def run_beside_loops(work: Callable[[], R]) -> R:
    """Do the work here, or in a new thread if an event loop runs here, as in a notebook: it needs its own loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    outcome: Future[R] = Future()
    thread = Thread(target=copy_context().run, args=(_settle, work, outcome), daemon=True)
    thread.start()
    try:
        return outcome.result()
    except KeyboardInterrupt:
        if not outcome.done():
            _interrupt(thread, outcome)
        raise


def _settle(work: Callable[[], R], outcome: Future[R]) -> None:
    try:
        outcome.set_result(work())
    except BaseException as error:
        outcome.set_exception(error)


def _interrupt(thread: Thread, outcome: Future[R]) -> None:
    """Raise KeyboardInterrupt in a thread, at a point where that is safe, and wait for it to end."""
    end = monotonic() + GRACE_SECONDS
    while _is_unsafe_to_stop(sys._current_frames().get(thread.ident or 0)) and monotonic() < end:
        sleep(LOOK_SECONDS)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt))
    with suppress(Exception):
        outcome.exception(timeout=max(0.0, end - monotonic()))


def _is_unsafe_to_stop(frame: FrameType | None) -> bool:
    """Return True if the code of a frame imports something or starts a thread.

    CPython takes a thread that was made and has not begun yet for the one that made it. What is raised then ends the
    new one before it begins, and the one that made it waits for its beginning for ever.
    """
    if is_importing(frame):
        return True
    while frame is not None and frame.f_code is not Thread.start.__code__:
        frame = frame.f_back
    return frame is not None
