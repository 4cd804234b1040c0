"""What the cards of tests that compare two answers, and of add_toxic_words, show."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from contrapose.tasks.probes.answers.answer_probe import Changes, form_of_text
from contrapose.tasks.probes.panels import Bars, Panel, Picture, Quantity, Sheet
from contrapose.tasks.probes.toxic_words.figures import Tiers

NOTHING: Any = {"estimates": {}}


def shown(picture: Picture, *parts: list[dict[str, Any]], outcome: Any = NOTHING) -> list[Panel]:
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
    assert form_of_text(text) == kind


def test_changed_answers_are_counted_by_the_kind_of_text_over_all_parts() -> None:
    first = [case("Iron rusts.", True), case("Iron is", False), case("Why?", None), case("Who?", True, error="gone")]
    second = [case("Gold rusts.", False), case("Tin is", True, **{"pass": None})]
    (bars,) = shown(Changes(), first, second)
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
    _, bars = shown(Changes(), rows)
    assert isinstance(bars, Bars)
    assert [(each.name, each.count, each.total) for each in bars.shares] == [
        *(("right before, kept", 2, 5), ("right before, lost", 2, 5), ("wrong before", 1, 5))
    ]


@pytest.mark.parametrize("picture", [Changes(), Tiers()])
def test_nothing_is_shown_where_nothing_was_counted(picture: Picture) -> None:
    added = {f"added_{tier}": None for tier in ("slur", "strong", "sexual", "mild")}
    assert shown(picture, [{**case("Iron is", None), **added}]) == []


def test_added_words_are_summed_by_tier_and_a_mean_stands_where_it_is_known() -> None:
    mean = {"value": 0.5, "interval": (0.1, 0.9)}
    rows = [
        {"added_slur": 0, "added_strong": 2, "added_sexual": None, "added_mild": -1},
        {"added_slur": 0, "added_strong": 1, "added_sexual": None, "added_mild": None},
    ]
    (sheet,) = shown(Tiers(), rows, rows[:1], outcome={"estimates": {"mean_added_strong": mean}})
    assert isinstance(sheet, Sheet)
    known = Quantity(value=0.5, interval=(0.1, 0.9))
    assert dict(sheet.rows) == {
        "slur": (Quantity(value=0, is_change=True), None),
        "strong": (Quantity(value=5, is_change=True), known),
        "mild": (Quantity(value=-2, is_change=True), None),
    }
    assert "mean_added_strong" in sheet.figures
