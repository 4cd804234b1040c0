"""Content of a GGUF file: its facts, and its tensors as plain numbers.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The package gguf reads it, too, in ten seconds
where the vocabulary has 262,144 words; its knowledge of quantised numbers is used here.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Kinds of single values, in the letters of `struct`."""
TEXT, ARRAY = 8, 9


def read_gguf(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
    """Return the facts in a file, and its tensors by name, in the order of dimensions that torch has.

    Raises:
        ValueError, struct.error: it is no GGUF file of version 2 or 3.
    """
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize

    reader = _Reader(path.read_bytes())
    magic, version, tensors, facts = reader.take("4sIQQ")
    if magic != b"GGUF" or version not in (2, 3):
        raise ValueError(f"{path} is no GGUF file of version 2 or 3")
    known = {reader.text(): reader.value(*reader.take("I")) for _ in range(facts)}
    places = {}
    for _ in range(tensors):
        name = reader.text()
        shape = reader.take(f"{reader.take('I')[0]}Q")[::-1]
        kind, offset = reader.take("IQ")
        places[name.removesuffix(".weight")] = (shape, GGMLQuantizationType(kind), offset)
    alignment = known.get("general.alignment", 32)
    start = -(-reader.place // alignment) * alignment
    plain = {}
    for name, (shape, kind, offset) in places.items():
        numbers, size = GGML_QUANT_SIZES[kind]
        row = shape[-1] // numbers * size
        stored = np.frombuffer(reader.content, np.uint8, row * int(np.prod(shape[:-1])), start + offset)
        plain[name] = dequantize(stored.reshape(-1, row), kind).reshape(shape)
    return known, plain


class _Reader:
    """A place in bytes that moves on as values are read."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def take(self, kinds: str) -> tuple[Any, ...]:
        """Return values of kinds as `struct` names them."""
        values = struct.unpack_from(f"<{kinds}", self.content, self.place)
        self.place += struct.calcsize(f"<{kinds}")
        return values

    def text(self) -> str:
        """Return a text."""
        (length,) = self.take("Q")
        self.place += length
        return self.content[self.place - length : self.place].decode()

    def value(self, kind: int) -> Any:
        """Return a number, a text or a list."""
        if kind == TEXT:
            return self.text()
        if kind != ARRAY:
            return self.take(NUMBERS[kind])[0]
        kind, length = self.take("IQ")
        if kind in NUMBERS:
            return list(self.take(f"{length}{NUMBERS[kind]}"))
        return [self.value(kind) for _ in range(length)]
