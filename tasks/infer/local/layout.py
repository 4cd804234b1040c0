"""Where the tokens of a row stand: a tree whose branches follow one another, each seeing what leads to it.

And how wide a batch is: as its longest row, but for widths at which an attention kernel errs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from contrapose.tasks.infer.local.rows import BatchRow, Query

ERRS_ON, BLOCK = "cuda", 32
"""Devices on which a kernel errs, and the queries that it computes together, or half of them."""


def width(longest: int, device: str) -> int:
    """Tokens of each row of a batch, fillers included.

    Args:
        longest: tokens of the longest row.
        device: torch's type of it.

    Where a row is one token longer than full blocks, and all heads share their keys and values, torch's
    memory-efficient attention takes the last query for the only one, and gives it what another head's query gets:
    `num_queries == 1` in torch's kernel_forward.h, 2.11 and 2.13 (decision 47). With a filler more, no query is left
    over.
    """
    return longest + 1 if device == ERRS_ON and longest > 1 and longest % BLOCK == 1 else longest


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """Tokens side by side that one query adds to the row."""

    before: list[int]
    """Columns of the tokens that lead to it."""
    begin: int
    """Its first column."""
    end: int
    """The column after its last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A row, column by column, without what all rows begin with."""

    tokens: list[int] = field(default_factory=list)
    """Token ids."""
    positions: list[int] = field(default_factory=list)
    """Of each token, in its query."""
    branches: list[Branch] = field(default_factory=list)
    """In the order of their columns."""
    wanted: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    """Column, targets and spellings of each place that is wanted, query by query."""

    @classmethod
    def of(cls, row: BatchRow, common: int) -> Layout:
        """The layout of a row whose first `common` tokens are elsewhere."""
        layout, path = cls(), list[int]()
        for query, shared in zip(row.queries, row.shared, strict=True):
            path = layout._add(query, path[: max(0, shared - common)], common)
        return layout

    def _add(self, query: Query, before: list[int], common: int) -> list[int]:
        """Add what a query does not share; gives the columns of all its tokens."""
        first, begin = common + len(before), len(self.tokens)
        self.tokens.extend(query.ids[first:])
        self.positions.extend(range(first, len(query.ids)))
        path = [*before, *range(begin, len(self.tokens))]
        if begin < len(self.tokens):
            self.branches.append(Branch(before=before, begin=begin, end=len(self.tokens)))
        self.wanted.extend(
            (path[at - common], targets, query.spellings) for at, targets in enumerate(query.targets, query.start)
        )
        return path
