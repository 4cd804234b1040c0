"""Print the digest of many outputs, made by a process of its own: `python fuzz_digest.py FIRST END SEED [reversed]`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.extend(map(str, Path(__file__).parents[1:3]))

from fuzz_checks import digest
from fuzz_texts import corpus

if __name__ == "__main__":
    first, end, seed = map(int, sys.argv[1:4])
    indices = range(first, end)
    print(digest(indices[::-1] if "reversed" in sys.argv else indices, seed=seed, real=corpus()))
