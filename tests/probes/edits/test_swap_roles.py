"""Swapped roles: the plain clauses that the example changes, and what it leaves alone."""

from __future__ import annotations

import random

import pytest
from contrapose_swap_roles.probe import SwapRoles
from hypothesis import given
from hypothesis import strategies as st
from places import golden_rows

ROWS = golden_rows("edits/swap_roles")


@pytest.mark.parametrize(
    ("text", "changed", "confidence"),
    [
        ("The dog chased the cat.", "The cat chased the dog.", "high"),
        ("It rained. A boy hit the ball", "It rained. The ball hit a boy", "high"),
        ("His son saw the girl.", "The girl saw his son.", "medium"),
    ],
)
def test_subject_and_object_of_a_plain_clause_change_places(text: str, changed: str, confidence: str) -> None:
    edited = SwapRoles().edit(text, None, rng=random.Random(0))
    assert (edited.text, edited.confidence) == (changed, confidence)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Birds sing.", "no_plain_clause"),
        ("Who chased the cat?", "no_plain_clause"),
        ("The man married the woman.", "symmetric_verb"),
        ("The cat saw the cat.", "same_phrase"),
    ],
)
def test_other_texts_are_skipped_with_their_reason(text: str, reason: str) -> None:
    assert SwapRoles().edit(text, None, rng=random.Random(0)).reason == reason


def test_every_golden_text_that_is_changed_is_acceptable() -> None:
    edited = [(row, SwapRoles().edit(row["text"], None, rng=random.Random(0)).text) for row in ROWS]
    assert [row["id"] for row, text in edited if text is not None and text not in row["accept"]] == []


@given(
    st.lists(st.sampled_from(["The", "dog", "cat", "his", "a", "chased", "saw", ".", "?", "it"]), max_size=8).map(
        " ".join
    )
)
def test_any_text_is_swapped_or_skipped(text: str) -> None:
    edited = SwapRoles().edit(text, None, rng=random.Random(0))
    assert (edited.text is None) == (edited.reason is not None)
