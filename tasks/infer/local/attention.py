"""Attention of a local model as matrix products, which take half the time of torch's kernel on a CPU.

torch's kernel takes each head by itself, a few queries at a time, and all keys wherever it is given a mask. Here heads
that share their keys are one matrix, and a block of queries meets no key after the last one that any of them sees.
Scores are float32 as in that kernel, so that nothing is rounded more often than there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any
from weakref import WeakSet

SCORES = 1 << 19
"""Most scores at a time: two megabytes, which stay in the CPU's cache."""
MULTIPLE = 16
"""Queries of a block, and keys that it meets, are a multiple of this: some other sizes take a third longer."""

IN_USE: WeakSet[Any] = WeakSet()
"""Layers of models that attend by products now; all others by torch's kernel."""


def find_product_layers(model: Any) -> list[Any]:
    """Return the layers that may use products: all layers, if the model is in bfloat16 on a CPU and uses sdpa."""
    places = {(weight.device.type, str(weight.dtype).removeprefix("torch.")) for weight in model.parameters()}
    if places != {("cpu", "bfloat16")} or find_attention_name(model) != "sdpa":
        return []
    _extend_transformers()
    return list(model.modules())


def find_attention_name(model: Any) -> str:
    """Return the name of the attention that a model uses for texts, from a private attribute of transformers."""
    return str(model.config.get_text_config()._attn_implementation)


@cache
def _extend_transformers() -> None:
    """Register `attend` with transformers, which then passes it the layer that attends."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, AttentionInterface

    kernel = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def attend(
        layer: Any, query: Any, key: Any, value: Any, mask: Any, scaling: float | None = None, **rest: Any
    ) -> tuple[Any, None]:
        plain = not any(rest.get(name) for name in ("dropout", "softcap", "output_attentions"))
        plain = plain and all(rest.get(name) is None for name in ("position_bias", "cache"))
        # A mask of numbers, as shared rows have one, and more than a few queries.
        masked = mask is not None and mask.is_floating_point() and mask.ndim == 4 and query.shape[2] >= MULTIPLE
        if layer in IN_USE and plain and masked:
            return attend_by_products(query, key, value, mask, scaling=scaling or query.shape[-1] ** -0.5), None
        attended: tuple[Any, None] = kernel(layer, query, key, value, mask, scaling=scaling, **rest)
        return attended

    AttentionInterface.register("sdpa", attend)


def attend_by_products(query: Any, key: Any, value: Any, mask: Any, *, scaling: float) -> Any:
    """Return the values that each query gets from the keys that it sees.

    Args:
        query: (rows, heads, queries, size).
        key: (rows, groups, keys, size); neighbouring heads share the keys of a group, as many of each.
        value: as `key`.
        mask: (rows or 1, heads or 1, queries, keys): is added to scores, the least number where nothing is seen.
        scaling: of scores.

    Returns:
        (rows, queries, heads, size).
    """
    import torch

    rows, heads, queries, size = query.shape
    groups, keys = key.shape[1:3]
    all_keys = key.float().reshape(rows * groups, keys, size).transpose(1, 2)
    all_values = value.reshape(rows * groups, keys, value.shape[-1])
    attended = query.new_empty(rows, queries, heads, value.shape[-1])
    for begin, end, met in _yield_blocks(mask, rows * heads):
        block = query[:, :, begin:end].to(torch.float32, memory_format=torch.contiguous_format)
        scores = block.new_empty(rows, heads, end - begin, met).copy_(mask[:, :, begin:end, :met])
        scores = scores.view(rows * groups, -1, met)
        scores.baddbmm_(block.view(rows * groups, -1, size), all_keys[..., :met], alpha=scaling)
        parts = torch.softmax(scores, -1).to(value.dtype)
        got = torch.bmm(parts, all_values[:, :met]).view(rows, heads, end - begin, -1)
        attended[:, begin:end] = got.transpose(1, 2)
    return attended


def _yield_blocks(mask: Any, stacked: int) -> Iterator[tuple[int, int, int]]:
    """Yield first query, end query and number of keys for each block; `stacked`: rows times heads."""
    import torch

    queries, keys = mask.shape[2:]
    seen = (mask > torch.finfo(mask.dtype).min).flatten(0, 1).any(0)
    # Of a query that sees nothing, all: it gets the mean of all values.
    last = (keys - seen.flip(-1).to(torch.uint8).argmax(-1)).tolist()
    size = max(1, SCORES // (stacked * keys) // MULTIPLE) * MULTIPLE
    for begin in range(0, queries, size):
        end = min(queries, begin + size)
        yield begin, end, min(keys, -(-max(last[begin:end]) // MULTIPLE) * MULTIPLE)
