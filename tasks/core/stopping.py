"""How far a test was asked in a run that may stop early: a part of summary.json."""

from __future__ import annotations

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


def stopped_early(stopping: Stopping) -> str:
    """That a test was decided before all of it was asked, for people."""
    looks = "look" if stopping["looks"] == 1 else "looks"
    return (
        f"Stopped early: decided after {stopping['judged']:,} of {stopping['cases']:,} cases, in {stopping['looks']} "
        f"{looks}."
    )
