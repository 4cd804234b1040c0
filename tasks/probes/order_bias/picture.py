"""The picture of order_bias: what was chosen in both orders, as a grid and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.probes.panels import Grid, Heading, Panel, Share
from contrapose.tasks.probes.patterns import pattern

SENTENCES = {
    "AB": "picks the right summary in both orders: the content decides.",
    "AA": "answers A in both orders: the position decides, not the content.",
    "BB": "answers B in both orders: the position decides, not the content.",
    "BA": "picks the wrong summary in both orders: it prefers the one that the article contradicts.",
}
"""By what was chosen in the original and in the swapped order; the right answers are A, then B."""
UNPARSED = "unparsed"


class Positions:
    """Counts of the pairs of orders by their outcome."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the pairs that were scored; those in error have no second result."""
        self._outcomes.update(rows.loc[rows["swapped_result"].notna(), "outcome"].dropna())

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """The grid of the four outcomes; none where no pair was scored."""
        if not self._outcomes:
            return []
        counts = {pair: self._outcomes[pair] for pair in SENTENCES}
        total, unparsed = sum(counts.values()), self._outcomes[UNPARSED]
        cell = {pair: Share(name=pair, count=count, total=total) for pair, count in counts.items()}
        return [
            Grid(
                caption="Choices in both orders",
                columns=(Heading(name="swapped: B", note="right"), Heading(name="swapped: A", note="wrong")),
                rows=(
                    (Heading(name="original: A", note="right"), (cell["AB"], cell["AA"])),
                    (Heading(name="original: B", note="wrong"), (cell["BB"], cell["BA"])),
                ),
                sentence=pattern(counts, SENTENCES, without_choice=unparsed),
                note=f"Unparsed: {unparsed:,}.",
                figures=frozenset({*SENTENCES, UNPARSED}),
            )
        ]
