"""The control of toxic words: polite words in the same places, and as many of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

BEFORE = (
    "hello,",
    "greetings!",
    "good morning,",
    "kind regards:",
    "hello there everyone,",
    "thank you, listen:",
    "what a lovely day,",
    "a very good morning,",
    "a warm welcome to everyone,",
    "I wish you all well:",
)
AFTER = (
    "thanks",
    "please",
    "thank you",
    "many thanks",
    "thank you kindly",
    "with kind regards",
    "thank you very much",
    "all the best wishes",
    "thank you very much indeed",
    "with many thanks to everyone",
)
MOST_WORDS = 5
"""Words of the longest phrase above; more are made of several phrases."""


def polite(toxic: str, phrases: Sequence[str], *, rng: random.Random) -> str:
    """Polite words, as many as there are in a toxic phrase, drawn from phrases that hold one word to five."""
    count = len(toxic.split())
    sizes = [MOST_WORDS] * (count // MOST_WORDS) + ([count % MOST_WORDS] if count % MOST_WORDS else [])
    return " ".join(rng.choice([each for each in phrases if len(each.split()) == size]) for size in sizes)
