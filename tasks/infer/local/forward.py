"""Compute log-probabilities by forward passes of a causal language model; shared rows are checked for drift."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from inspect import signature
from itertools import accumulate, islice
from typing import Any, NamedTuple

import numpy as np

from contrapose.tasks.infer.local.attention import find_attention_name
from contrapose.tasks.infer.local.fused import FusedLayers
from contrapose.tasks.infer.local.machine import BatchMemory, TooLargeError, is_out_of_memory
from contrapose.tasks.infer.local.passing import find_last_layer, finish_columns, make_read_only_cache
from contrapose.tasks.infer.local.rows import (
    BatchLimit,
    BatchRow,
    EncodedQuestion,
    Query,
    RowLayout,
    compute_padded_width,
    count_common_tokens,
    count_padded_tokens,
    pack_batches,
    plan_shared_rows,
)

Values = list[list[float]]
"""Log-probabilities in nats of one query, by place and target; then, of one with spellings, their probability."""

SLICE = 128
"""Places whose logits are normalised at a time, in float32."""


class TokenPlace(NamedTuple):
    """Place in a batch at which the probability of a next token is wanted."""

    row: int
    """Row of the batch."""
    column: int
    """Token of the row."""
    targets: tuple[int, ...]
    """The tokens that may come next."""
    spellings: tuple[int, ...] = ()
    """Tokens whose probabilities are added up."""


class ForwardPasses:
    """Computes forward passes of a causal language model in eval mode; `pad_id` fills rows."""

    def __init__(self, model: Any, *, pad_id: int) -> None:
        self.model, self.pad_id = model, pad_id
        self._known: tuple[tuple[int, ...], Any] = ((), None)
        # transformers 5.24 renamed it.
        self._cache_name = "cache" if "cache" in signature(model.forward).parameters else "past_key_values"
        self._last = find_last_layer(model)

    def compute_alone(self, queries: Sequence[Query]) -> list[Values]:
        """Compute each query in its own row, with the model's own mask."""
        columns = self._count_columns(query.ids for query in queries)
        mask = [[1] * len(query.ids) + [0] * (columns - len(query.ids)) for query in queries]
        places = [
            TokenPlace(row, query.start + step, targets, query.spellings)
            for row, query in enumerate(queries)
            for step, targets in enumerate(query.targets)
        ]
        ids = self._pad([query.ids for query in queries], columns)
        logs = self._logs(places, input_ids=ids, attention_mask=self._tensor(mask), use_cache=False)
        return _group_by_query(queries, logs)

    def compute_shared(self, rows: Sequence[BatchRow], common: int) -> list[Values]:
        """Compute the queries of each row together; results are in the order of rows and their queries."""
        layouts = [RowLayout.from_row(row, common) for row in rows]
        places = [TokenPlace(number, *wanted) for number, layout in enumerate(layouts) for wanted in layout.wanted]
        columns = self._count_columns(layout.tokens for layout in layouts)
        positions = [layout.positions + [0] * (columns - len(layout.positions)) for layout in layouts]
        inputs = {
            "input_ids": self._pad([layout.tokens for layout in layouts], columns),
            "position_ids": self._tensor(positions),
            "attention_mask": self._convert_mask(_make_visibility_mask(layouts, columns, common)),
            self._cache_name: self._cache_after(rows[0].queries[0].ids[:common]),
            "use_cache": True,
        }
        logs = None
        if self._last is not None:
            # Without what the last layer would do to tokens that nobody reads, where the model allows that.
            try:
                with finish_columns(self._last, inputs[self._cache_name], _list_wanted_columns(places)):
                    logs = self._logs(places, **inputs)
            except (RuntimeError, TypeError, ValueError, LookupError) as error:
                if is_out_of_memory(error):
                    raise
                self._last = None
        return _group_by_query([query for row in rows for query in row.queries], logs or self._logs(places, **inputs))

    def _logs(self, places: Sequence[TokenPlace], **inputs: Any) -> Values:
        """Return log-probabilities by place: one for each target, then the probability of the spellings.

        Logits are computed for these places only.
        """
        import torch

        at = self._tensor([place.row for place in places]), self._tensor([place.column for place in places])
        with torch.inference_mode():
            logits = self._compute_logits(at, inputs)
            values: Values = []
            for start in range(0, len(places), SLICE):
                part = logits[start : start + SLICE].float()
                here = places[start : start + SLICE]
                wanted = [(*place.targets, *place.spellings) for place in here]
                most = max(map(len, wanted))
                index = self._tensor([[*tokens, *[0] * (most - len(tokens))] for tokens in wanted])
                logs = part.gather(-1, index) - part.logsumexp(-1, keepdim=True)
                for place, row in zip(here, logs.tolist(), strict=True):
                    count = len(place.targets)
                    spelt = row[count : count + len(place.spellings)]
                    values.append([*row[:count], *([math.fsum(map(math.exp, spelt))] if spelt else [])])
        return values

    def _compute_logits(self, at: tuple[Any, Any], inputs: dict[str, Any]) -> Any:
        head = self.model.get_output_embeddings()
        if head is None:
            return self.model(**inputs).logits[at]
        # Before the head, so that whatever the model does to its logits afterwards still applies.
        hook = head.register_forward_pre_hook(lambda _, arguments: (arguments[0][at].unsqueeze(0), *arguments[1:]))
        try:
            return self.model(**inputs).logits[0]
        finally:
            hook.remove()

    def _cache_after(self, ids: tuple[int, ...]) -> Any:
        """Return a cache of the tokens before every row; the cache of the latest tokens is kept."""
        from transformers import DynamicCache

        if self._known[0] != ids or self._known[1] is None:
            kept = DynamicCache(config=self.model.config)
            if ids:
                last = TokenPlace(0, len(ids) - 1, (0,))
                inputs = {self._cache_name: kept, "use_cache": True}
                self._logs([last], input_ids=self._tensor([ids]), **inputs)
            self._known = (ids, kept)
        return make_read_only_cache(self._known[1])

    def _convert_mask(self, mask: Any) -> Any:
        """Return a mask in the form of the attention in use: truth values, or numbers that are added."""
        import torch

        mask = mask.to(self.model.device)
        if find_attention_name(self.model) == "sdpa" and self.model.device.type != "cpu":
            return mask
        dtype = self.model.dtype
        return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, torch.finfo(dtype).min)

    def _count_columns(self, rows: Iterable[Sequence[int]]) -> int:
        return compute_padded_width(max(map(len, rows)), self.model.device.type)

    def _pad(self, rows: Iterable[Sequence[int]], columns: int) -> Any:
        # On the right, where no real token sees it.
        return self._tensor([[*row, *[self.pad_id] * (columns - len(row))] for row in rows])

    def _tensor(self, values: Any) -> Any:
        import torch

        return torch.tensor(values, device=self.model.device)


def _list_wanted_columns(places: Sequence[TokenPlace]) -> list[list[int]]:
    """Return the wanted columns of each row, equally many; a row with fewer repeats one of them."""
    by_row: dict[int, set[int]] = {}
    for place in places:
        by_row.setdefault(place.row, set()).add(place.column)
    most = max(map(len, by_row.values()))
    columns = [sorted(by_row[row]) for row in sorted(by_row)]
    return [[*chosen, *chosen[:1] * (most - len(chosen))] for chosen in columns]


def _make_visibility_mask(layouts: Sequence[RowLayout], columns: int, common: int) -> Any:
    """Return which tokens each token of a batch sees: the common beginning, and its own branch up to itself."""
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


def find_sharing_window(model: Any) -> int:
    """Return the longest query that may share a row; 0 if some layer of the model is not plain attention."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

    config = model.config.get_text_config()
    plain = find_attention_name(model) in ("sdpa", "eager")
    layers = {type(layer) for layer in DynamicCache(config=model.config).layers}
    if not plain or not layers <= {DynamicLayer, DynamicSlidingWindowLayer}:
        return 0
    if "position_ids" not in inspect.signature(model.forward).parameters:
        return 0
    bounds = (getattr(config, name, None) for name in ("sliding_window", "window_size", "attention_chunk_size"))
    return min((int(bound) for bound in bounds if bound), default=1 << 30)


def _group_by_query(queries: Sequence[Query], logs: Values) -> list[Values]:
    left = iter(logs)
    return [list(islice(left, len(query.targets))) for query in queries]


SAMPLE = 4
"""Queries of the first batch that are computed again, alone; of each later one, on an accelerator, a single one is."""

LEAST_COMMON = 8
"""Least tokens of a prefix that is computed once, because all queries share it."""

BOUNDS = {"float32": 0.01}
COARSE_BOUND = 0.5
"""Nats by which a likelihood may differ from the one computed alone; the second holds for 16-bit numbers."""


class LikelihoodComputer:
    """Computes log-probabilities of queries, and checks that shared rows and faster layers give the same values."""

    def __init__(self, forward: ForwardPasses, memory: BatchMemory, limit: BatchLimit, fused: FusedLayers) -> None:
        self.forward, self.memory, self.limit, self.fused = forward, memory, limit, fused
        self.window = find_sharing_window(forward.model)
        self.accelerated = forward.model.device.type != "cpu"
        self.bound = BOUNDS.get(str(forward.model.dtype).removeprefix("torch."), COARSE_BOUND)
        self.drift: float | None = None
        self.sample = self.checked = 0
        self.common = 0

    def plan(self, asked: Sequence[EncodedQuestion]) -> list[list[BatchRow]]:
        """Return the queries of all questions as batches of rows."""
        groups = [question.queries for question in asked if question.queries]
        short = [group for group in groups if max(len(query.ids) for query in group) <= self.window]
        long = [
            BatchRow.from_queries(group) for group in groups if max(len(query.ids) for query in group) > self.window
        ]
        self.common = count_common_tokens([query for group in short for query in group], least=LEAST_COMMON)
        rows = plan_shared_rows(short, limit=self.limit, common=self.common)
        return [*pack_batches(rows, self.limit), *pack_batches(long, self.limit)]

    def compute(self, rows: Sequence[BatchRow]) -> dict[int, list[Values]]:
        """Return log-probabilities by question and query."""
        queries = [query for row in rows for query in row.queries]
        longest = max(len(query.ids) for query in queries)
        values = None
        if shared := longest <= self.window:
            with suppress(TooLargeError):
                values = self.memory.run(
                    rows, lambda part: self.forward.compute_shared(part, self.common), size=count_padded_tokens
                )
        values = values or self._compute_alone(queries)
        if shared and (chosen := self._choose_sample(rows, longest)) and not self._is_accurate(queries, values, chosen):
            self.window = 0
            self.fused.give_up()
            values = self._compute_alone(queries)
        by_owner: dict[int, list[Values]] = {}
        for query, value in zip(queries, values, strict=True):
            by_owner.setdefault(query.owner, []).append(value)
        return by_owner

    def notes(self) -> dict[str, str | float]:
        """Return notes on how much sharing rows changed the first likelihoods."""
        if self.drift is None:
            return {}
        notes: dict[str, str | float] = {"largest_drift_nats": self.drift, "drift_sample": self.sample}
        if self.drift > self.bound:
            notes["prefix_sharing"] = f"off: a likelihood drifted by more than {self.bound:g} nats"
        return notes

    def _compute_alone(self, queries: Sequence[Query]) -> list[Values]:
        """Compute every query in its own row, as many at a time as the limit allows."""
        single = [BatchRow.from_queries([query]) for query in queries]
        by_query: dict[int, Values] = {}
        for batch in pack_batches(single, self.limit):
            part = [row.queries[0] for row in batch]
            computed = self.memory.run(part, self.forward.compute_alone, size=_count_tokens_alone)
            by_query |= {id(query): value for query, value in zip(part, computed, strict=True)}
        return [by_query[id(query)] for query in queries]

    def _choose_sample(self, rows: Sequence[BatchRow], longest: int) -> list[int]:
        """Return the queries to compute again as a check: some if rows are the first or much longer.

        On accelerators, also the last query of the longest row in every batch, because a kernel was wrong there.
        """
        ends = list(accumulate(len(row.queries) for row in rows))
        if longest > 2 * self.checked:
            self.checked = longest
            return list(range(0, ends[-1], max(1, ends[-1] // SAMPLE)))[:SAMPLE]
        last = max(range(len(rows)), key=lambda number: rows[number].size)
        return [ends[last] - 1] if self.accelerated else []

    def _is_accurate(self, queries: Sequence[Query], values: Sequence[Values], chosen: Sequence[int]) -> bool:
        """Return whether chosen queries have the same values in their own rows as in shared rows.

        The first check uses the model's own layers, so that it also covers the faster layers.
        """
        with self.fused.restore_layers() if self.drift is None else nullcontext():
            again = self.memory.run(
                [queries[number] for number in chosen], self.forward.compute_alone, size=_count_tokens_alone
            )
        self.sample += len(chosen)
        drift = max(
            abs(one - other)
            for number, single in zip(chosen, again, strict=True)
            for row, other_row in zip(values[number], single, strict=True)
            for one, other in zip(row, other_row, strict=True)
        )
        self.drift = max(drift, self.drift or 0.0)
        return drift <= self.bound


def _count_tokens_alone(queries: Sequence[Query]) -> int:
    return len(queries) * max(len(query.ids) for query in queries)
