"""Counts as bars beside their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.wording import percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One count among others."""

    name: str
    count: str
    share: str
    """Of all that are counted together."""
    width: float
    """The same from 0 to 100, for the drawing."""


def bars(counts: Mapping[str, int], show: Show) -> tuple[Bar, ...]:
    """A bar for each count, in the given order."""
    total = sum(counts.values())
    return tuple(
        Bar(
            name=show(name),
            count=f"{count:,}",
            share=percent(count / total if total else 0),
            width=round(100 * count / total, 1) if total else 0,
        )
        for name, count in counts.items()
    )
