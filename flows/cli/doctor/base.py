"""What a check finds, and how long it may wait for somebody else."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from threading import Thread
from typing import TypeVar

from contrapose.tasks.core.provider import Check, State

Result = TypeVar("Result")

SECONDS = 5.0
"""How long a server may take to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One line of the table."""

    name: str
    """What was looked at."""
    state: State
    """Whether it works."""
    observed: str
    """What was met."""
    remedy: str = ""
    """What to do about it."""


def ok(name: str, observed: str, remedy: str = "") -> DoctorFinding:
    """A finding that is as it should be; its remedy is an offer."""
    return DoctorFinding(name=name, state="ok", observed=observed, remedy=remedy)


def warning(name: str, observed: str, remedy: str) -> DoctorFinding:
    """A finding that does not keep anything from working."""
    return DoctorFinding(name=name, state="warning", observed=observed, remedy=remedy)


def problem(name: str, observed: str, remedy: str) -> DoctorFinding:
    """A finding that keeps something from working."""
    return DoctorFinding(name=name, state="problem", observed=observed, remedy=remedy)


def seen(name: str, check: Check) -> DoctorFinding:
    """What was seen of a model, as a finding."""
    return DoctorFinding(name=name, state=check.state, observed=check.observed, remedy=check.remedy)


def within(call: Callable[[], Result], seconds: float = SECONDS) -> Result:
    """What a call returns or raises, unless that takes too long; it is then left to itself.

    Raises:
        TimeoutError: there was no answer in that time.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def kept() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    # A daemon: the command ends although a server never answers. Prefect keeps its settings in the context.
    thread = Thread(target=copy_context().run, args=(kept,), daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return results[0]
