"""Texts that are nearly real: sample texts with words swapped, left out or put in."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from places import REPOSITORY, json_rows

from contrapose.tasks.probes.edits.base import Edited


def mutated(samples: str, field: str, pieces: Sequence[str], *, instead: str, count: int = 500) -> list[str]:
    """Texts of the bundled samples, each with one to four changes; `instead` is put where nothing else is."""
    texts = [row[field] for row in json_rows(REPOSITORY / "data" / "samples" / samples)]
    rng, found = random.Random(20), list[str]()
    for _ in range(count):
        words = rng.choice(texts).split(" ")
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(words))
            words[at : at + rng.randint(0, 1)] = rng.sample(pieces, rng.randint(0, 2)) or [instead]
        found.append(" ".join(words))
    return found


def check_edits(edit: Callable[[str], Edited], texts: Sequence[str]) -> None:
    """Each text gives another text with a confidence, or a reason, and the same every time."""
    for text in texts:
        result = edit(text)
        assert result == edit(text)
        assert (result.text is None) != (result.reason is None)
        assert (result.text is None) == (result.confidence is None)
        assert result.text != text
