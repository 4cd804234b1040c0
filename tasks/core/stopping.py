"""How far a test was asked in a run that may stop early: a part of summary.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

# pydantic, which makes the schema of summary.json, reads no other before Python 3.12.
from typing_extensions import TypedDict


class Stopping(TypedDict):
    """How far a test was asked in a run that may stop early."""

    cases: int
    """Cases that would have been judged had none been decided early."""
    judged: int
    """Cases that were."""
    looks: int
    """How often the evidence was held against the gate."""
    saved: int
    """Questions that were not asked, since the test was decided without them."""


OF_DIFFERENT_SAMPLES = (
    "rates over different samples may be compared, each with its interval, but one at which a test stopped lies "
    "slightly too far from its gate"
)
"""What stands beside rates of which some were stopped early."""


def early_stop(test: Mapping[str, object]) -> Stopping | None:
    """How far a test was asked that was decided before all of it was; None for any other test.

    Args:
        test: its outcome, or what the history keeps of it.
    """
    stopping = cast(Stopping | None, test.get("stopping"))
    return stopping if stopping and stopping["judged"] < stopping["cases"] else None


def asked_of(early: Stopping) -> str:
    """How many of its cases a test was asked that was stopped early: `33 of 370 cases, stopped early`."""
    return f"{early['judged']:,} of {early['cases']:,} cases, stopped early"


def stopped_early(stopping: Stopping) -> str:
    """That a test was decided before all of it was asked, for people."""
    looks = "look" if stopping["looks"] == 1 else "looks"
    return (
        f"Stopped early: decided after {stopping['judged']:,} of {stopping['cases']:,} cases, in {stopping['looks']} "
        f"{looks}."
    )
