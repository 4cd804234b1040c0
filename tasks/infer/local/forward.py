"""Log-probabilities out of forward passes of a causal language model, planned as shared rows and checked."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contrapose.tasks.infer.local.memory import Memory, TooLargeError
from contrapose.tasks.infer.local.rows import (
    BatchRow,
    EncodedQuestion,
    Limit,
    Query,
    alone,
    batches,
    common_prefix,
    joined,
    padded,
    shared_rows,
)

Values = list[list[float]]
"""Log-probabilities in nats of one query: by place and target."""

SLICE = 128
"""Places whose logits are normalised at a time, in float32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPlace:
    """Where in a batch a next token is wanted."""

    row: int
    """Row of the batch."""
    column: int
    """Token of the row."""
    targets: tuple[int, ...]
    """The tokens that may come next."""


class Forward:
    """Forward passes of a model.

    Args:
        model: a causal language model, in eval mode, on its device.
        pad_id: token that fills rows.
    """

    def __init__(self, model: Any, *, pad_id: int) -> None:
        self.model, self.pad_id = model, pad_id
        self._known: tuple[tuple[int, ...], Any] = ((), None)

    def plain(self, queries: Sequence[Query]) -> list[Values]:
        """Each query in a row of its own, with the model's own mask."""
        ids = self._padded([list(query.ids) for query in queries])
        sizes = [len(query.ids) for query in queries]
        mask = [[1] * size + [0] * (max(sizes) - size) for size in sizes]
        places = [
            TokenPlace(row=row, column=query.start + step, targets=targets)
            for row, query in enumerate(queries)
            for step, targets in enumerate(query.targets)
        ]
        logs = self._logs(places, input_ids=ids, attention_mask=self._tensor(mask), use_cache=False)
        return _by_query(queries, logs)

    def shared(self, rows: Sequence[BatchRow], common: int) -> list[Values]:
        """Queries side by side, in the order of the rows and of their queries.

        Args:
            rows: their queries are no longer than the model's attention window.
            common: tokens that all queries begin with; they are read once, and kept for the next batch.
        """
        import torch

        width = max(row.size for row in rows) - common
        mask = torch.ones(width, common + width, dtype=torch.bool).tril(common).repeat(len(rows), 1, 1, 1)
        ids, positions, places = [], [], []
        for number, row in enumerate(rows):
            tokens, order = list(row.queries[0].ids[common : row.prefix]), list(range(common, row.prefix))
            for query in row.queries:
                begin = len(tokens)
                tokens += query.ids[row.prefix :]
                order += range(row.prefix, len(query.ids))
                # A branch sees the prefix and itself, not the branches before it.
                mask[number, 0, begin : len(tokens), row.prefix : common + begin] = False
                shift = begin - row.prefix
                places += [
                    TokenPlace(row=number, column=at - common if at < row.prefix else at + shift, targets=targets)
                    for at, targets in enumerate(query.targets, query.start)
                ]
            ids.append(tokens)
            positions.append(order + [0] * (width - len(order)))
        logs = self._logs(
            places,
            input_ids=self._padded(ids),
            position_ids=self._tensor(positions),
            attention_mask=self._as_mask(mask),
            past_key_values=self._prefix(rows[0].queries[0].ids[:common], len(rows)),
            use_cache=common > 0,
        )
        return _by_query([query for row in rows for query in row.queries], logs)

    def _logs(self, places: Sequence[TokenPlace], **inputs: Any) -> Values:
        """Log-probabilities by place and target; logits are computed for these places only."""
        import torch

        at = self._tensor([place.row for place in places]), self._tensor([place.column for place in places])
        with torch.inference_mode():
            logits = self._logits(at, inputs)
            values: Values = []
            for start in range(0, len(places), SLICE):
                part = logits[start : start + SLICE].float()
                wanted = [place.targets for place in places[start : start + SLICE]]
                most = max(map(len, wanted))
                index = self._tensor([[*targets, *[0] * (most - len(targets))] for targets in wanted])
                logs = part.gather(-1, index) - part.logsumexp(-1, keepdim=True)
                values += [row[: len(targets)] for row, targets in zip(logs.tolist(), wanted, strict=True)]
        return values

    def _logits(self, at: tuple[Any, Any], inputs: dict[str, Any]) -> Any:
        head = self.model.get_output_embeddings()
        if head is None:
            return self.model(**inputs).logits[at]
        # Before the head, so that whatever the model does to its logits afterwards still applies.
        hook = head.register_forward_pre_hook(lambda _, arguments: (arguments[0][at].unsqueeze(0), *arguments[1:]))
        try:
            return self.model(**inputs).logits[0]
        finally:
            hook.remove()

    def _prefix(self, ids: tuple[int, ...], rows: int) -> Any:
        """Keys and values of a prefix for each row; those of the latest prefix are kept."""
        from transformers import DynamicCache

        if not ids:
            return None
        if self._known[0] != ids:
            kept = DynamicCache(config=self.model.config)
            last = TokenPlace(row=0, column=len(ids) - 1, targets=(0,))
            self._logs([last], input_ids=self._tensor([ids]), past_key_values=kept, use_cache=True)
            self._known = (ids, kept)
        cache = copy.deepcopy(self._known[1])
        cache.batch_repeat_interleave(rows)
        return cache

    def _as_mask(self, mask: Any) -> Any:
        """As the attention in use takes it: sdpa reads booleans, the plain one adds numbers."""
        import torch

        mask = mask.to(self.model.device)
        if self.model.config._attn_implementation == "sdpa":
            return mask
        dtype = self.model.dtype
        return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, torch.finfo(dtype).min)

    def _padded(self, rows: list[list[int]]) -> Any:
        # On the right, where no real token sees it.
        width = max(len(row) for row in rows)
        return self._tensor([row + [self.pad_id] * (width - len(row)) for row in rows])

    def _tensor(self, values: Any) -> Any:
        import torch

        return torch.tensor(values, device=self.model.device)


def sharing_window(model: Any) -> int:
    """The longest query that may share a row; 0 for a model whose layers are not plain attention."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

    config = model.config.get_text_config()
    plain = config._attn_implementation in ("sdpa", "eager")
    layers = {type(layer) for layer in DynamicCache(config=model.config).layers}
    if not plain or not layers <= {DynamicLayer, DynamicSlidingWindowLayer}:
        return 0
    if "position_ids" not in inspect.signature(model.forward).parameters:
        return 0
    bounds = (getattr(config, name, None) for name in ("sliding_window", "window_size", "attention_chunk_size"))
    return min((int(bound) for bound in bounds if bound), default=1 << 30)


def _by_query(queries: Sequence[Query], logs: Values) -> list[Values]:
    grouped, start = [], 0
    for query in queries:
        grouped.append(logs[start : start + len(query.targets)])
        start += len(query.targets)
    return grouped


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

    def plan(self, asked: Sequence[EncodedQuestion]) -> list[list[BatchRow]]:
        """All questions in batches."""
        groups = [question.queries for question in asked if question.queries]
        short = [group for group in groups if max(len(query.ids) for query in group) <= self.window]
        long = [joined(group) for group in groups if max(len(query.ids) for query in group) > self.window]
        self.common = common_prefix([query for group in short for query in group], least=LEAST_COMMON)
        rows = shared_rows(short, limit=self.limit, common=self.common)
        return [*batches(rows, self.limit), *batches(long, self.limit)]

    def compute(self, rows: Sequence[BatchRow]) -> dict[int, list[Values]]:
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
        by_owner: dict[int, list[Values]] = {}
        for query, value in zip(queries, values, strict=True):
            by_owner.setdefault(query.owner, []).append(value)
        return by_owner

    def notes(self) -> dict[str, str | float]:
        """What sharing did to the first likelihoods."""
        if self.drift is None:
            return {}
        notes: dict[str, str | float] = {"largest_drift_nats": self.drift, "drift_sample": self.sample}
        if self.drift > self.bound:
            notes["prefix_sharing"] = f"off: a likelihood drifted by more than {self.bound:g} nats"
        return notes

    def _shared(self, rows: Sequence[BatchRow]) -> list[Values]:
        try:
            return self.memory.run(rows, lambda part: self.forward.shared(part, self.common), size=padded)
        except TooLargeError:
            return self._alone(rows)

    def _alone(self, rows: Sequence[BatchRow]) -> list[Values]:
        """Every query in a row of its own, in the order of the rows; as many at a time as the limit allows."""
        single = [lone for row in rows for lone in alone(row)]
        by_query: dict[int, Values] = {}
        for batch in batches(single, self.limit):
            queries = [row.queries[0] for row in batch]
            computed = self.memory.run(queries, self.forward.plain, size=_padded_alone)
            by_query |= {id(query): value for query, value in zip(queries, computed, strict=True)}
        return [by_query[id(row.queries[0])] for row in single]

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
