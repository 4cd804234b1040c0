"""option_order: its cases, what a choice follows, and its figures."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from embedders import embed_nothing
from figured import figured
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.core.records import Case, Completion, Likelihoods, Score, TextSample, Trial
from contrapose.tasks.evaluate.summarise import estimate_measures
from contrapose.tasks.probes.option_order import OptionOrder, OptionOrderSettings, rotate_options
from contrapose.tasks.tables.results import make_result_table

PROBE = OptionOrder()
WATER = TextSample(id="w", text="Water is", options=("dry", "liquid", "solid"), answers=("liquid",))


def make(sample: TextSample = WATER, *, likelihoods: Likelihoods = "none") -> Sequence[Case]:
    return PROBE.cases(sample, OptionOrderSettings(), rng=random.Random(0), likelihoods=likelihoods)


def score(case: Case, before: Completion, after: Completion) -> Score:
    trial = Trial(case=case, expected=before, actual=after)
    return PROBE.score([trial], OptionOrderSettings(), embed=embed_nothing)[0]


def says(before: str, after: str, *, sample: TextSample = WATER) -> Score:
    return score(make(sample)[0], Completion(text=before), Completion(text=after))


def weighs(before: Sequence[float], after: Sequence[float]) -> Score:
    first, second = (Completion(text="?", option_loglikelihoods=tuple(each)) for each in (before, after))
    return score(make(likelihoods="all")[0], first, second)


def test_every_rotation_is_a_case_of_the_same_original() -> None:
    cases = make()
    assert [case.id for case in cases] == ["option_order/w/1", "option_order/w/2"]
    assert {case.original_prompt for case in cases} == {"Water is\nA. dry\nB. liquid\nC. solid\nAnswer:"}
    assert [case.perturbed_prompt for case in cases] == [
        "Water is\nA. liquid\nB. solid\nC. dry\nAnswer:",
        "Water is\nA. solid\nB. dry\nC. liquid\nAnswer:",
    ]


@given(st.lists(st.text(st.characters(categories=["L"]), min_size=1), min_size=2, max_size=26, unique=True))
def test_over_all_orders_each_option_stands_once_behind_each_letter(options: list[str]) -> None:
    orders = [rotate_options(options, by) for by in range(len(options))]
    assert all(sorted(order) == sorted(options) for order in orders)
    assert all(len(set(column)) == len(options) for column in zip(*orders, strict=True))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ((), "no_options"), (("one",), "no_options"), (("red", " red "), "equal_options"),
        (("caf\u00e9", "cafe\u0301"), "equal_options"), (("red", " "), "empty"),
    ],
)  # fmt: skip
def test_what_cannot_change_places_is_skipped_with_its_reason(options: tuple[str, ...], reason: str) -> None:
    (case,) = make(TextSample(id="x", text="Which?", options=options))
    assert (case.skip_reason, case.perturbed_prompt, case.confidence) == (reason, None, None)


def test_options_that_differ_in_case_are_two_options() -> None:
    assert len(make(TextSample(id="x", text="Which genotype?", options=("Aa", "aa", "AA")))) == 2


@pytest.mark.parametrize(
    ("before", "after", "outcome", "passed"),
    [
        ("B", "A", "text", True), ("B. liquid", "liquid", "text", True), ("A", "A", "letter", False),
        ("B", "C", "other", False), ("B", "I cannot say", "unparsed", False), ("dunno", "dunno", "unparsed", False),
    ],
)  # fmt: skip
def test_a_trial_passes_when_the_choice_follows_the_option(before: str, after: str, outcome: str, passed: bool) -> None:
    found = says(before, after)
    assert (found.columns["outcome"], found.passed, found.value) == (outcome, passed, float(passed))


def test_the_columns_tell_letter_and_option_of_both_replies() -> None:
    columns = says("B", "C").columns
    assert (columns["letter"], columns["choice"], columns["correct"]) == ("B", "liquid", True)
    assert (columns["rotated_letter"], columns["rotated_choice"], columns["rotated_correct"]) == ("C", "dry", False)
    assert (columns["rotation"], columns["option_count"]) == (1, 3)


def test_the_step_that_read_each_choice_is_recorded() -> None:
    read = says("B", "The answer is liquid.").columns
    assert (read["choice_step"], read["rotated_choice_step"]) == ("letter", "restated")
    assert says("liquid", "dunno").columns["rotated_choice_step"] == "unparsed"
    assert weighs((-3, -1, -2), (-1, -2, -3)).columns["choice_step"] == "likelihood"


def test_without_an_answer_nothing_is_right_or_wrong() -> None:
    columns = says("B", "C", sample=TextSample(id="w", text="Water is", options=WATER.options)).columns
    assert (columns["correct"], columns["rotated_correct"]) == (None, None)


def test_a_choice_by_likelihood_is_shown_with_its_option() -> None:
    found = weighs((-3, -1, -2), (-1, -2, -3))
    assert (found.passed, found.expected_result, found.actual_result) == (True, "B. liquid", "A. liquid")


def test_equally_likely_letters_are_no_choice() -> None:
    found = weighs((-1, -1, -2), (-1, -2, -3))
    assert (found.columns["outcome"], found.passed) == ("tied", False)
    assert found.reason == "The likeliest letters after the original prompt are equally likely, which is no choice."


def row_of(trial: Trial, found: Score) -> dict[str, Any]:
    return make_result_table([trial], [found], probe=PROBE, model="m").to_pylist()[0]


def figures_of(*replies: tuple[str, ...]) -> dict[str, float | int | None]:
    """Figures of samples that are WATER, where each was answered so in the given order, then in both rotations."""
    rows = []
    for number, (given_order, *others) in enumerate(replies):
        for case, reply in zip(make(), others, strict=True):
            trial = Trial(case=case, expected=Completion(text=given_order), actual=Completion(text=reply))
            found = PROBE.score([trial], OptionOrderSettings(), embed=embed_nothing)[0]
            rows.append({**row_of(trial, found), "sample_id": str(number)})
    return figured(PROBE, rows)


@pytest.mark.parametrize(
    ("replies", "figures"),
    [
        (["BAC", "BAC"], {"samples": 2, "samples_following_the_option": 2, "accuracy": 1, "right_in_all_orders": 1}),
        (["BAC", "BAC"], {f"{letter}_against_uniform": 1 for letter in "ABC"}),
        (["AAA"], {"share_following_the_letter": 1, "accuracy": 1 / 3, "A_against_uniform": 3, "B_against_uniform": 0}),
        (["B??"], {"accuracy": 1 / 3, "accuracy_given_order": 1, "outcome_unparsed": 2, "B_against_uniform": 3}),
        *(([replies], {"right_in_all_orders": 0}) for replies in ("BAA", "AAC", "ABA")),
    ],
    ids=str,
)
def test_figures_tell_what_a_model_follows(replies: list[str], figures: dict[str, float]) -> None:
    found = figures_of(*(tuple(each) for each in replies))
    assert {name: found[name] for name in figures} == pytest.approx(figures)
    assert ("share_following_the_letter" in found) is (replies != ["B??"])


@pytest.mark.parametrize(
    ("answers", "chance", "gate", "constant"),
    [
        (["yes", "yes", "yes"], 1, 1, "yes"),
        (["yes", "yes", "yes", "no"], 0.75, 0.775, "yes"),
        (["yes", "no"], 0.5, 0.55, ""),
    ],
)
def test_whoever_always_says_the_same_reaches_the_share_of_the_most_frequent_right_answer(
    answers: list[str], chance: float, gate: float, constant: str
) -> None:
    rows = []
    for number, answer in enumerate(answers):
        # The letter of the right option differs from sample to sample, its text does not.
        options = ("yes", "no") if number % 2 else ("no", "yes")
        (case,) = make(TextSample(id=str(number), text="Is it?", options=options, answers=(answer,)))
        trial = Trial(case=case, expected=Completion(text=answer), actual=Completion(text=answer))
        rows.append(row_of(trial, score(case, trial.expected, trial.actual)))
    (criterion,) = PROBE.criteria(pd.DataFrame(rows), OptionOrderSettings())
    assert (criterion.chance, criterion.wanted) == (pytest.approx(chance), pytest.approx(gate))
    assert criterion.constant == constant


def rows_of(*samples: tuple[int, bool]) -> list[dict[str, Any]]:
    """Rows of samples with so many options, of which every reply is right or none is."""
    same = {"outcome": "text", "letter": "A", "rotated_letter": "B", "pass": True}
    return [
        {"sample_id": f"s{number}", "option_count": count, "correct": right, "rotated_correct": right, **same}
        for number, (count, right) in enumerate(samples)
        for _ in range(count - 1)
    ]


def test_a_model_that_is_always_right_is_so_however_many_options_samples_have() -> None:
    rows = rows_of(*((count, True) for count in [3, 3, 2] * 4))
    frame = pd.DataFrame([{"control": False, "cluster": None, "eval_score": None, **row} for row in rows])
    accuracy = estimate_measures(PROBE.measures(frame), frame)["accuracy"]
    assert accuracy["value"] == 1
    assert accuracy["interval"][0] < accuracy["interval"][1] == 1


def test_a_sample_counts_once_in_accuracy_however_many_options_it_has() -> None:
    figures = figured(PROBE, rows_of((4, True), (2, False)))
    assert (figures["accuracy"], figures["accuracy_given_order"]) == (0.5, 0.5)


def test_ties_are_counted_apart_from_replies_that_could_not_be_read() -> None:
    case = make(likelihoods="all")[0]
    tied, clear = (
        Completion(text="A", option_loglikelihoods=each) for each in ((-1.0, -1.0, -2.0), (-1.0, -2.0, -3.0))
    )
    trial = Trial(case=case, expected=clear, actual=tied)
    figures = figured(PROBE, [row_of(trial, PROBE.score([trial], OptionOrderSettings(), embed=embed_nothing)[0])])
    assert (figures["outcome_tied"], figures["outcome_unparsed"], figures["choice_changed"]) == (1, 0, 1)


def test_a_sample_with_a_lost_rotation_does_not_follow_in_every_order() -> None:
    case = make()[0]
    trial = Trial(case=case, expected=Completion(text="B"), actual=Completion(text="A"))
    found = PROBE.score([trial], OptionOrderSettings(), embed=embed_nothing)[0]
    figures = PROBE.summarise(pd.DataFrame([row_of(trial, found)]))
    assert (figures["samples"], figures["samples_following_the_option"]) == (1, 0)


def test_figures_of_nothing_are_no_samples() -> None:
    assert PROBE.summarise(pd.DataFrame()) == {"samples": 0}


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("?", "A", "No one option is chosen in the reply to the original prompt."),
        ("A", "?", "No one option is chosen in the reply to the changed prompt."),
        ("?", "?", "No one option is chosen in the reply to the original and the changed prompt."),
        ("B", "A", "The same option was chosen, as B and then as A."),
        ("B", "B", "The letter B was chosen again, though it was another option."),
        ("B", "C", "The choice went from B to C, another option."),
    ],
)
def test_the_reason_names_the_letters_or_the_prompts_without_one(before: str, after: str, reason: str) -> None:
    assert says(before, after).reason == reason


def test_ability_and_bias_are_told_apart_among_pairs_with_two_choices() -> None:
    found = figures_of(("B", "A", "C"), ("A", "C", "B"), ("B", "B", "B"), ("B", "?", "?"))
    shares = [found[name] for name in ("consistent_and_right", "consistent_and_wrong", "share_following_the_letter")]
    assert shares == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert found["choice_changed"] == pytest.approx(4 / 8)
    assert (found["outcome_text"], found["outcome_letter"], found["outcome_other"]) == (4, 2, 0)
