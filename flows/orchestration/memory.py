"""Memory of tables that are done with goes back to the system."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Return what was freed: allocators keep it for themselves, and the next room's libraries ask for more."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    # Where the C library has no such function, as on macOS, it returns more by itself.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
