"""Shorter forward passes: they keep no key-value cache, and compute the last layer only for wanted tokens.

In the last layer a token that is not read serves the others by its keys and values alone: its attention and its
feed-forward network are left out. Any model is served whose layers hand their keys and values to a cache.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple


def make_read_only_cache(known: Any) -> Any:
    """Return a cache that shows each layer the known keys and values of one row, or none, and keeps nothing."""
    import torch

    cache = copy.copy(known)

    def update(keys: Any, values: Any, layer: int, *_: Any, **__: Any) -> tuple[Any, Any]:
        before = known.layers[layer]
        if not before.is_initialized:
            return keys, values
        kept = [part.expand(len(keys), -1, -1, -1) for part in (before.keys, before.values)]
        return torch.cat([kept[0], keys], -2), torch.cat([kept[1], values], -2)

    cache.update = update
    return cache


class LastLayer(NamedTuple):
    """The last layer of a model, with its parts."""

    number: int
    """As caches count them."""
    module: Any
    """The layer."""


def find_last_layer(model: Any) -> LastLayer | None:
    """Return the last layer of a model, or None if it is not certain which one it is."""
    import torch

    count = getattr(model.config.get_text_config(), "num_hidden_layers", 0)
    stacks = [part for part in model.modules() if isinstance(part, torch.nn.ModuleList) and len(part) == count]
    return LastLayer(count - 1, stacks[0][-1]) if len(stacks) == 1 and count else None


class _ValuesKnownError(Exception):
    """Raised to leave a pass as soon as the keys and values of the last layer are known."""


@contextmanager
def finish_columns(layer: LastLayer, cache: Any, columns: Sequence[Sequence[int]]) -> Iterator[None]:
    """Compute the last layer only for some columns of each row, equally many; leave the other columns unchanged."""
    import torch

    whole, update = layer.module.forward, cache.update
    known: list[tuple[Any, Any]] = []

    # The layer begins twice: for all tokens, up to its keys and values, and with these for the tokens that are read.
    def recall(keys: Any, values: Any, number: int, *rest: Any, **options: Any) -> tuple[Any, Any]:
        if number == layer.number and known:
            return known[0]
        shown: tuple[Any, Any] = update(keys, values, number, *rest, **options)
        if number != layer.number:
            return shown
        known.append(shown)
        raise _ValuesKnownError

    def finish(hidden: Any, *rest: Any, **options: Any) -> Any:
        try:
            return whole(hidden, *rest, **options)
        except _ValuesKnownError:
            size, device = hidden.shape[:2], hidden.device
        at = torch.arange(size[0], device=device).unsqueeze(-1), torch.tensor(columns, device=device)
        named = {name: _select_tokens(value, at, size) for name, value in options.items()}
        made = whole(hidden[at], *(_select_tokens(value, at, size) for value in rest), **named)
        read = made[0] if isinstance(made, tuple) else made
        all_tokens = hidden.index_put(at, read)
        return (all_tokens, *made[1:]) if isinstance(made, tuple) else all_tokens

    cache.update, layer.module.forward = recall, finish
    try:
        yield
    finally:
        cache.update, layer.module.forward = update, whole


def _select_tokens(value: Any, at: tuple[Any, Any], size: Any) -> Any:
    """Return the part of a layer's argument for some tokens: positions by row and column, or a mask."""
    import torch

    if isinstance(value, tuple):
        return tuple(_select_tokens(part, at, size) for part in value)
    if not isinstance(value, torch.Tensor):
        return value
    if value.shape[:2] == size:
        return value[at]
    if value.ndim == 4 and (value.shape[0], value.shape[2]) == tuple(size):
        return value[at[0], :, at[1]].transpose(1, 2)
    return value
