"""Large blocks of memory: they go back to the system at once, but not while a model computes."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

CODE = """
import resource
from ctypes import CDLL, c_size_t, c_void_p, memset

from contrapose.tasks.tables.columnar import give_back, keep_no_large_blocks, large_blocks_kept

library = CDLL(None)
library.malloc.restype, library.malloc.argtypes, library.free.argtypes = c_void_p, [c_size_t], [c_void_p]

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        # Smaller than a huge page, so that each of its pages is counted.
        block = library.malloc(1_500_000)
        memset(block, 1, 1_500_000)
        library.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

with large_blocks_kept():
    untouched = faults()
keep_no_large_blocks()
give_back()
before = faults()
with large_blocks_kept():
    kept = faults()
print(untouched, before, kept, faults())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries decide by themselves")
def test_large_blocks_go_back_at_once_but_not_while_a_model_computes() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    pages = 1_500_000 // resource.getpagesize()
    untouched, before, kept, after = map(int, done.stdout.split())
    assert untouched < 10 * pages
    assert before > 90 * pages
    assert kept < 10 * pages
    assert after > 90 * pages
