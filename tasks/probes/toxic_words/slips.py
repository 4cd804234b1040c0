"""Listed words with a slip of the fingers: two letters swapped ("fukc"), or one left out ("bulshit")."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TypeVar

Listed = TypeVar("Listed")

SHORTEST = 4
"""Letters that must be left; "fck" and "sht" are listed, and what else has three letters may mean anything."""


def slips(words: Mapping[str, Listed], *, never: Container[str]) -> dict[str, Listed]:
    """Every word that is one slip away from some listed words, and the listed word that is meant.

    Nobody reads a word by its second letter alone, so a slip may change the first letter's place but not drop it.

    Args:
        words: the listed words that people recognize in spite of a slip.
        never: what is a word, a name or a code of its own.
    """
    found = {slip: words[word] for word in sorted(words) for slip in (*_swapped(word), *_dropped(word))}
    return {slip: meant for slip, meant in found.items() if slip not in words and slip not in never}


def _swapped(word: str) -> Iterator[str]:
    for place in range(len(word) - 1):
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def _dropped(word: str) -> Iterator[str]:
    for place in range(1, len(word) if len(word) > SHORTEST else 1):
        yield word[:place] + word[place + 1 :]
