"""Random numbers that belong to a token of a reply: the same in any batch, in any order and on any device."""

from __future__ import annotations

import hashlib
from typing import Any

GAMMA = 0x9E3779B97F4A7C15
STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
LAST_SHIFT = 31
"""Constants of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)."""

BITS = 52
"""Of a uniform number: with half of the last one added it is exact in float64, and neither 0 nor 1."""


def seed(text: str) -> int:
    """64 bits of a text's SHA-256, signed as torch has them."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def splitmix(seeds: Any, places: Any) -> Any:
    """The numbers at some places of the streams that seeds start; torch wraps 64-bit numbers as the formula does.

    Args:
        seeds: int64, of any shape.
        places: int64, of a shape that fits; 1 is a stream's first number.
    """
    mixed = seeds + places * _signed(GAMMA)
    for shift, factor in STEPS:
        mixed = (mixed ^ _shifted(mixed, shift)) * _signed(factor)
    return mixed ^ _shifted(mixed, LAST_SHIFT)


def gumbel(keys: Any, tokens: Any) -> Any:
    """Standard Gumbel noise, float32.

    Args:
        keys: (rows, 1), int64: the streams.
        tokens: (rows, n) or (n,), int64: which numbers of each.
    """
    import torch

    # Apple's devices have no float64; there the noise is made on the CPU.
    device = "cpu" if keys.device.type == "mps" else keys.device
    drawn = _shifted(splitmix(keys.to(device), tokens.to(device) + 1), 64 - BITS)
    uniform = drawn.to(torch.float64).add_(0.5).mul_(2.0**-BITS)
    return uniform.log_().neg_().log_().neg_().to(keys.device, torch.float32)


def _shifted(values: Any, places: int) -> Any:
    """A shift to the right that brings in zeros, whatever the sign."""
    return (values >> places) & ((1 << (64 - places)) - 1)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
