"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass

from contrapose.tasks.core.provider import Check, State


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
