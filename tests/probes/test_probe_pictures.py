"""What the cards of tests show besides what every card shows: bars, grids and tables of counts."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from contrapose.tasks.probes.answers.answer_probe import ChangeCounts, classify_text_form
from contrapose.tasks.probes.negation import AddNegation
from contrapose.tasks.probes.option_order import OptionOrder, RotationCounts
from contrapose.tasks.probes.order_bias import OrderBias
from contrapose.tasks.probes.orders.two_figures import OutcomeCounts
from contrapose.tasks.probes.panels import Bars, Grid, Panel, Picture, Quantity, Sheet
from contrapose.tasks.probes.toxic_words import AddToxicWords
from contrapose.tasks.probes.toxic_words.figures import TierSums

NOTHING: Any = {"estimates": {}}


def shown(picture: Picture, *parts: Any, outcome: Any = NOTHING) -> list[Panel]:
    """The panels over rows that come part by part."""
    for rows in parts:
        picture.add(pd.DataFrame(rows))
    return list(picture.panels(outcome))


def case(text: str, changed: bool | None, **known: Any) -> dict[str, Any]:
    """A row that was scored, but for what is said of it."""
    plain = {"original": text, "pass": True, "error": None, "answer_changed": changed}
    return {**plain, "right_before": None, "gold_lost": None, **known}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("True or false: Iron rusts.", "true or false"), ("Does iron rust?", "question"),
        ('He asked "why?" ', "question"), ("Iron rusts.", "statement"), ("Stop!", "statement"),
        ("Iron is a", "unfinished"), ("", "unfinished"),
    ],
)  # fmt: skip
def test_a_text_is_told_by_its_beginning_and_its_end(text: str, kind: str) -> None:
    assert classify_text_form(text) == kind


def test_changed_answers_are_counted_by_the_kind_of_text_over_all_parts() -> None:
    first = [case("Iron rusts.", True), case("Iron is", False), case("Why?", None), case("Who?", True, error="gone")]
    second = [case("Gold rusts.", False), case("Tin is", True, **{"pass": None})]
    (bars,) = shown(ChangeCounts(), first, second)
    assert isinstance(bars, Bars)
    assert [(each.name, each.count, each.total) for each in bars.shares] == [("statement", 1, 2), ("unfinished", 0, 1)]


def test_right_answers_were_kept_or_lost_where_they_are_known() -> None:
    rows = [
        case("Iron is", True, right_before=True, gold_lost=True),
        case("Iron is", False, right_before=True, gold_lost=False),
        case("Iron is", False, right_before=True, gold_lost=0.0),
        case("Iron is", True, right_before=1.0, gold_lost=1.0),
        case("Iron is", True, right_before=False, gold_lost=None),
        case("Iron is", True),
    ]
    _, bars = shown(ChangeCounts(), rows)
    assert isinstance(bars, Bars)
    assert [(each.name, each.count, each.total) for each in bars.shares] == [
        *(("right before, kept", 2, 5), ("right before, lost", 2, 5), ("wrong before", 1, 5))
    ]


@pytest.mark.parametrize(
    ("picture", "rows"),
    [
        *((picture, {"original": "Iron is"}) for picture in (ChangeCounts(), TierSums())),
        *((OrderBias().picture(), values) for values in ({}, {"outcome": "unparsed"})),
        *(
            (RotationCounts(), values)
            for values in ({"outcome": "text"}, {"rotation": 1, "sample_id": "1", "repeat": 0})
        ),
    ],
)
def test_nothing_is_shown_where_nothing_was_counted(picture: Picture, rows: dict[str, Any]) -> None:
    columns = {name for probe in (AddNegation, AddToxicWords, OrderBias, OptionOrder) for name in probe.columns}
    plain = dict.fromkeys([*columns, "sample_id", "repeat", "error", "pass"])
    assert shown(picture, [{**plain, **rows}]) == []


def test_added_words_are_summed_by_tier_and_a_mean_stands_where_it_is_known() -> None:
    mean = {"value": 0.5, "interval": (0.1, 0.9)}
    rows = [
        {"added_slur": 0, "added_strong": 2, "added_sexual": None, "added_mild": -1},
        {"added_slur": 0, "added_strong": 1, "added_sexual": None, "added_mild": None},
    ]
    (sheet,) = shown(TierSums(), rows, rows[:1], outcome={"estimates": {"mean_added_strong": mean}})
    assert isinstance(sheet, Sheet)
    known = Quantity(value=0.5, interval=(0.1, 0.9))
    assert dict(sheet.rows) == {
        "slur": (Quantity(value=0, is_change=True), None),
        "strong": (Quantity(value=5, is_change=True), known),
        "mild": (Quantity(value=-2, is_change=True), None),
    }
    assert "mean_added_strong" in sheet.figures


def pairs(**counts: int) -> pd.DataFrame:
    """Rows of so many pairs of each outcome."""
    outcomes = [name for name, count in counts.items() for _ in range(count)]
    return pd.DataFrame({"outcome": outcomes, "swapped_result": ""})


def grid(*parts: pd.DataFrame) -> Grid:
    (found,) = shown(OutcomeCounts(OrderBias.sentences, ("unparsed",)), *parts)
    assert isinstance(found, Grid)
    return found


@pytest.mark.parametrize(
    ("counts", "start"),
    [
        ({"AA": 5}, "Always answers A in both orders: the position decides, not the content."),
        ({"BB": 19, "AB": 1}, "Nearly always answers B in both orders"),
        ({"AB": 6, "AA": 4}, "Mostly picks the right summary"),
        ({"BA": 6, "AA": 4}, "Mostly picks the wrong summary"),
        ({"AB": 4, "AA": 3, "BB": 3}, "No single pattern"),
        ({"AA": 1, "unparsed": 2}, "Most pairs lack a choice in one order or both (2 of 3)."),
        (
            {"AA": 209, "unparsed": 161},
            "Among the 209 of 370 pairs with a choice each time, always answers A in both orders: "
            "the position decides, not the content.",
        ),
        (
            {"AB": 1, "AA": 1, "BB": 1, "unparsed": 1},
            "Among the 3 of 4 pairs with a choice each time, no single pattern: content and position both show.",
        ),
    ],
)
def test_the_pattern_of_two_orders_is_told_in_words(counts: dict[str, int], start: str) -> None:
    assert grid(pairs(**counts)).sentence.startswith(start)


def test_parts_add_up_in_the_grid() -> None:
    found = grid(pairs(AB=2, AA=1), pairs(AB=1, BA=3, unparsed=2))
    cells = {cell.name.partition(":")[0]: (cell.count, cell.total) for _, shares in found.rows for cell in shares}
    assert cells == {"AB": (3, 7), "AA": (1, 7), "BB": (0, 7), "BA": (3, 7)}
    assert found.note == "Unparsed: 2."


def sentence(*parts: pd.DataFrame) -> str:
    (found,) = shown(RotationCounts(), *parts)
    assert isinstance(found, Bars)
    return found.sentence


def rotations(*outcomes: str) -> pd.DataFrame:
    """Rows of samples with one pair of orders each."""
    same = {"repeat": 0, "rotation": 1, "letter": "B", "rotated_letter": "A"}
    return pd.DataFrame([{"sample_id": str(number), "outcome": one, **same} for number, one in enumerate(outcomes)])


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
def test_the_pattern_of_rotations_is_told_in_words(outcomes: list[str], start: str) -> None:
    assert sentence(rotations(*outcomes)).startswith(start)


def test_letters_are_counted_and_the_given_order_once_an_asking() -> None:
    assert sentence(rotations("text", "text")).endswith("Letters chosen: A 2, B 2.")
    orders = rotations("text", "text").assign(sample_id="1", rotation=[1, 2], rotated_letter=["A", "C"])
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
