from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.report.html.diff import mark

WORDS = st.lists(st.sampled_from(["a", "is", "not", ".", "\n", "漢"]), max_size=12).map(" ".join)


@given(WORDS, WORDS)
def test_joined_segments_give_the_texts_again(original: str, changed: str) -> None:
    marked = mark(original, changed)
    assert ("".join(marked.original), "".join(marked.changed)) == (original, changed)


@given(WORDS, WORDS)
def test_shared_segments_are_the_same_in_both(original: str, changed: str) -> None:
    marked = mark(original, changed)
    if original and changed:
        assert "".join(marked.original[::2]) == "".join(marked.changed[::2])


def test_an_inserted_word_is_set_apart() -> None:
    assert mark("It is blue.", "It is not blue.") == (("It is blue.",), ("It is ", "not ", "blue."))


@pytest.mark.parametrize("count", [150, 400])
def test_texts_made_to_be_slow_are_not(count: int) -> None:
    start = perf_counter()
    mark("a " * (count // 2), "b " + "a b " * (count // 5))
    assert perf_counter() - start < 1
