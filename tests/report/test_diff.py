from __future__ import annotations

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.text.diff import edits, mark

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


@given(WORDS, WORDS)
def test_edits_applied_from_the_last_to_the_first_give_the_changed_text(original: str, changed: str) -> None:
    text = original
    for start, end, new in reversed(edits(original, changed)):
        text = text[:start] + new + text[end:]
    assert text == changed


@given(WORDS, WORDS)
def test_edits_stand_in_order_and_do_not_overlap(original: str, changed: str) -> None:
    found = edits(original, changed)
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_an_inserted_word_is_set_apart() -> None:
    assert mark("It is blue.", "It is not blue.") == (("It is blue.",), ("It is ", "not ", "blue."))


@pytest.mark.parametrize(
    ("original", "changed", "found"),
    [
        ("He eats fish.", "He does not eat fish.", [(3, 3, "does not "), (6, 7, "")]),
        ("It is.", "It isn't.", [(5, 5, "n't")]),
        ("He went.", "He did not go.", [(3, 7, "did not go")]),
        ("It is happy.", "It is unhappy.", [(6, 6, "un")]),
        ("天空是蓝色的。", "天空不是蓝色的。", [(2, 2, "不")]),
    ],
)
def test_a_word_that_is_only_inflected_is_marked_in_part(
    original: str, changed: str, found: list[tuple[int, int, str]]
) -> None:
    assert edits(original, changed) == found


def test_scraps_between_changes_are_not_kept() -> None:
    original, changed = "So a northern village is quieter.", "So two crowded cities in January is quieter."
    assert edits("It is the old mill.", "It was an old farm.") == [(3, 9, "was an"), (14, 18, "farm")]
    assert edits(original, changed) == [(3, 21, "two crowded cities in January")]


def test_a_missing_text_is_not_marked() -> None:
    assert mark("It is blue.", "") == (("It is blue.",), ("",))


SLOW = {
    "few words": ("a " * 10_000, "b " + "a b " * 5_000),
    "no word in common": ("a " * 10_000, "b " * 10_000),
    "one word": ("a" * 20_000, "b" * 20_000),
    "signs": ("." * 20_000, "!." * 10_000),
    "numbers": (" ".join(map(str, range(4_000))), " ".join(map(str, range(4_000, 0, -1)))),
}


@pytest.mark.parametrize(("original", "changed"), SLOW.values(), ids=SLOW)
def test_texts_made_to_be_slow_are_not(original: str, changed: str) -> None:
    start = process_time()
    mark(original, changed)
    assert process_time() - start < 3


def test_changes_at_both_ends_of_a_long_text_are_found() -> None:
    text = "The committee met every week and read many letters. " * 400
    assert edits(text, f"so {text}so") == [(0, 0, "so "), (len(text), len(text), "so")]
