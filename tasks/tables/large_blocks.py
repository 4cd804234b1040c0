"""Large blocks of memory: tables give them back to the system at once, and models keep them while they compute.

Columns are hardly ever as large as the next ones, so that what the C library keeps of them is lost; a model asks for
equal blocks layer by layer, and the system clears each one before it hands it out again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock

import pyarrow as pa

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4
"""The C library's numbers of what is set here: free bytes that it keeps, and of which size, and how many, blocks with
pages of their own are, which it does not keep."""
LARGE = 1 << 20
"""Bytes from which a block has pages of its own: as tables like it."""
MOST = (1 << 31) - 1
"""What the C library can be told at most."""
USUAL_TRIM, USUAL_BLOCKS = 128 << 10, 1 << 16
"""Free bytes that it keeps at its end, and blocks with pages of their own, unless it is told otherwise."""

_go_back = Event()
"""Set once `keep_no_large_blocks` was called in this process."""
_lock, _computing = Lock(), [0]
"""How many models compute now, in threads of their own."""


def keep_no_large_blocks() -> None:
    """Have each large block returned to the system as soon as it is freed: the C library learns to keep them."""
    _go_back.set()
    _c_library("mallopt", M_MMAP_THRESHOLD, LARGE)


@contextmanager
def large_blocks_kept() -> Iterator[None]:
    """Meanwhile have all of them kept, however large: clearing them anew took a quarter of the time of a run."""
    if not _go_back.is_set():
        yield
        return
    _keep(one_more=1)
    try:
        yield
    finally:
        _keep(one_more=-1)


def _keep(*, one_more: int) -> None:
    with _lock:
        _computing[0] += one_more
        _c_library("mallopt", M_TRIM_THRESHOLD, MOST if _computing[0] else USUAL_TRIM)
        _c_library("mallopt", M_MMAP_MAX, 0 if _computing[0] else USUAL_BLOCKS)
        if not _computing[0]:
            give_back()


def give_back() -> None:
    """Return to the system what was freed: allocators keep it for themselves, and what comes next asks for more."""
    pa.default_memory_pool().release_unused()
    _c_library("malloc_trim", 0)


def _c_library(function: str, *numbers: int) -> None:
    # Where it has no such function, as on macOS, it returns more by itself.
    with suppress(AttributeError, OSError):
        getattr(ctypes.CDLL(None), function)(*numbers)
