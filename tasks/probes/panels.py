"""Data types of the bars, grids and tables on the card of a test in the report.

A test counts its rows, part by part, and describes the counts; reports draw them. Reports also do all escaping and
formatting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from contrapose.tasks.core.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelShare:
    """A count and its share of a total."""

    name: str
    count: int
    total: int
    """Out of how many; a share of nothing is drawn as none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar chart: shares below each other."""

    title: str
    shares: tuple[PanelShare, ...]
    sentence: str = ""
    """What they come to, in words, over the title."""
    figures: frozenset[str] = frozenset()
    """Names of the test's figures that need not be listed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """The heading of a column or row of a grid."""

    name: str
    """What its cells have in common."""
    note: str
    """Whether that is right or wrong, or another short remark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A grid of shares in rows and columns, shaded by size."""

    caption: str
    columns: tuple[Heading, ...]
    rows: tuple[tuple[Heading, tuple[PanelShare, ...]], ...]
    sentence: str = ""
    note: str = ""
    figures: frozenset[str] = frozenset()
    """Names of the test's figures that need not be listed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number in a table, with its interval."""

    value: float
    interval: tuple[float, float] | None = None
    is_change: bool = False
    """Whether a positive number gets a plus sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A small table: each row has a name, then quantities or words."""

    caption: str
    header: tuple[str, ...]
    """Headings of the names and of each column."""
    rows: tuple[tuple[str, tuple[Quantity | str | None, ...]], ...]
    """A name with its cells; a cell without content is None."""
    figures: frozenset[str] = frozenset()
    """Names of the test's figures that need not be listed again."""


Panel = Bars | Grid | Sheet


class Picture(Protocol):
    """A counter of a test's result rows that makes the panels of its card."""

    def add(self, rows: pd.DataFrame) -> None:
        """Count some rows: cases without controls, complete, in the order of the results."""

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return the panels for all counted rows; empty if there is nothing to show."""


def shares(counts: Mapping[str, int]) -> tuple[PanelShare, ...]:
    """Return counts as shares of their sum, in the given order."""
    total = sum(counts.values())
    return tuple(PanelShare(name=name, count=count, total=total) for name, count in counts.items())


def get_quantity(outcome: Outcome, name: str, *, is_change: bool = False) -> Quantity | None:
    """Return a figure of a test with its interval; None if the test has no figure of that name."""
    if (estimate := outcome["estimates"].get(name)) is None:
        return None
    return Quantity(value=estimate["value"], interval=estimate["interval"], is_change=is_change)


def state_pattern(counts: Mapping[str, int], sentences: Mapping[str, str], *, without_choice: int) -> str:
    """Return a sentence on the most frequent outcome of pairs with a choice in both orders: `Always answers A …`."""
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
