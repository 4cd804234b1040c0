"""What a model does with two summaries in both orders, counted and in words."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from contrapose.tasks.report.wording import among, pattern, undecided

PAIRS = ("AB", "AA", "BB", "BA")

SENTENCES = {
    "AB": "picks the right summary in both orders: the content decides.",
    "AA": "answers A in both orders: the position decides, not the content.",
    "BB": "answers B in both orders: the position decides, not the content.",
    "BA": "picks the wrong summary in both orders: it prefers the one that the article contradicts.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Counts of the outcomes of order_bias; the right answers are A, then B."""

    counts: dict[str, int]
    """Pairs by what was chosen in the original and in the swapped order: AB, AA, BB, BA."""
    unparsed: int
    """Pairs where at least one reply named no choice."""

    @property
    def parsed(self) -> int:
        """Pairs with a choice in both orders."""
        return sum(self.counts.values())

    def share(self, pair: str) -> float:
        """Share of a pair among those parsed; 0 when none was."""
        return self.counts[pair] / self.parsed if self.parsed else 0.0


def positions(results: pd.DataFrame) -> Positions | None:
    """Count the outcomes of order_bias; None when there are no rows of it. Controls have no outcome."""
    if not {"outcome", "swapped_result"} <= set(results):
        return None
    found = results.loc[results["swapped_result"].notna(), "outcome"].value_counts()
    counted = Positions(
        counts={pair: int(found.get(pair, 0)) for pair in PAIRS}, unparsed=int(found.get("unparsed", 0))
    )
    return counted if counted.parsed + counted.unparsed else None


def reading(found: Positions) -> str:
    """The pattern in plain words."""
    pairs = found.parsed + found.unparsed
    if found.unparsed > found.parsed:
        return undecided(found.unparsed, pairs)
    pair = max(PAIRS, key=found.share)
    return among(pattern(found.share(pair), SENTENCES[pair]), decided=found.parsed, pairs=pairs)
