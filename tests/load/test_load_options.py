"""Options and answers in the shapes that data sets give them."""

from __future__ import annotations

from typing import Any

import pytest

from contrapose.tasks.load.answers import chosen_options
from contrapose.tasks.load.options import Options, read_options
from contrapose.tasks.load.rows import Unfit


def read(value: Any) -> Options:
    options = read_options(value)
    assert options is not None
    return options


def resolve(answer: str, options: Options) -> str:
    (chosen,) = chosen_options(answer, options, first_index=None)
    return chosen


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
    assert read(value).texts == ("blue", "green")


def test_a_second_line_belongs_to_its_option() -> None:
    assert read("A. blue\nas the sea\nB. green").texts == ("blue\nas the sea", "green")


def test_options_that_begin_with_other_letters_keep_them() -> None:
    assert read(["U. Grant", "A. Lincoln"]).texts == ("U. Grant", "A. Lincoln")


@pytest.mark.parametrize("answer", ["green", " green ", "B", "B.", "(B)", "B. green", "B) green"])
def test_an_answer_is_found_by_text_or_letter(answer: str) -> None:
    assert resolve(answer, read("A. blue\nB. green")) == "green"


def test_an_answer_may_be_the_sources_own_label() -> None:
    assert resolve("2", read({"label": ["1", "2"], "text": ["2", "3"]})) == "3"


def test_without_labels_the_text_comes_before_the_letter() -> None:
    assert resolve("A", read(["B", "A"])) == "A"


@pytest.mark.parametrize("answer", ["red", "C", "A. green"])
def test_an_answer_that_is_none_of_the_options_is_refused(answer: str) -> None:
    with pytest.raises(Unfit, match="none of the options"):
        resolve(answer, read(["blue", "green"]))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (["blue"], "1 option"),
        ([f"option {number}" for number in range(27)], "27 options"),
        ("blue, green", "'blue, green' is one text without marks"),
        ("A. blue\nC. green", "is one text without marks"),
        (["blue", None], "null"),
        ("A. blue\nB. ", "an option is blank"),
        (7, "7 is a number"),
        ({"text": ["blue", "green"]}, "is no set of options"),
        ({"label": ["A", "A"], "text": ["blue", "green"]}, "labels"),
    ],
)
def test_unusable_options_are_refused(value: Any, found: str) -> None:
    with pytest.raises(Unfit) as caught:
        read(value)
    assert found in caught.value.problem.observed
