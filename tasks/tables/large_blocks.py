"""Control large memory blocks: tables return them to the system at once, models keep them while they compute.

Columns differ in size, so that the C library cannot reuse the blocks that it keeps; a model needs equal blocks for each
layer, and the system would clear each block again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock

import pyarrow as pa

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4
"""Numbers of the C library: free bytes that it keeps; size and number of blocks with pages of their own."""
LARGE = 1 << 20
"""Bytes from which a block has pages of its own, which go back to the system: as tables like it."""
KEEP_ALL, USUAL = ((1 << 31) - 1, 0), (128 << 10, 1 << 16)
"""Free bytes that the C library keeps, and blocks with pages of their own: while a model computes, and otherwise."""

_go_back = Event()
"""Set once `keep_no_large_blocks` was called in this process."""
_lock, _computing = Lock(), [0]
"""How many models compute now, in threads of their own."""


def keep_no_large_blocks() -> None:
    """Make the C library return each large block to the system as soon as it is freed."""
    _go_back.set()
    _call_c_library("mallopt", M_MMAP_THRESHOLD, LARGE)


@contextmanager
def large_blocks_kept() -> Iterator[None]:
    """Keep all freed blocks inside the context, because clearing new blocks took a quarter of a run's time."""
    if not _go_back.is_set():
        yield
        return
    _count_model(1)
    try:
        yield
    finally:
        _count_model(-1)
        if not _computing[0]:
            give_back()


def _count_model(change: int) -> None:
    """Count the models that compute now, and set the C library's limit."""
    with _lock:
        _computing[0] += change
        kept, blocks = KEEP_ALL if _computing[0] else USUAL
        _call_c_library("mallopt", M_TRIM_THRESHOLD, kept)
        _call_c_library("mallopt", M_MMAP_MAX, blocks)


def give_back() -> None:
    """Return freed memory to the system, because allocators keep it for themselves."""
    pa.default_memory_pool().release_unused()
    _call_c_library("malloc_trim", 0)


def _call_c_library(function: str, *numbers: int) -> None:
    """Call a function of the C library, if it has it; on macOS it returns memory by itself."""
    with suppress(AttributeError, OSError):
        getattr(ctypes.CDLL(None), function)(*numbers)
