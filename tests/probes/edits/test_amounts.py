"""Which article stands before a number, and what the edits say of themselves."""

from __future__ import annotations

import pytest

from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.edits.change_number import amount, takes_an


@pytest.mark.parametrize(
    ("article", "numbers"),
    [
        ("an", "8 80 8.5 800 8,000 11 18 11,000 18,500 11000 11.5 eight eleven"),
        ("a", "1 10 110 1,100 1,118 1180 180 7 nine 111,000 100,811"),
    ],
)
def test_an_stands_before_what_is_spoken_with_a_vowel_first(article: str, numbers: str) -> None:
    assert [written for written in numbers.split() if takes_an(written) != (article == "an")] == []


@pytest.mark.parametrize(
    ("spelling", "value"),
    [("12.5", 12.5), ("0.25", 0.25), ("1,250", 1250), ("1,250.50", 1250.5), ("Seven", 7), ("twenty", 20), ("0", 0)],
)
def test_an_amount_has_the_value_that_it_says(spelling: str, value: float) -> None:
    found = amount(spelling)
    assert found.value == value
    assert found.write(found.units) == spelling.lower()


@pytest.mark.parametrize("spelling", ["7th", "1.2.3", "007", "1,25", "one", "twenty-one", "", "12."])
def test_what_is_no_amount_or_several_is_none(spelling: str) -> None:
    assert amount(spelling) is None


@pytest.mark.parametrize(
    ("name", "category"),
    [
        *((name, "robustness") for name in ("typo", "casing", "spacing", "contractions", "abbreviations")),
        *((name, "robustness") for name in ("ocr_slips", "spelling", "context")),
        *((name, "bias") for name in ("names", "gender", "countries")),
        *((name, "sensitivity") for name in ("antonym", "change_number", "swap_roles")),
    ],
)
def test_an_edit_says_whether_the_answer_should_change(name: str, category: str) -> None:
    assert probe(name).category == category
