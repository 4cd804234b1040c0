"""Log-probabilities out of forward passes of a causal language model, planned as shared rows and checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from contrapose.tasks.infer.local.attention import implementation_of
from contrapose.tasks.infer.local.fused import FusedLayers
from contrapose.tasks.infer.local.layout import Layout, width
from contrapose.tasks.infer.local.memory import Memory, TooLargeError, out_of_memory
from contrapose.tasks.infer.local.passing import finished_only_at, last_layer, passing
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
"""Log-probabilities in nats of one query, by place and target; then, of one with spellings, their probability."""

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
    spellings: tuple[int, ...] = ()
    """Tokens whose probabilities are added up."""


class Forward:
    """Forward passes of a model.

    Args:
        model: a causal language model, in eval mode, on its device.
        pad_id: token that fills rows.
    """

    def __init__(self, model: Any, *, pad_id: int) -> None:
        self.model, self.pad_id = model, pad_id
        self._known: tuple[tuple[int, ...], Any] = ((), None)
        self._last = last_layer(model)

    def plain(self, queries: Sequence[Query]) -> list[Values]:
        """Each query in a row of its own, with the model's own mask."""
        columns = self._columns(query.ids for query in queries)
        ids = self._padded([list(query.ids) for query in queries], columns)
        mask = [[1] * len(query.ids) + [0] * (columns - len(query.ids)) for query in queries]
        places = [
            TokenPlace(row=row, column=query.start + step, targets=targets, spellings=query.spellings)
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
        layouts = [Layout.of(row, common) for row in rows]
        places = [
            TokenPlace(row=number, column=column, targets=targets, spellings=spellings)
            for number, layout in enumerate(layouts)
            for column, targets, spellings in layout.wanted
        ]
        columns = self._columns(layout.tokens for layout in layouts)
        positions = [layout.positions + [0] * (columns - len(layout.positions)) for layout in layouts]
        cache = self._after(rows[0].queries[0].ids[:common])
        inputs = {
            "input_ids": self._padded([layout.tokens for layout in layouts], columns),
            "position_ids": self._tensor(positions),
            "attention_mask": self._as_mask(_visible(layouts, columns, common)),
            "past_key_values": cache,
            "use_cache": True,
        }
        logs = self._last_layer_read_only(places, inputs)
        return _by_query([query for row in rows for query in row.queries], logs)

    def _last_layer_read_only(self, places: Sequence[TokenPlace], inputs: dict[str, Any]) -> Values:
        """As `_logs`, without what the last layer would do to tokens that nobody reads, where the model allows that."""
        if self._last is None:
            return self._logs(places, **inputs)
        try:
            with finished_only_at(self._last, inputs["past_key_values"], _read(places)):
                return self._logs(places, **inputs)
        except (RuntimeError, TypeError, ValueError, LookupError) as error:
            if out_of_memory(error):
                raise
        self._last = None
        return self._logs(places, **inputs)

    def _logs(self, places: Sequence[TokenPlace], **inputs: Any) -> Values:
        """Log-probabilities by place and target, and of spellings their probability, after the targets.

        Logits are computed for these places only.
        """
        import torch

        at = self._tensor([place.row for place in places]), self._tensor([place.column for place in places])
        with torch.inference_mode():
            logits = self._logits(at, inputs)
            values: Values = []
            for start in range(0, len(places), SLICE):
                part = logits[start : start + SLICE].float()
                here = places[start : start + SLICE]
                wanted = [(*place.targets, *place.spellings) for place in here]
                most = max(map(len, wanted))
                index = self._tensor([[*tokens, *[0] * (most - len(tokens))] for tokens in wanted])
                logs = part.gather(-1, index) - part.logsumexp(-1, keepdim=True)
                values += [_of_place(place, row) for place, row in zip(here, logs.tolist(), strict=True)]
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

    def _after(self, ids: tuple[int, ...]) -> Any:
        """A cache with what stands before every row; the latest such tokens are kept."""
        from transformers import DynamicCache

        if self._known[0] != ids or self._known[1] is None:
            kept = DynamicCache(config=self.model.config)
            if ids:
                last = TokenPlace(row=0, column=len(ids) - 1, targets=(0,))
                self._logs([last], input_ids=self._tensor([ids]), past_key_values=kept, use_cache=True)
            self._known = (ids, kept)
        return passing(self._known[1])

    def _as_mask(self, mask: Any) -> Any:
        """As the attention in use takes it: the plain one adds numbers, and on a processor sdpa would turn to them."""
        import torch

        mask = mask.to(self.model.device)
        if implementation_of(self.model) == "sdpa" and self.model.device.type != "cpu":
            return mask
        dtype = self.model.dtype
        return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, torch.finfo(dtype).min)

    def _columns(self, rows: Iterable[Sequence[int]]) -> int:
        return width(max(map(len, rows)), self.model.device.type)

    def _padded(self, rows: list[list[int]], columns: int) -> Any:
        # On the right, where no real token sees it.
        return self._tensor([row + [self.pad_id] * (columns - len(row)) for row in rows])

    def _tensor(self, values: Any) -> Any:
        import torch

        return torch.tensor(values, device=self.model.device)


def _of_place(place: TokenPlace, logs: list[float]) -> list[float]:
    """The log-probabilities of the targets, and of spellings, which follow them, the sum of the probabilities."""
    count = len(place.targets)
    if not place.spellings:
        return logs[:count]
    return [*logs[:count], math.fsum(map(math.exp, logs[count : count + len(place.spellings)]))]


def _read(places: Sequence[TokenPlace]) -> list[list[int]]:
    """The wanted columns of each row; where there are fewer than in another, one of them several times."""
    by_row: dict[int, set[int]] = {}
    for place in places:
        by_row.setdefault(place.row, set()).add(place.column)
    most = max(map(len, by_row.values()))
    columns = [sorted(by_row[row]) for row in sorted(by_row)]
    return [[*chosen, *chosen[:1] * (most - len(chosen))] for chosen in columns]


def _visible(layouts: Sequence[Layout], columns: int, common: int) -> Any:
    """Which tokens each token of a batch sees: what all begin with, its branch up to itself."""
    import torch

    mask = np.zeros((len(layouts), 1, columns, common + columns), dtype=bool)
    mask[..., :common] = True
    # Fillers see themselves, for the mean of nothing is no number.
    mask[..., range(columns), range(common, common + columns)] = True
    longest = max(branch.end - branch.begin for layout in layouts for branch in layout.branches)
    up_to_itself = np.tri(longest, dtype=bool)
    for seen, layout in zip(mask[:, 0, :, common:], layouts, strict=True):
        for branch in layout.branches:
            size = branch.end - branch.begin
            seen[branch.begin : branch.end, branch.before] = True
            seen[branch.begin : branch.end, branch.begin : branch.end] = up_to_itself[:size, :size]
    return torch.from_numpy(mask)


def sharing_window(model: Any) -> int:
    """The longest query that may share a row; 0 for a model whose layers are not plain attention."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

    config = model.config.get_text_config()
    plain = implementation_of(model) in ("sdpa", "eager")
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
"""Queries of the first batch that are computed again, alone; of each later one, on an accelerator, a single one is."""

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
        fused: its quicker layers, which are in use.
    """

    def __init__(self, forward: Forward, memory: Memory, limit: Limit, fused: FusedLayers) -> None:
        self.forward, self.memory, self.limit, self.fused = forward, memory, limit, fused
        self.window = sharing_window(forward.model)
        self.accelerated = forward.model.device.type != "cpu"
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
        if shared and (chosen := self._chosen(rows, longest)) and not self._agrees(queries, values, chosen):
            self.window = 0
            self.fused.give_up()
            values = self._alone(rows)
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

    def _chosen(self, rows: Sequence[BatchRow], longest: int) -> list[int]:
        """Which queries are to be computed again: some where rows are new or much longer, for what held may fail there.

        A kernel for accelerators has erred at some widths alone, in the last query: there that of the longest row is
        looked at in every batch.
        """
        ends = list(accumulate(len(row.queries) for row in rows))
        if longest > 2 * self.checked:
            self.checked = longest
            return list(range(0, ends[-1], max(1, ends[-1] // SAMPLE)))[:SAMPLE]
        last = max(range(len(rows)), key=lambda number: rows[number].size)
        return [ends[last] - 1] if self.accelerated else []

    def _agrees(self, queries: Sequence[Query], values: Sequence[Values], chosen: Sequence[int]) -> bool:
        """Whether chosen queries, each in a row of its own, give what they gave side by side.

        The first ones are computed by the model's own layers: later, sharing alone may fail.
        """
        with self.fused.unused() if self.drift is None else nullcontext():
            again = self.memory.run([queries[number] for number in chosen], self.forward.plain, size=_padded_alone)
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
