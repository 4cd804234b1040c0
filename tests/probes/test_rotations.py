from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from contrapose.tasks.probes.option_order import OptionOrder, Rotations
from contrapose.tasks.probes.panels import Bars, Panel

OUTCOME: Any = {"estimates": {}}


def panels(*parts: pd.DataFrame) -> list[Panel]:
    picture = Rotations()
    for part in parts:
        picture.add(part)
    return list(picture.panels(OUTCOME))


def sentence(*parts: pd.DataFrame) -> str:
    (found,) = panels(*parts)
    assert isinstance(found, Bars)
    return found.sentence


def rows(*outcomes: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"sample_id": str(index), "repeat": 0, "rotation": 1, "outcome": each, "letter": "B", "rotated_letter": "A"}
            for index, each in enumerate(outcomes)
        ]
    )


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
    assert sentence(rows(*outcomes)).startswith(start)


def test_letters_are_counted_and_the_given_order_once_an_asking() -> None:
    assert sentence(rows("text", "text")).endswith("Letters chosen: A 2, B 2.")
    orders = pd.DataFrame(
        {
            "sample_id": "1",
            "repeat": 0,
            "rotation": [1, 2],
            "outcome": "text",
            "letter": "B",
            "rotated_letter": ["A", "C"],
        }
    )
    assert sentence(orders).endswith("Letters chosen: A 1, B 1, C 1.")
    assert sentence(orders[:1], orders[1:]) == sentence(orders), "a sample may be cut by the end of a part"


def test_letters_of_every_repeat_are_counted_as_in_the_figures() -> None:
    letters = {"letter": ["A", "A", "B", "B"], "rotated_letter": ["B", "C", "A", "A"]}
    orders = pd.DataFrame(
        {"sample_id": "1", "repeat": [0, 0, 1, 1], "rotation": [1, 2] * 2, "outcome": "other", "option_count": 3}
        | letters
    )
    assert sentence(orders).endswith("Letters chosen: A 3, B 2, C 1.")
    assert {name: OptionOrder().summarise(orders)[f"{name}_against_uniform"] for name in "ABC"} == {
        name: pytest.approx(count / 2) for name, count in {"A": 3, "B": 2, "C": 1}.items()
    }


def test_a_test_without_orders_has_no_picture() -> None:
    assert panels() == []
    empty = rows("text").assign(rotation=None)
    assert panels(empty) == []
    assert panels(rows("text").assign(outcome=None)) == []
