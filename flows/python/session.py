"""A run in somebody's own Python process: quiet, beside an event loop that may run there, and interrupted in one piece.

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
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partialmethod
from importlib import import_module
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from types import FrameType
from typing import TypeVar

from contrapose.flows.cli.interruption import imports, interruptible
from contrapose.flows.cli.start import SETTINGS
from contrapose.tasks.config.permissions import VARIABLES, allow, typed
from contrapose.tasks.core.errors import ContraposeError

R = TypeVar("R")

OF_THE_COMMAND = ("TQDM_DISABLE",)
"""Settings that would take something from whoever owns the process: bars of their own."""
LOGS = "PREFECT_LOGGING_LEVEL"
"""Variable by which people say that they want to see what Prefect says."""
LOGGERS = ("prefect", "prefect.flow_runs", "prefect.task_runs", "prefect._internal", "prefect.server", "httpx")
ARGUMENTS = (
    (
        re.compile(r"--set '?data\.columns\.(\w+)=(.*?)'?, or columns: \{.*?\} beside the source"),
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
    """A call was interrupted; what was answered under a named revision is not asked again."""

    def __str__(self) -> str:
        return "interrupted; the same call goes on where it stopped (that of a function, where revision names it)"

    def _render_traceback_(self) -> list[str]:
        """Called by IPython: a notebook shows the line alone."""
        return [f"KeyboardInterrupt: {self}"]


def in_session(work: Callable[[], R], *, show_toxic: bool) -> R:
    """Do the work of a call; what a user can mend comes up in lines that may be read aloud.

    Args:
        work: the call, which asks models.
        show_toxic: leave toxic words in errors as they are.

    Raises:
        ContraposeError: something the user can mend.
        KeyboardInterrupt: the user has interrupted it.
    """
    for name, value in SETTINGS.items():
        if name not in OF_THE_COMMAND:
            os.environ.setdefault(name, value)
    with suppress(OSError):
        # Prefect makes its home itself, but not the folder that it is to lie in.
        Path(os.environ.get("PREFECT_HOME") or Path.home()).expanduser().mkdir(parents=True, exist_ok=True)
    try:
        with interruptible((signal.SIGINT,)):
            return beside_loops(work)
    except KeyboardInterrupt:
        raise RunInterrupted from None
    except Exception as error:
        raise mendable(error, show_toxic=show_toxic) from None


def mendable(error: Exception, *, show_toxic: bool) -> Exception:
    """What the user can mend about an error, fit to be shown; any other error as it is."""
    if not isinstance(error, ContraposeError):
        from contrapose.flows.orchestration.error_display import lost_server

        return lost_server(error) or error
    from contrapose.tasks.text.masking import masked

    return error.reworded(str if show_toxic else masked, remedy=_in_python)


def _in_python(remedy: str) -> str:
    """A remedy with arguments in place of the command's options."""
    for option, argument in ARGUMENTS:
        remedy = option.sub(argument, remedy)
    return remedy


def reach_blocks(key_block: object) -> None:
    """See that Prefect Secret blocks can be read: the store's address and a model's key may be in one.

    Args:
        key_block: that holds the key; None for none.
    """
    from contrapose.flows.cli.start import serve_blocks
    from contrapose.flows.serve.server_key import bring_key
    from contrapose.tasks.core.secrets import SCHEME

    bring_key()
    serve_blocks(key_block or os.environ.get("CONTRAPOSE_STORE", "").startswith(SCHEME))


def start() -> None:
    """Import what a flow needs, and start a server where none is named; it stays, so that the next call finds it."""
    from contrapose.flows.cli.start import import_libraries, server_starting, starting
    from contrapose.flows.orchestration.at_work import at_work

    with at_work(starting()), server_starting():
        import_libraries()


@contextmanager
def unlogged() -> Iterator[None]:
    """Let Prefect say nothing, unless the user has set how much it is to say; afterwards it says what it did before."""
    if LOGS in os.environ:
        yield
        return
    # As it is imported it sets the levels itself.
    import prefect.context  # noqa: F401

    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def without_bars(wanted: bool) -> Iterator[None]:
    """Let libraries show no bars while a quiet call lasts, such as that of a model that is converted once."""
    if not wanted:
        yield
        return
    bar = import_module("tqdm.std").tqdm
    before = bar.__init__
    bar.__init__ = partialmethod(before, disable=True)
    try:
        yield
    finally:
        bar.__init__ = before


@contextmanager
def allowed(model: str | None) -> Iterator[None]:
    """Allow the model that a caller names, as the command line does; what a call allows ends with it."""
    before = {name: os.environ.get(name) for name in VARIABLES}
    allow(typed({"model": model}))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def beside_loops(work: Callable[[], R]) -> R:
    """Do the work here, or in a thread where an event loop runs here, as in a notebook: it needs loops of its own."""
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
    """Raise in a thread what Ctrl-C raises here, where that does no harm, and wait for it to settle."""
    end = monotonic() + GRACE_SECONDS
    while _is_delicate(sys._current_frames().get(thread.ident or 0)) and monotonic() < end:
        sleep(LOOK_SECONDS)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt))
    with suppress(Exception):
        outcome.exception(timeout=max(0.0, end - monotonic()))


def _is_delicate(frame: FrameType | None) -> bool:
    """Whether what goes on in a frame imports something or starts a thread.

    CPython takes a thread that was made and has not begun yet for the one that made it. What is raised then ends the
    new one before it begins, and the one that made it waits for its beginning for ever.
    """
    if imports(frame):
        return True
    while frame is not None and frame.f_code is not Thread.start.__code__:
        frame = frame.f_back
    return frame is not None
