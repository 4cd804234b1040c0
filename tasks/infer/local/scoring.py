"""Likelihoods of many questions: planned as shared rows, and checked against unshared ones."""

from __future__ import annotations

from collections.abc import Sequence

from contrapose.tasks.infer.local.forward import Forward, Values, sharing_window
from contrapose.tasks.infer.local.memory import Memory, TooLargeError
from contrapose.tasks.infer.local.queries import Asked, Query
from contrapose.tasks.infer.local.rows import (
    Limit,
    Row,
    alone,
    batches,
    common_prefix,
    joined,
    padded,
    shared_rows,
)

SAMPLE = 4
"""Queries of the first batch that are computed again, alone."""

LEAST_COMMON = 8
"""Tokens from which a prefix that all queries share is kept apart."""

BOUNDS = {"float32": 0.01}
COARSE_BOUND = 0.5
"""Nats by which a likelihood may differ from the one computed alone; the second holds for 16-bit numbers."""


class Scoring:
    """Computes queries.

    Args:
        forward: the model.
        memory: what is known of its memory.
        limit: of a batch.
    """

    def __init__(self, forward: Forward, memory: Memory, limit: Limit) -> None:
        self.forward, self.memory, self.limit = forward, memory, limit
        self.window = sharing_window(forward.model)
        self.bound = BOUNDS.get(str(forward.model.dtype).removeprefix("torch."), COARSE_BOUND)
        self.drift: float | None = None
        self.sample = self.checked = 0
        self.common = 0

    def plan(self, asked: Sequence[Asked]) -> list[list[Row]]:
        """All questions in batches."""
        groups = [each.queries for each in asked if each.queries]
        short = [group for group in groups if max(len(query.ids) for query in group) <= self.window]
        long = [joined(group) for group in groups if max(len(query.ids) for query in group) > self.window]
        self.common = common_prefix([query for group in short for query in group], least=LEAST_COMMON)
        rows = shared_rows(short, limit=self.limit, common=self.common)
        return [*batches(rows, self.limit), *batches(long, self.limit)]

    def compute(self, rows: Sequence[Row]) -> dict[int, list[Values]]:
        """Log-probabilities by question and query.

        Raises:
            TooLargeError: one query alone does not fit in memory.
        """
        queries = [query for row in rows for query in row.queries]
        longest = max(len(query.ids) for query in queries)
        shared = longest <= self.window
        values = self._shared(rows) if shared else self._alone(rows)
        # What holds for short rows may fail where rows are much longer.
        if shared and longest > 2 * self.checked and not self._agrees(queries, values):
            self.window = 0
            values = self._alone(rows)
        self.checked = max(self.checked, longest) if shared and longest > 2 * self.checked else self.checked
        found: dict[int, list[Values]] = {}
        for query, value in zip(queries, values, strict=True):
            found.setdefault(query.owner, []).append(value)
        return found

    def notes(self) -> dict[str, str | float]:
        """What sharing did to the first likelihoods."""
        if self.drift is None:
            return {}
        told: dict[str, str | float] = {"largest_drift_nats": self.drift, "drift_sample": self.sample}
        if self.drift > self.bound:
            told["prefix_sharing"] = f"off: a likelihood drifted by more than {self.bound:g} nats"
        return told

    def _shared(self, rows: Sequence[Row]) -> list[Values]:
        try:
            return self.memory.run(rows, lambda part: self.forward.shared(part, self.common), size=padded)
        except TooLargeError:
            return self._alone(rows)

    def _alone(self, rows: Sequence[Row]) -> list[Values]:
        """Every query in a row of its own, in the order of the rows; as many at a time as the limit allows."""
        single = [each for row in rows for each in alone(row)]
        found: dict[int, Values] = {}
        for batch in batches(single, self.limit):
            queries = [row.queries[0] for row in batch]
            computed = self.memory.run(queries, self.forward.plain, size=_padded_alone)
            found |= {id(query): value for query, value in zip(queries, computed, strict=True)}
        return [found[id(row.queries[0])] for row in single]

    def _agrees(self, queries: Sequence[Query], values: Sequence[Values]) -> bool:
        """Whether some queries, computed alone, give what they gave side by side."""
        step = max(1, len(queries) // SAMPLE)
        chosen = list(range(0, len(queries), step))[:SAMPLE]
        again = [self.forward.plain([queries[number]])[0] for number in chosen]
        self.sample += len(chosen)
        drift = max(
            abs(one - other)
            for number, single in zip(chosen, again, strict=True)
            for row, other_row in zip(values[number], single, strict=True)
            for one, other in zip(row, other_row, strict=True)
        )
        self.drift = max(drift, self.drift or 0.0)
        return drift <= self.bound


def _padded_alone(queries: Sequence[Query]) -> int:
    return len(queries) * max(len(query.ids) for query in queries)
