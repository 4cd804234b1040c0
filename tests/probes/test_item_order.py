"""item_order: its orders, its prompts, what replies are scored as, and its figures."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from embedders import embed_nothing
from figured import figured
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Completion, ItemSample, Likelihoods, Score, Trial
from contrapose.tasks.evaluate.summarise import estimate_measures
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.probes.item_order import INTRODUCTION, OTHER_WORDS, ItemOrder, ItemOrderSettings
from contrapose.tasks.probes.orders.item_places import PlaceCounts
from contrapose.tasks.probes.panels import Bars, Panel, Sheet

PROBE = ItemOrder()
PETS = ItemSample(
    id="p",
    text="Which one barks?",
    items=("A dog barks.", "A cat purrs.", "A frog croaks."),
    options=("cat", "dog"),
    answers=("dog",),
    relevant=1,
)
OWN = "{{ items }}\nQ: {{ text }}\n{{ options }}\nReply:"


def settings(**values: Any) -> ItemOrderSettings:
    return ItemOrderSettings.model_validate(values)


def make(sample: ItemSample = PETS, *, likelihoods: Likelihoods = "none", seed: int = 0, **values: Any) -> list[Case]:
    rng = make_sample_rng(seed, sample.id, PROBE.name)
    return list(PROBE.cases(sample, settings(**values), rng=rng, likelihoods=likelihoods))


def says(before: str, after: str, *, sample: ItemSample = PETS, case: int = 0) -> Score:
    trial = Trial(case=make(sample)[case], expected=Completion(text=before), actual=Completion(text=after))
    return PROBE.score([trial], settings(), embed=embed_nothing)[0]


def test_every_rotation_is_a_case_of_the_same_original() -> None:
    cases = make()
    assert [case.id for case in cases] == ["item_order/p/1", "item_order/p/2"]
    assert {case.original_prompt for case in cases} == {
        "Here is a list. Answer the question below it.\n\n1. A dog barks.\n2. A cat purrs.\n3. A frog croaks.\n\n"
        "Which one barks?\nA. cat\nB. dog\nAnswer:"
    }
    assert [case.perturbed for case in cases] == [
        "1. A cat purrs.\n2. A frog croaks.\n3. A dog barks.\n\nWhich one barks?",
        "1. A frog croaks.\n2. A dog barks.\n3. A cat purrs.\n\nWhich one barks?",
    ]


@given(st.integers(2, 40))
def test_over_all_cyclic_orders_each_item_stands_once_at_each_place(count: int) -> None:
    orders = [tuple(range(count)), *settings().list_orders(count, random.Random(0))]
    assert all(sorted(order) == list(range(count)) for order in orders)
    assert all(len(set(column)) == count for column in zip(*orders, strict=True))


@given(st.integers(2, 12), st.integers(1, 30), st.integers(0, 1000))
def test_sampled_orders_are_as_many_as_there_are_and_none_is_the_given_one_or_drawn_twice(
    count: int, most: int, seed: int
) -> None:
    orders = settings(orders="sample", count=most).list_orders(count, random.Random(seed))
    assert len(orders) == min(most, math.factorial(count) - 1) == len(set(orders))
    assert tuple(range(count)) not in orders
    assert all(sorted(order) == list(range(count)) for order in orders)


@given(st.integers(2, 12), st.integers(1, 20), st.integers(0, 100))
def test_more_orders_begin_with_those_of_fewer(count: int, most: int, seed: int) -> None:
    fewer, more = (
        settings(orders="sample", count=number).list_orders(count, random.Random(seed)) for number in (most, most + 3)
    )
    assert more[: len(fewer)] == fewer


def test_three_orders_are_drawn_where_nobody_says_how_many() -> None:
    assert len(make(replace(PETS, items=tuple(f"item {n}" for n in range(9))), orders="sample")) == 3


def test_another_seed_draws_other_orders_and_the_same_one_the_same() -> None:
    many = replace(PETS, items=tuple(f"item {n}" for n in range(9)))
    first, again, other = (make(many, orders="sample", seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("layout", "heading", "listed"),
    [
        ("numbered", None, "1. one two\n2. three"),
        ("bullets", None, "- one two\n- three"),
        ("paragraphs", None, "one\ntwo\n\nthree"),
        ("paragraphs", "Passage", "Passage 1:\none\ntwo\n\nPassage 2:\nthree"),
    ],
)
def test_items_are_written_as_the_layout_says(layout: str, heading: str | None, listed: str) -> None:
    assert settings(layout=layout, heading=heading).join_items(("one\n\ntwo", "three")) == listed


@given(st.permutations(["alpha", "beta", "gamma", "delta"]), st.sampled_from(["numbered", "bullets", "paragraphs"]))
def test_a_mark_belongs_to_the_place_and_not_to_the_item(items: list[str], layout: str) -> None:
    chosen = settings(layout=layout, heading="Passage" if layout == "paragraphs" else None)
    marks = chosen.join_items(["x"] * 4)
    listed = chosen.join_items(items)
    for item in items:
        listed = listed.replace(item, "x")
    assert listed == marks


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"items": ("one",)}, "no_list"),
        ({"items": ("one", " ")}, "empty"),
        ({"text": " "}, "empty"),
        ({"items": ("one", " one ")}, "equal_items"),
        ({"items": ("caf\u00e9", "cafe\u0301")}, "equal_items"),
        ({"options": ("red", "red ")}, "equal_options"),
    ],
)
def test_what_has_no_other_order_is_skipped_with_its_reason(changes: dict[str, Any], reason: str) -> None:
    (case,) = make(replace(PETS, **changes))
    assert (case.skip_reason, case.perturbed_prompt, case.confidence) == (reason, None, None)


def test_options_are_needed_where_they_are_to_be_compared() -> None:
    (case,) = make(replace(PETS, options=()), scorer="choice")
    assert case.skip_reason == "no_options"


def test_a_guesser_keeps_its_choice_as_often_as_one_of_the_options() -> None:
    assert make()[0].chance == 1 / 2
    assert make(replace(PETS, options=("cat", "dog", "frog", "hen")))[0].chance == 1 / 4


@pytest.mark.parametrize(
    ("likelihoods", "options", "asks", "scorer", "loss_of"),
    [
        ("none", True, "generate", "choice", None),
        ("choices", True, "choose", "choice", None),
        ("all", False, "generate", "loss", "expected_result"),
        ("none", False, "generate", "embedding", None),
    ],
)
def test_the_answer_is_compared_as_the_model_and_the_sample_allow(
    likelihoods: Likelihoods, options: bool, asks: str, scorer: str, loss_of: str | None
) -> None:
    case = make(PETS if options else replace(PETS, options=()), likelihoods=likelihoods)[0]
    assert (case.asks, case.scorer, case.loss_of) == (asks, scorer, loss_of)
    assert (case.chance is not None) == options


def control_of(sample: ItemSample = PETS, **values: Any) -> Case | None:
    case = make(sample, **values)[0]
    return PROBE.control(case, sample, settings(**values), rng=random.Random(0))


def test_a_control_has_the_given_order_behind_other_words() -> None:
    twin = control_of()
    introduction, rest = twin.perturbed_prompt.split("\n\n", 1)
    assert introduction in OTHER_WORDS
    assert twin.original_prompt == f"{INTRODUCTION}\n\n{rest}"
    assert twin.details["order"] == "1 2 3"


def test_a_prompt_of_ones_own_is_asked_in_every_order() -> None:
    case = make(prompt=OWN)[0]
    assert case.original_prompt == (
        "1. A dog barks.\n2. A cat purrs.\n3. A frog croaks.\nQ: Which one barks?\nA. cat\nB. dog\nReply:"
    )
    assert case.perturbed_prompt == (
        "1. A cat purrs.\n2. A frog croaks.\n3. A dog barks.\nQ: Which one barks?\nA. cat\nB. dog\nReply:"
    )


def test_the_control_of_a_prompt_of_ones_own_is_in_its_other_words_or_there_is_none() -> None:
    assert control_of(prompt=OWN) is None
    assert control_of(prompt=OWN, reworded=OWN) is None
    twin = control_of(prompt=OWN, reworded=OWN.replace("Reply", "Answer"))
    assert twin.perturbed_prompt == twin.original_prompt.replace("Reply", "Answer") == twin.perturbed


def test_a_prompt_without_options_asks_openly() -> None:
    openly = {"prompt": "{{ items }}\n{{ text }}"}
    case = make(likelihoods="none", **openly)[0]
    assert (case.options, case.labels, case.scorer) == ((), (), "embedding")
    assert "dog\nB" not in case.original_prompt
    assert settings(**openly).embeds("none") == "all"
    assert settings(prompt=OWN).embeds("none") == "without_options"
    twin = control_of(**openly, reworded="{{ items }}\nSay: {{ text }}")
    assert twin.options == ()


@pytest.mark.parametrize(
    ("before", "after", "passed", "right"),
    [
        *(("B", "B", True, True), ("A", "A", True, False), ("B", "A", False, False), ("dog", "B. dog", True, True)),
        ("B", "I cannot say", None, None),
    ],
)
def test_a_trial_passes_when_the_answer_stays(before: str, after: str, passed: bool | None, right: bool | None) -> None:
    score = says(before, after)
    assert (score.passed, score.columns["right_after"]) == (passed, right)


def test_the_columns_tell_where_everything_stood() -> None:
    columns = says("B", "A", case=1).columns
    assert (columns["item_count"], columns["order"]) == (3, "3 1 2")
    assert (columns["relevant_place"], columns["moved_relevant_place"]) == (1, 2)
    assert (columns["answer_place"], columns["moved_answer_place"]) == (1, 3)


def test_an_answer_comes_from_an_item_only_where_one_alone_holds_it() -> None:
    twice = replace(PETS, items=("A dog barks.", "No dog purrs.", "A cat purrs, and catches."))
    columns = says("B", "A", sample=twice).columns
    assert (columns["answer_place"], columns["moved_answer_place"]) == (None, 2)


def test_an_open_answer_is_right_where_it_holds_the_right_one() -> None:
    trial = Trial(
        case=make(replace(PETS, options=()), likelihoods="all")[0],
        expected=Completion(text="It is the dog.", loss=1.0),
        actual=Completion(text="A dogfish.", loss=1.1),
    )
    (score,) = PROBE.score([trial], settings(), embed=embed_nothing)
    assert (score.passed, score.columns["right_before"], score.columns["right_after"]) == (True, True, False)
    assert score.columns["answer_place"] is None


def test_without_an_answer_nothing_is_right_or_wrong() -> None:
    columns = says("B", "B", sample=replace(PETS, answers=(), relevant=None)).columns
    assert (columns["right_after"], columns["relevant_place"]) == (None, None)


LABELLED = {"prompt": OWN.replace("Reply:", "Reply as JSON."), "labels": ("x1", "x2"), "answer_field": "choice"}


@pytest.mark.parametrize(("second", "passed"), [("x2", True), ("x1", False)])
def test_an_answer_is_read_by_its_label(second: str, passed: bool) -> None:
    case = make(**LABELLED)[0]
    assert "x1. cat\nx2. dog" in case.original_prompt
    replies = (Completion(text=f'{{"choice": "{label}"}}') for label in ("x2", second))
    trial = Trial(case=case, expected=next(replies), actual=next(replies))
    [score] = PROBE.score([trial], settings(**LABELLED), embed=embed_nothing)
    assert (score.passed, score.undecided) == (passed, False)
    assert PROBE.follow_ups([trial], settings(**LABELLED), embed=embed_nothing) == []


def test_a_label_is_needed_for_every_option() -> None:
    with pytest.raises(ConfigError, match=r"3 options, and 2 labels"):
        make(replace(PETS, options=("cat", "dog", "frog")), **LABELLED)


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
