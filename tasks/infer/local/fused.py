"""Faster layers for a local model: they pass over memory less often than those of transformers.

A matrix is multiplied so quickly that the steps between two of them take half of the time. Each replacement is compared
with the layer that it replaces before it is used; where the two differ, the layer stays. Attention, which is a
function and no layer, is replaced with them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from contrapose.tasks.infer.local import attention

Layer = Callable[[Any], Any]
"""Numbers (…, places, size) to numbers."""

PLACES = 8
"""Places of random numbers that a layer and its replacement are given."""
CLOSE = {"float32": 1e-4}
COARSELY_CLOSE = 0.03
"""Part of the largest figure by which the two may differ; the second holds for 16-bit numbers."""


class FusedLayers:
    """Faster layers of a causal language model, which is in eval mode and on its device."""

    def __init__(self, model: Any) -> None:
        replacements = ((module, _find_replacement(module)) for module in model.modules())
        self._layers = [(module, quicker) for module, quicker in replacements if quicker is not None]
        self._attending = attention.find_product_layers(model)

    @contextmanager
    def replace_layers(self) -> Iterator[None]:
        """Replace the model's own layers inside the `with` block."""
        self._install()
        try:
            yield
        finally:
            self._remove()

    @contextmanager
    def restore_layers(self) -> Iterator[None]:
        """Use the model's own layers inside the `with` block, within `replace_layers`."""
        self._remove()
        try:
            yield
        finally:
            self._install()

    def give_up(self) -> None:
        """Use only the model's own layers from now on."""
        self._remove()
        self._layers, self._attending = [], []

    def _install(self) -> None:
        for module, quicker in self._layers:
            module.forward = quicker
        attention.IN_USE.update(self._attending)

    def _remove(self) -> None:
        for module, _ in self._layers:
            # An attribute of the instance goes before that of its class.
            module.__dict__.pop("forward", None)
        attention.IN_USE.difference_update(self._attending)


def _find_replacement(module: Any) -> Layer | None:
    """Return a faster layer with the same results, or None if none is known."""
    places = {(weight.device.type, str(weight.dtype).removeprefix("torch.")) for weight in module.parameters()}
    if len(places) != 1 or "forward" in module.__dict__ or len(inspect.signature(module.forward).parameters) != 1:
        return None
    ((device, dtype),) = places
    if device == "cuda":
        candidates = _make_norms(module, _make_kernel_norm)
    elif (device, dtype) == ("cpu", "bfloat16"):
        # Other numbers are multiplied so slowly here that the steps in between hardly count.
        candidates = [*_make_norms(module, _make_tiled_norm), *_make_gated_networks(module)]
    else:
        return None
    gaps = [(_measure_gap(module, quicker, size), quicker) for size, quicker in candidates]
    gap, closest = min(gaps, key=lambda candidate: candidate[0], default=(float("inf"), None))
    return closest if gap <= CLOSE.get(dtype, COARSELY_CLOSE) else None


def _measure_gap(module: Any, quicker: Layer, size: int) -> float:
    """Return the difference between two layers for random numbers, relative to the largest result."""
    import torch

    weight = next(module.parameters())
    drawn = torch.randn(1, PLACES, size, generator=torch.Generator().manual_seed(0))
    numbers = drawn.to(weight.device, weight.dtype)
    try:
        with torch.inference_mode():
            own, other = module(numbers).float(), quicker(numbers).float()
            gap = float((own - other).abs().max() / own.abs().max())
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError):
        return float("inf")
    return gap if gap == gap else float("inf")


def _make_norms(module: Any, norm: Callable[[Any, float], Layer]) -> list[tuple[int, Layer]]:
    """Return root mean square norms for both meanings of their weights: some families store them minus 1."""
    weight = getattr(module, "weight", None)
    epsilon = getattr(module, "eps", getattr(module, "variance_epsilon", None))
    if not type(module).__name__.endswith("RMSNorm") or weight is None or weight.ndim != 1 or epsilon is None:
        return []
    factors = weight.detach().float()
    return [(len(weight), norm(meant, float(epsilon))) for meant in (factors, 1 + factors)]


TILE = 1 << 18
"""Numbers that a norm changes at a time: a megabyte in float32, which stays in the CPU's cache."""


def _make_tiled_norm(factors: Any, epsilon: float) -> Layer:
    """Return a root mean square norm that works on tiles: each is written as float32 once, and changed in place.

    Args:
        factors: (size,), float32.
        epsilon: is added to the mean square.
    """
    import torch

    # Lengths instead of roots of means: the root of the size is in the factors, and epsilon a leg of the triangle.
    stretched, leg = factors * len(factors) ** 0.5, torch.tensor((epsilon * len(factors)) ** 0.5)

    def tile(numbers: Any) -> Any:
        exact = numbers.float()
        lengths = torch.linalg.vector_norm(exact, dim=-1, keepdim=True)
        return exact.div_(lengths.hypot_(leg)).mul_(stretched)

    def norm(numbers: Any) -> Any:
        if numbers.numel() <= TILE:
            return tile(numbers).to(numbers.dtype)
        normed: Any = torch.empty_like(numbers)
        places = max(1, TILE * numbers.shape[-2] // numbers.numel())
        for part, target in zip(numbers.split(places, -2), normed.split(places, -2), strict=True):
            target.copy_(tile(part))
        return normed

    return norm


def _make_kernel_norm(factors: Any, epsilon: float) -> Layer:
    """Return torch's own root mean square norm, for accelerators; arguments as in `_make_tiled_norm`."""
    from torch.nn.functional import rms_norm

    return lambda numbers: rms_norm(numbers.float(), factors.shape, factors, epsilon).to(numbers.dtype)


def _make_gated_networks(module: Any) -> list[tuple[int, Layer]]:
    """Return gated feed-forward networks in which oneDNN applies activation and gate before it writes products.

    torch's compiler turns such networks into the same two calls on a processor.
    """
    import torch

    parts: list[Any] = [getattr(module, name, None) for name in ("gate_proj", "up_proj", "down_proj")]
    activation = _find_activation(getattr(module, "act_fn", None))
    multiply = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    if activation is None or multiply is None or any(type(part) is not torch.nn.Linear for part in parts):
        return []
    gate, up, down = parts
    name, kind = activation

    def network(numbers: Any) -> Any:
        opened = multiply(numbers, gate.weight, gate.bias, name, [], kind)
        return down(multiply(numbers, opened, up.weight, up.bias, "mul"))

    return [(gate.in_features, network)]


def _find_activation(function: Any) -> tuple[str, str] | None:
    """Return oneDNN's names of an activation, found by its results, or None if oneDNN has none."""
    import torch
    from torch.nn.functional import gelu, silu

    if not callable(function):
        return None
    numbers = torch.linspace(-8, 8, 257)
    known = {
        ("swish", ""): silu(numbers),
        ("gelu", "tanh"): gelu(numbers, approximate="tanh"),
        ("gelu", "none"): gelu(numbers),
    }
    own = function(numbers)
    # The two kinds of gelu are 0.0005 apart.
    return next((names for names, figures in known.items() if torch.allclose(own, figures, atol=1e-5)), None)
