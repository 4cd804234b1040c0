"""Large blocks of memory: they go back to the system at once, but not while a model computes."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import resource
from ctypes import CDLL, c_size_t, c_void_p, memset

from contrapose.tasks.tables.large_blocks import give_back, keep_no_large_blocks, large_blocks_kept

library = CDLL(None)
library.malloc.restype, library.malloc.argtypes, library.free.argtypes = c_void_p, [c_size_t], [c_void_p]

# Smaller than a huge page, so that each of its pages is counted; larger than what the C library keeps by itself.
SIZES = (1_500_000, 50_000_000)

def faults(size):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        block = library.malloc(size)
        memset(block, 1, size)
        library.free(block)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) * resource.getpagesize() / size

with large_blocks_kept():
    untouched = faults(SIZES[0])
keep_no_large_blocks()
give_back()
before = faults(SIZES[0])
with large_blocks_kept():
    with large_blocks_kept():
        pass
    kept = [faults(size) for size in SIZES]
print(untouched, before, *kept, faults(SIZES[0]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries decide by themselves")
def test_large_blocks_go_back_at_once_but_not_while_a_model_computes() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    untouched, before, kept, huge, after = map(float, done.stdout.split())
    # How many of 20 blocks had new pages.
    assert untouched < 4
    assert before > 16
    assert max(kept, huge) < 4
    assert after > 16
