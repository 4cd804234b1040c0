"""Spinner that shows the current step in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

STEPS = {
    "check": "checking the suite and its data",
    "start": "starting Prefect",
    "database": "setting up Prefect's database (once)",
    "load": "loading samples",
    "perturb": "making cases",
    "validate_cases": "checking cases",
    "batch": "waiting for the batch, at most a day; you can interrupt and resume later",
    "validate_completions": "checking answers",
    "evaluate": "scoring answers",
    "validate_results": "checking results",
    "judge": "judging",
    "report": "writing the report",
    "shrink": "asking about shorter prompts",
}
"""Steps that show nothing of their own."""

_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def hide_progress(wanted: bool) -> Iterator[None]:
    """Hide all progress output of the work inside, if that is wanted."""
    token = _silent.set(wanted)
    try:
        yield
    finally:
        _silent.reset(token)


def is_progress_hidden() -> bool:
    """Return True if progress output is hidden."""
    return _silent.get()


def warn(text: str, *, when_silent: bool = False) -> None:
    """Log a warning of the run, and print it unless output is hidden; with `when_silent` print it only then."""
    from prefect import get_run_logger

    get_run_logger().warning(text)
    if is_progress_hidden() == when_silent:
        print(f"contrapose: {text}", file=sys.stderr)


def show_step(step: str) -> AbstractContextManager[object]:
    """Show a step on the terminal during the work inside."""
    if is_progress_hidden() or step not in STEPS:
        return nullcontext()
    from rich.console import Console

    console = Console(stderr=True)
    return console.status(STEPS[step]) if console.is_terminal else nullcontext()
