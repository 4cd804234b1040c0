"""A line of the list of runs."""

from __future__ import annotations

from dataclasses import dataclass

Links = tuple[tuple[str, str], ...]
"""Names of files, and where they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A run or a comparison of runs: every text ready to be shown."""

    name: str
    verdict: str
    """Or `refused`; empty where the file that tells it cannot be read."""
    colour: str
    """The verdict of a run that has the same colour; empty for none."""
    model: str
    suite: str
    started: str
    """As in the summary, for programs."""
    moment: str
    reason: str
    rates: tuple[str, ...]
    """Each test with its pass rate; in a comparison, with its verdict."""
    links: Links


def bare(name: str, verdict: str, reason: str, links: Links) -> Listed:
    """A folder without a file to tell of it."""
    return Listed(
        name=name,
        verdict=verdict,
        colour=verdict,
        model="",
        suite="",
        started="",
        moment="",
        reason=reason,
        rates=(),
        links=links,
    )
