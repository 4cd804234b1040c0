"""item_order: its orders, its prompts, and what replies are scored as."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from embedders import embed_nothing
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Completion, ItemSample, Likelihoods, Score, Trial
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.probes.item_order import INTRODUCTION, OTHER_WORDS, ItemOrder, ItemOrderSettings

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
