"""Plain texts are read by a short cut, which must see what the full reading sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.tasks.language.reading import read, read_plain

SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "negation.jsonl"
TEXTS = [json.loads(line)["text"] for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
EDGES = [
    "Then Bill and the cook paid, so Anna left!",
    "It has 1,000 wings and no 7.",
    "Up - and Down , Left",
    "The dog’s bowl isn't full, is it?",
    "He said WHO met the US team.",
    "It rains. The Dog barks",
    "First  two spaces",
]


@pytest.mark.parametrize("text", EDGES)
def test_a_plain_text_reads_as_with_a_mark_that_says_nothing(text: str) -> None:
    plain, full = read(text), read(f"{text}*")
    assert (plain.words, plain.tags, plain.starts, plain.ends) == (full.words, full.tags, full.starts, full.ends)
    assert (plain.union, plain.asks, plain.closed) == (full.union, full.asks, full.closed)


def test_the_bundled_texts_read_alike() -> None:
    for text in TEXTS:
        plain, full = read(text), read(f"{text}*")
        assert (plain.words, plain.tags, plain.ends) == (full.words, full.tags, full.ends), text


@pytest.mark.parametrize("text", ["A (small) dog.", "SHE SLEEPS.", "Mr. Fox ran.", "“Go.”", ", -", "a\tb"])
def test_other_texts_are_left_to_the_full_reading(text: str) -> None:
    assert read_plain(text, 0, len(text)) is None


def test_a_sentence_behind_others_is_plain_by_itself() -> None:
    text = "It is hot. Dogs swim."
    sentence = read_plain(text, 11, len(text))
    assert sentence is not None
    assert [sentence.source(i) for i in range(2)] == ["Dogs", "swim"]
