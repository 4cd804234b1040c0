from __future__ import annotations

import pandas as pd
import pytest

from contrapose.tasks.probes.option_order.figures import figures
from contrapose.tasks.report.rotations import reading, rotations


def read(*outcomes: str) -> str:
    rows = [
        {"sample_id": str(index), "rotation": 1, "outcome": each, "letter": "B", "rotated_letter": "A"}
        for index, each in enumerate(outcomes)
    ]
    found = rotations(pd.DataFrame(rows))
    assert found
    return reading(found)


@pytest.mark.parametrize(
    ("outcomes", "start"),
    [
        (["text"] * 3, "Always chooses the same option"),
        (["letter"] * 9 + ["text"], "Nearly always chooses the same letter"),
        (["other", "other", "text"], "Mostly changes to another option"),
        (["text", "letter", "other"], "No single pattern"),
        (["text", "unparsed", "tied"], "Most pairs lack a choice in one order or both (2 of 3)."),
        (
            ["letter", "letter", "unparsed", "tied"],
            "Among the 2 of 4 pairs with a choice each time, always chooses the same letter",
        ),
    ],
)
def test_the_pattern_is_told_in_words(outcomes: list[str], start: str) -> None:
    assert read(*outcomes).startswith(start)


def test_letters_are_counted_and_the_given_order_once_an_asking() -> None:
    assert read("text", "text").endswith("Letters chosen: A 2, B 2.")
    rows = pd.DataFrame(
        {"sample_id": "1", "rotation": [1, 2], "outcome": "text", "letter": "B", "rotated_letter": ["A", "C"]}
    )
    found = rotations(rows)
    assert found
    assert found.letters == {"A": 1, "B": 1, "C": 1}


def test_letters_of_every_repeat_are_counted_as_in_the_figures() -> None:
    letters = {"letter": ["A", "A", "B", "B"], "rotated_letter": ["B", "C", "A", "A"]}
    rows = pd.DataFrame(
        {"sample_id": "1", "repeat": [0, 0, 1, 1], "rotation": [1, 2] * 2, "outcome": "other", "option_count": 3}
        | letters
    )
    found = rotations(rows)
    assert found
    assert found.letters == {"A": 3, "B": 2, "C": 1}
    assert {name: figures(rows)[f"{name}_against_uniform"] for name in "ABC"} == {
        name: pytest.approx(count / 2) for name, count in found.letters.items()
    }


def test_a_test_without_orders_has_no_counts() -> None:
    assert rotations(pd.DataFrame()) is None
    assert rotations(pd.DataFrame({"rotation": [0], "outcome": [None]})) is None
    assert rotations(pd.DataFrame({"rotation": [None], "outcome": ["AB"]})) is None
