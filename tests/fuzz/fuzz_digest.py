"""Print the digest of many outputs, made by a process of its own: `python fuzz_digest.py FIRST END SEED [reversed]`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.extend(map(str, Path(__file__).parents[1:3]))

from fuzz_checks import digest
from fuzz_texts import corpus

from contrapose.tasks.probes.negation import negate
from contrapose.tasks.probes.order_bias import read_choice
from contrapose.tasks.probes.toxic_words import count_toxic

if __name__ == "__main__":
    first, end, seed = map(int, sys.argv[1:4])
    indices, real = range(first, end), corpus()
    # The first call reads the lexicons, which is no part of what a call may take.
    for text in real[:20]:
        negate(text)
        count_toxic(text)
        read_choice(text, option_a=text, option_b=real[0])
    print(digest(indices[::-1] if "reversed" in sys.argv else indices, seed=seed, real=real))
