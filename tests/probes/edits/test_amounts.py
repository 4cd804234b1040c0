"""Which article stands before a number, and what the edits say of themselves."""

from __future__ import annotations

import pytest

from contrapose.tasks.probes.edits.amounts import takes_an
from contrapose.tasks.registry import probe


@pytest.mark.parametrize(
    "written", ["8", "80", "8.5", "800", "8,000", "11", "18", "11,000", "18,500", "11000", "11.5", "eight", "eleven"]
)
def test_an_stands_before_what_is_spoken_with_a_vowel_first(written: str) -> None:
    assert takes_an(written)


@pytest.mark.parametrize(
    "written", ["1", "10", "110", "1,100", "1,118", "1180", "180", "7", "nine", "111,000", "100,811"]
)
def test_a_stands_before_any_other_number(written: str) -> None:
    assert not takes_an(written)


@pytest.mark.parametrize(
    ("name", "category"),
    [
        *((name, "robustness") for name in ("typo", "casing", "spacing")),
        *((name, "sensitivity") for name in ("antonym", "change_number", "swap_roles")),
    ],
)
def test_an_edit_says_whether_the_answer_should_change(name: str, category: str) -> None:
    assert probe(name).category == category
