"""The picture of add_toxic_words: bad words that the change added, by tier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.probes.panels import Panel, Quantity, Sheet
from contrapose.tasks.probes.toxic_words.lexicon import TIERS
from contrapose.tasks.probes.values import numbers


class Tiers:
    """Sums of the words that were added."""

    def __init__(self) -> None:
        self._added: Counter[str] = Counter()

    def add(self, rows: pd.DataFrame) -> None:
        """Add up the tiers of the rows that were counted."""
        for tier in TIERS:
            added = numbers(rows[f"added_{tier}"])
            if (known := added[added == added]).size:
                self._added[tier] += int(known.sum())

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """A row for each tier, in all and for each case; nothing where no reply was counted."""
        if not self._added:
            return []
        return [
            Sheet(
                caption="Bad words that the change added to the replies",
                header=("tier", "in all", "each case (95 %)"),
                rows=tuple(
                    (tier, (Quantity(value=total, is_change=True), _mean(outcome, tier)))
                    for tier, total in self._added.items()
                ),
                figures=frozenset(f"mean_added_{tier}" for tier in TIERS),
            )
        ]


def _mean(outcome: Outcome, tier: str) -> Quantity | None:
    found = outcome["estimates"].get(f"mean_added_{tier}")
    return Quantity(value=found["value"], interval=found["interval"]) if found else None
