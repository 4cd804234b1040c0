"""Options and answers in the shapes that data sets give them."""

from __future__ import annotations

from typing import Any

import pytest

from contrapose.tasks.load.building import read_options, resolve
from contrapose.tasks.load.rows import Unfit


@pytest.mark.parametrize(
    "value",
    [
        ["blue", "green"],
        '["blue", "green"]',
        "A. blue\nB. green",
        "A) blue\r\nB) green\n",
        "(A) blue\n\n(B) green",
        ["A. blue", "B. green"],
        {"label": ["A", "B"], "text": ["blue", "green"]},
        '{"label": ["1", "2"], "text": ["blue", "green"]}',
        {"label": [1, 2], "text": ["blue", "green"]},
    ],
)
def test_every_shape_gives_the_texts_without_letters(value: Any) -> None:
    assert read_options(value).texts == ("blue", "green")


def test_a_second_line_belongs_to_its_option() -> None:
    assert read_options("A. blue\nas the sea\nB. green").texts == ("blue\nas the sea", "green")


def test_options_that_begin_with_other_letters_keep_them() -> None:
    assert read_options(["U. Grant", "A. Lincoln"]).texts == ("U. Grant", "A. Lincoln")


@pytest.mark.parametrize("answer", ["green", " green ", "B", "B.", "(B)", "B. green", "B) green"])
def test_an_answer_is_found_by_text_or_letter(answer: str) -> None:
    assert resolve(answer, read_options("A. blue\nB. green")) == "green"


def test_an_answer_may_be_the_sources_own_label() -> None:
    assert resolve("2", read_options({"label": ["1", "2"], "text": ["2", "3"]})) == "3"


def test_without_labels_the_text_comes_before_the_letter() -> None:
    assert resolve("A", read_options(["B", "A"])) == "A"


@pytest.mark.parametrize("answer", ["red", "C", "A. green", "a"])
def test_an_answer_that_is_none_of_the_options_is_refused(answer: str) -> None:
    with pytest.raises(Unfit, match="none of the options"):
        resolve(answer, read_options(["blue", "green"]))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (["blue"], "1 option"),
        ([], "0 options"),
        ([f"option {number}" for number in range(27)], "27 options"),
        (["blue", "blue "], "'blue' is there twice"),
        ("A. blue\nB. blue", "'blue' is there twice"),
        ("blue, green", "'blue, green' in a block"),
        ("A. blue\nC. green", "'C. green' in a block"),
        ("['blue', 'green']", "is not JSON"),
        (["blue", 3], "3 is a number"),
        (["blue", None], "null"),
        ("A. blue\nB. ", "an option is blank"),
        (7, "7 is no list"),
        ({"text": ["blue", "green"]}, "is no set of options"),
        ({"label": ["A", "A"], "text": ["blue", "green"]}, "labels"),
    ],
)
def test_unusable_options_are_refused(value: Any, found: str) -> None:
    with pytest.raises(Unfit) as caught:
        read_options(value)
    assert found in caught.value.problem.observed
