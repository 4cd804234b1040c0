"""Records about early stopping and its looks (interim decisions), which are a part of summary.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

# pydantic, which makes the schema of summary.json, reads no other before Python 3.12.
from typing_extensions import TypedDict


class Stopping(TypedDict):
    """How many cases of a test were asked in a run that may stop early."""

    cases: int
    """Cases that would have been judged had none been decided early."""
    judged: int
    """Cases that were."""
    looks: int
    """How often the evidence was compared with the gate."""
    shares: list[float]
    """Of all these cases, how many were judged at each look, ascending."""
    saved: int
    """Questions that were not asked, since the test was decided without them."""
    beside: list[str]
    """Ids of the runs that were asked the same cases side by side, this one too; empty if it was asked alone."""


OF_DIFFERENT_SAMPLES = (
    "rates over different samples may be compared by their intervals; a rate at which a test stopped early is slightly "
    "too far from its gate"
)
"""Note next to rates of which some were stopped early."""


def early_stop(test: Mapping[str, object]) -> Stopping | None:
    """Return the stopping record of a test that was decided early, or None for any other test."""
    stopping = cast(Stopping | None, test.get("stopping"))
    return stopping if stopping and stopping["judged"] < stopping["cases"] else None


def describe_asked_cases(early: Stopping) -> str:
    """Return the number of asked cases in words: `33 of 370 cases, stopped early`."""
    return f"{early['judged']:,} of {early['cases']:,} cases, stopped early"


def describe_early_stop(stopping: Stopping) -> str:
    """Return the sentence that a test was decided before all its cases were asked."""
    looks = "look" if stopping["looks"] == 1 else "looks"
    why = "together with the models compared with it" if stopping["beside"] else "as soon as the verdict was clear"
    return f"Stopped {why}: {stopping['judged']:,} of {stopping['cases']:,} cases, {stopping['looks']} {looks}."


ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def describe_earlier_look(earlier: Sequence[int]) -> str:
    """Return the sentence that an earlier look at fewer cases gave no verdict."""
    place = ORDINALS[len(earlier) - 1] if len(earlier) <= len(ORDINALS) else f"{len(earlier) + 1}th"
    *others, last = (f"{count:,}" for count in earlier)
    counts = f"{', '.join(others)} and {last}" if others else last
    cases = "case" if counts == "1" else "cases"
    return f"This is the {place} look: {counts} {cases} did not decide it before, so the evidence must be stronger."
