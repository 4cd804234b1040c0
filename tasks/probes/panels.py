"""Bars, grids and tables on the card of a test, as plain data.

A probe counts over its rows, part by part, and says what the counts mean; reports draw it. Nothing here is escaped or
formatted: that is theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from contrapose.tasks.core.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelShare:
    """A count among others."""

    name: str
    count: int
    total: int
    """Out of how many; a share of nothing is drawn as none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Shares one under the other."""

    title: str
    shares: tuple[PanelShare, ...]
    sentence: str = ""
    """What they come to, in words, over the title."""
    figures: frozenset[str] = frozenset()
    """Names of the test's figures that need not be listed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """Over a column of a grid, or before a row."""

    name: str
    """What its cells have in common."""
    note: str
    """Whether that is right or wrong, or another short remark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Shares in rows and columns, shaded by their size."""

    caption: str
    columns: tuple[Heading, ...]
    rows: tuple[tuple[Heading, tuple[PanelShare, ...]], ...]
    sentence: str = ""
    note: str = ""
    figures: frozenset[str] = frozenset()
    """Names of the test's figures that need not be listed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number in a table."""

    value: float
    interval: tuple[float, float] | None = None
    is_change: bool = False
    """Whether a plus stands before what is greater than 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A small table: a name with its quantities or words in each row."""

    caption: str
    header: tuple[str, ...]
    """Over the names and over each column."""
    rows: tuple[tuple[str, tuple[Quantity | str | None, ...]], ...]
    """A name with its cells; None where there is nothing to tell."""
    figures: frozenset[str] = frozenset()
    """Names of the test's figures that need not be listed again."""


Panel = Bars | Grid | Sheet


class Picture(Protocol):
    """Count of a probe over its rows, for the card of a report."""

    def add(self, rows: pd.DataFrame) -> None:
        """Count some rows: cases without their controls, complete, in the order of the results."""

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return the panels for all rows together; nothing where there is nothing to show."""


def shares(counts: Mapping[str, int]) -> tuple[PanelShare, ...]:
    """Return counts as shares of their sum, in the given order."""
    total = sum(counts.values())
    return tuple(PanelShare(name=name, count=count, total=total) for name, count in counts.items())


def get_quantity(outcome: Outcome, name: str, *, is_change: bool = False) -> Quantity | None:
    """Return a figure of a test with its interval; None where the test has none of that name."""
    if (estimate := outcome["estimates"].get(name)) is None:
        return None
    return Quantity(value=estimate["value"], interval=estimate["interval"], is_change=is_change)


def state_pattern(counts: Mapping[str, int], sentences: Mapping[str, str], *, without_choice: int) -> str:
    """Return the commonest outcome of the pairs with a choice in both orders, as a sentence: `Always answers A …`."""
    decided = sum(counts.values())
    pairs = decided + without_choice
    if without_choice > decided:
        return f"Most pairs lack a choice in one order or both ({without_choice:,} of {pairs:,})."
    commonest = max(sentences, key=lambda name: counts[name])
    share = counts[commonest] / decided
    often = "Always" if share == 1 else "Nearly always" if share >= 0.9 else "Mostly"
    sentence = f"{often} {sentences[commonest]}"
    if share < 0.5:
        sentence = "No single pattern: content and position both show."
    if not without_choice:
        return sentence
    return f"Among the {decided:,} of {pairs:,} pairs with a choice each time, {sentence[0].lower()}{sentence[1:]}"
