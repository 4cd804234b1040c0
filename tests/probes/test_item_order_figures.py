"""item_order: its figures, its gates, and its picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from figured import figured
from probes.test_item_order import PROBE

from contrapose.tasks.evaluate.summarise import estimate_measures
from contrapose.tasks.probes.item_order import ItemOrderSettings
from contrapose.tasks.probes.orders.item_places import PlaceCounts
from contrapose.tasks.probes.panels import Bars, Panel, Sheet

LIST = 4
NOTHING: Any = {"estimates": {}}


def rows_of(name: str, right: list[bool | None], *, relevant: int = 1, **changes: Any) -> list[dict[str, Any]]:
    """The rows of a sample in all cyclic orders of four items, right where `right` says so of the place of the relevant
    item, from the first to the last; the answer is the relevant item's where it is right, else the first one's."""

    def source(place: int) -> int:
        return place if right[place - 1] else 1

    rows = []
    for by in range(1, LIST):
        moved = (relevant - 1 - by) % LIST + 1
        before, after = right[relevant - 1], right[moved - 1]
        row = {
            "sample_id": name,
            "repeat": 0,
            "case_id": f"{name}/{by}",
            "control": False,
            "error": None,
            "scorer": "choice",
            "item_count": LIST,
            "option_count": 4,
            "relevant_place": relevant,
            "moved_relevant_place": moved,
            "answer_place": source(relevant),
            "moved_answer_place": source(moved),
            "answer_known": True,
            "right_before": before,
            "right_after": after,
            "answer_changed": None if before is None or after is None else before != after,
        }
        rows.append({**row, "pass": None if row["answer_changed"] is None else not row["answer_changed"], **changes})
    return rows


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    columns = ["cluster", "eval_score", "answer_known", *PROBE.columns]
    return pd.DataFrame([{**dict.fromkeys(columns), **row} for row in rows])


RIGHT, WRONG, FIRST_ALONE = [True] * 4, [False] * 4, [True, False, False, False]


@pytest.mark.parametrize(
    ("rows", "figures"),
    [
        (rows_of("a", [True, False, False, True], relevant=3),
         {"accuracy_relevant_first": 1, "accuracy_relevant_middle": 0, "accuracy_relevant_last": 1,
          "lost_in_the_middle": 1, "first_over_middle": 1, "last_over_middle": 1, "first_over_last": 0,
          "accuracy": 0.5, "accuracy_given_order": 0, "right_in_all_orders": 0}),
        ([*rows_of("a", RIGHT), *rows_of("b", WRONG)[:1]], {"accuracy": 0.5}),
        (rows_of("a", [True, None, True, True]),
         {"accuracy": 0.75, "right_in_all_orders": 0, "consistent_and_right": 1, "samples": 1, "samples_that_stay": 0}),
        ([*rows_of("a", RIGHT), *rows_of("b", WRONG), *rows_of("c", FIRST_ALONE)],
         {"consistent_and_right": 1 / 3, "consistent_and_wrong": 1 / 3, "follows_the_order": 1 / 3,
          "answer_changed": 1 / 3, "samples": 3, "samples_that_stay": 2}),
        (rows_of("a", FIRST_ALONE), {"favours_first": 0.75, "favours_middle": -0.5, "favours_last": -0.25}),
    ],
    ids=["by the place of the relevant item", "a sample counts once", "an unread reply is not right",
         "what became of the answers", "answers from the first item alone favour it"],
)  # fmt: skip
def test_figures_of_some_rows(rows: list[dict[str, Any]], figures: dict[str, float]) -> None:
    found = figured(PROBE, rows)
    assert {name: found[name] for name in figures} == pytest.approx(figures)


def test_answers_that_come_from_no_one_item_favour_nothing() -> None:
    rows = rows_of("a", [True] * 4, answer_place=None, moved_answer_place=None)
    assert not any(name.startswith("favours") for name in figured(PROBE, rows))


def test_where_no_answer_is_known_nothing_is_said_of_accuracy() -> None:
    rows = rows_of("a", [True] * 4, answer_known=False, right_before=None, right_after=None)
    assert not any(name.startswith(("accuracy", "consistent", "right_in")) for name in figured(PROBE, rows))


def test_controls_count_in_no_figure_but_the_effect() -> None:
    rows = rows_of("a", [True, False, False, False])
    twin = {**rows[0], "control": True, "answer_changed": False, "pass": True, "case_id": "a/control"}
    alone, beside = (frame(*each) for each in (rows, [*rows, twin]))
    for name, estimate in estimate_measures(PROBE.measures(alone), alone).items():
        assert estimate_measures(PROBE.measures(beside), beside)[name] == estimate
    assert [measure.net for measure in PROBE.measures(beside) if measure.name == "answer_changed"] == [
        "net_order_sensitivity"
    ]


def met(*rows: dict[str, Any]) -> list[float | None]:
    (criterion,) = PROBE.criteria(frame(*rows), ItemOrderSettings())
    return [None if np.isnan(value) else value for value in criterion.met[criterion.applies]]


def test_a_case_meets_the_criterion_where_its_answer_stays_and_is_right() -> None:
    assert met(*rows_of("a", [True] * 4)) == [1, 1, 1]
    assert met(*rows_of("a", [False] * 4)) == [0, 0, 0]
    assert met(*rows_of("a", [True, False, True, True])) == [1, 1, 0]


def test_what_was_not_read_leaves_it_open_unless_the_other_reply_is_wrong() -> None:
    assert met(*rows_of("a", [True, None, True, True])) == [1, 1, None]
    assert met(*rows_of("a", [False, None, False, False])) == [0, 0, 0]


def test_a_failed_call_leaves_it_open_and_controls_do_not_count() -> None:
    rows = rows_of("a", [True] * 4)
    failed = {"sample_id": "b", "repeat": 0, "control": False, "error": "away", "pass": None, "answer_known": True}
    assert met(*rows, failed, {**rows[0], "control": True}) == [1, 1, 1, None]


def test_its_chance_is_that_of_whoever_always_says_the_same() -> None:
    (criterion,) = PROBE.criteria(frame(*rows_of("a", [True] * 4)), ItemOrderSettings(min_right_rate=0.6))
    assert (criterion.name, criterion.wanted, criterion.chance) == ("right_rate", 0.6, 0.25)


def test_its_chance_is_that_of_a_constant_letter_or_text_where_that_is_right_more_often() -> None:
    right = ["A\nlake", "A\nhill", "B\nlake"]
    rows = [row for name, said in zip("abc", right, strict=True) for row in rows_of(name, RIGHT, right_answer=said)]
    (criterion,) = PROBE.criteria(frame(*rows), ItemOrderSettings())
    assert criterion.chance == pytest.approx(2 / 3)
    assert criterion.wanted > 2 / 3
    assert criterion.constant in ("A", "lake")


def test_there_is_no_criterion_where_no_answer_is_known() -> None:
    assert PROBE.criteria(frame(*rows_of("a", [True] * 4, answer_known=False)), ItemOrderSettings()) == []


def panels(*parts: list[dict[str, Any]], outcome: Any = NOTHING) -> list[Panel]:
    picture = PlaceCounts()
    for rows in parts:
        picture.add(frame(*rows))
    return list(picture.panels(outcome))


def counts(panel: Panel) -> dict[str, tuple[int, int]]:
    assert isinstance(panel, Bars)
    return {share.name: (share.count, share.total) for share in panel.shares}


def test_the_picture_counts_outcomes_and_right_answers_by_place() -> None:
    stayed, placed = panels(rows_of("a", [True, False, True, True]))
    assert counts(stayed) == {"stayed and right": (2, 3), "stayed and wrong": (0, 3), "changed with the order": (1, 3)}
    assert counts(placed) == {"first": (1, 1), "in between": (1, 2), "last": (1, 1)}


def test_a_sample_may_be_cut_by_the_end_of_a_part() -> None:
    rows = [*rows_of("a", [True, False, True, True]), *rows_of("b", [False] * 4)]
    whole = panels(rows)
    assert panels(rows[:2], rows[2:]) == whole == panels(rows[:1], rows[1:4], rows[4:])


def test_repeats_are_askings_of_their_own() -> None:
    rows = [row for number in (0, 1) for row in rows_of("a", [True] * 4, repeat=number)]
    assert counts(panels(rows)[1]) == {"first": (2, 2), "in between": (4, 4), "last": (2, 2)}


@pytest.mark.parametrize(
    ("first", "last", "sentence"),
    [
        ((-0.1, 0.1), (-0.1, 0.1), "The place of the relevant item makes no clear difference."),
        (None, None, "The place of the relevant item makes no clear difference."),
        ((0.1, 0.3), (-0.1, 0.1), "matters: right more often first than in between."),
        ((0.1, 0.3), (-0.3, -0.1), "matters: right more often first than in between, less often last than in between."),
    ],
)
def test_the_sentence_claims_only_what_an_interval_shows(first: Any, last: Any, sentence: str) -> None:
    known = {
        name: {"value": 0.2, "interval": interval}
        for name, interval in (("first_over_middle", first), ("last_over_middle", last))
    }
    panel = panels(rows_of("a", [True] * 4), outcome={"estimates": known})[1]
    assert isinstance(panel, Bars)
    assert sentence in panel.sentence


def test_the_favoured_places_are_a_table_with_intervals() -> None:
    known = {f"favours_{name}": {"value": 0.2, "interval": (0.1, 0.3)} for name in ("first", "middle", "last")}
    sheet = panels(rows_of("a", [True] * 4), outcome={"estimates": known})[-1]
    assert isinstance(sheet, Sheet)
    assert [name for name, _ in sheet.rows] == ["first", "in between", "last"]
    assert sheet.rows[0][1][0].interval == (0.1, 0.3)


def test_a_test_without_answers_has_no_picture() -> None:
    assert panels() == []
    failed = {"sample_id": "b", "repeat": 0, "control": False, "error": "away", "pass": None, "answer_known": True}
    assert panels([failed]) == []


def test_figures_of_nothing_are_no_samples() -> None:
    assert PROBE.summarise(pd.DataFrame()) == {"samples": 0}
    assert PROBE.measures(pd.DataFrame()) == []
