"""Gates of changed answers and what validation expects of a row: right before and given up, steady, contrast."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.answers.answer_probe import (
    make_contrast_criterion,
    make_noticed_criterion,
    make_steady_criterion,
)
from contrapose.tasks.probes.answers.settings import AnswerSettings, compute_chance
from contrapose.tasks.probes.base import UNRELATED_NOT, Criterion
from contrapose.tasks.probes.edits.base import TextEdit


def case(**values: Any) -> dict[str, Any]:
    row = {"control": False, "control_kind": None, "answer_known": True, "option_count": 4, "chance": 0.25}
    return {**row, "right_before": None, "noticed": None, "answer_changed": None, **values}


def cases(right: int, kept: int, wrong: int, *, unread: int = 0, **values: Any) -> pd.DataFrame:
    """So many answers that were right before and given up, right and kept, wrong, and not read."""
    rows = [case(right_before=True, noticed=True, **values)] * right
    rows += [case(right_before=True, noticed=False, **values)] * kept
    rows += [case(right_before=False, **values)] * wrong + [case(**values)] * unread
    return pd.DataFrame(rows)


def met(criterion: Criterion | None) -> list[float]:
    return [float(value) for value in criterion.met[criterion.applies]]


def test_only_what_was_right_before_counts_and_what_was_not_read_stays_open() -> None:
    criterion = make_noticed_criterion(cases(2, 1, 5, unread=1), None)
    assert met(criterion) == pytest.approx([1, 1, 0, float("nan")], nan_ok=True)


@pytest.mark.parametrize(("options", "chance", "wanted"), [(2, 0.5, 0.75), (4, 0.75, 0.875), (5, 0.8, 0.9)])
def test_the_default_gate_lies_halfway_between_guessing_and_all(options: int, chance: float, wanted: float) -> None:
    criterion = make_noticed_criterion(cases(20, 0, 0, option_count=options), None)
    assert (criterion.chance, criterion.wanted) == pytest.approx((chance, wanted))


def test_without_options_nothing_is_guessed() -> None:
    criterion = make_noticed_criterion(cases(20, 0, 0, option_count=None), None)
    assert (criterion.chance, criterion.wanted) == (None, 0.7)


@pytest.mark.parametrize(("right", "few"), [(19, True), (20, False)])
def test_a_few_right_answers_are_told_and_claim_nothing(right: int, few: bool) -> None:
    criterion = make_noticed_criterion(cases(right, 0, 30), None)
    assert bool(criterion.too_few) is few
    assert not few or criterion.too_few.startswith("The model answered 19 of 49 samples correctly before the change")


@pytest.mark.parametrize(("known", "there"), [(49, False), (50, True)])
def test_the_documents_gate_stays_where_most_answers_are_unknown(known: int, there: bool) -> None:
    rows = pd.concat([cases(known, 0, 0), cases(0, 0, 0, unread=100 - known, answer_known=False)])
    assert (make_noticed_criterion(rows, None) is not None) is there


def test_a_gate_of_zero_asks_for_nothing() -> None:
    assert make_noticed_criterion(cases(30, 0, 0), 0.0) is None


def test_of_the_controls_only_those_with_a_not_must_stay() -> None:
    beside = {"control": True, "control_kind": UNRELATED_NOT}
    rows = [case(answer_changed=True), case(control=True, control_kind="polite", answer_changed=True)]
    rows += [case(answer_changed=changed, **beside) for changed in (True, False, None)]
    criterion = make_steady_criterion(pd.DataFrame(rows), 0.6)
    assert met(criterion) == pytest.approx([0, 1, float("nan")], nan_ok=True)
    assert (criterion.wanted, criterion.chance) == (0.6, 0.25)
    assert make_steady_criterion(pd.DataFrame(rows[:2]), 0.6) is None


def test_a_choice_that_is_steady_and_wrong_does_not_count_as_right() -> None:
    outcomes = [("text", True), ("text", False), ("letter", True), ("unparsed", True), ("unparsed", False)]
    rows = [case(outcome=outcome, correct=correct) for outcome, correct in outcomes]
    rows += [case(outcome="text", correct=None, answer_known=False), case(outcome=None, correct=True, control=True)]
    option_order = probe("option_order")
    settings = option_order.settings_type()
    (criterion,) = option_order.criteria(pd.DataFrame(rows), settings)
    assert met(criterion) == pytest.approx([1, 0, 0, float("nan"), 0], nan_ok=True)
    assert (criterion.chance, criterion.wanted) == pytest.approx((0.25, 0.325))
    assert option_order.criteria(pd.DataFrame(rows[-2:]), settings) == []


def contrasted(*pairs: tuple[object, object, object], chance: float | None = 0.75) -> pd.DataFrame:
    """A case and its control of each sample: whether each changed, and whether the answer before was right."""
    made = []
    for number, (changed, control, right) in enumerate(pairs):
        both = {"sample_id": f"s{number}", "repeat": 0, "option_count": 4, "right_before": right}
        made += [
            {**both, "control": False, "answer_changed": changed, "chance": chance},
            {**both, "control": True, "answer_changed": control, "chance": chance and 1 - chance},
        ]
    return pd.DataFrame(made)


def only(results: pd.DataFrame) -> Criterion:
    found = make_contrast_criterion(results, 0.5)
    assert found is not None
    return found


def met_contrast(results: pd.DataFrame) -> list[float]:
    return met(only(results))


def test_a_case_meets_it_that_changed_stayed_and_was_right() -> None:
    told = [(True, False, True), (True, False, None), (False, False, True), (True, True, True), (True, False, False)]
    assert met_contrast(contrasted(*told)) == [1, 1, 0, 0, 0]


def test_one_failure_decides_and_otherwise_what_cannot_be_told_is_open() -> None:
    found = met_contrast(contrasted((None, True, True), (None, False, True), (True, None, True), (False, None, None)))
    assert found == pytest.approx([0, float("nan"), float("nan"), 0], nan_ok=True)


def test_cases_without_a_control_do_not_count_and_without_any_there_is_no_rate() -> None:
    several = contrasted((True, False, True), (True, False, True)).iloc[:3]
    assert met_contrast(several) == [1]
    assert make_contrast_criterion(several[~several["control"]], 0.5) is None


def test_that_the_answer_before_was_wrong_is_no_evidence_against_a_model_that_notices() -> None:
    found = only(contrasted((True, False, False), (False, False, False), (True, True, False)))
    assert list(found.met[found.applies]) == [0, 0, 0]
    assert list(found.at_best[found.applies]) == [1, 0, 0]


def test_the_chance_of_a_coin_flipper_is_as_published() -> None:
    assert only(contrasted((True, False, None))).chance == pytest.approx(0.1875)
    assert only(contrasted((True, False, True))).chance == pytest.approx(0.046875)
    assert only(contrasted((True, False, None), chance=None)).chance == 0.25


def test_a_coin_flipper_has_the_contrast_rate_that_is_told_as_chance() -> None:
    rng = random.Random(7)
    told = []
    for _ in range(4_000):
        before, after, control, answer = (rng.randrange(4) for _ in range(4))
        told.append((after != before, control != before, before == answer))
    found = only(contrasted(*told))
    assert np.mean(found.met[found.applies]) == pytest.approx(found.chance, abs=0.012)


@pytest.mark.parametrize("options", [2, 3, 4, 5])
def test_letters_are_guessed_as_often_as_there_are_others(options: int) -> None:
    found = compute_chance(options, upper=0.2, by_likelihood=False)
    assert found == pytest.approx(1 - 1 / options)


def test_a_threshold_of_divergence_makes_changes_likelier() -> None:
    by_letter = compute_chance(4, upper=None, by_likelihood=True)
    narrow, wide = (compute_chance(4, upper=upper, by_likelihood=True) for upper in (0.05, 0.5))
    assert 1 > narrow > wide >= by_letter == 0.75


def test_nothing_can_be_guessed_without_options() -> None:
    assert compute_chance(0, upper=0.2, by_likelihood=True) is None


UNKNOWN = None
ROWS = [
    ({"scorer": "embedding", "eval_score": 0.2}, False),
    ({"scorer": "embedding", "eval_score": 0.21}, True),
    ({"scorer": "loss", "eval_score": -0.2}, False),
    ({"scorer": "loss", "eval_score": -0.21}, True),
    ({"scorer": "choice", "eval_score": 0.1, "chosen_before": "wet", "chosen_after": "dry"}, True),
    ({"scorer": "choice", "eval_score": 0.3, "chosen_before": "wet", "chosen_after": "wet"}, True),
    ({"scorer": "choice", "eval_score": 0.2, "chosen_before": "wet", "chosen_after": "wet"}, False),
    ({"scorer": "another", "eval_score": 0.9}, UNKNOWN),
]


def table(*rows: dict[str, Any]) -> pa.Table:
    """Result rows; what one leaves out is empty."""
    texts, numbers = ("scorer", "chosen_before", "chosen_after"), ("eval_score", "threshold_low", "threshold_high")
    kinds = dict.fromkeys(texts, pa.string()) | dict.fromkeys(numbers, pa.float64()) | {"control": pa.bool_()}
    return pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()})


def expected_of(rows: pa.Table, **settings: Any) -> list[bool | None]:
    """What should pass; None where the band is not known."""
    changing, keeping = TextEdit(), type("Keeping", (TextEdit,), {"stays": True})()
    edit = keeping if settings.pop("stays", False) else changing
    found = edit.expected_pass(rows, AnswerSettings.model_validate(settings))
    return [None if np.isnan(each) else bool(each) for each in found]


def test_an_answer_changed_outside_the_band_or_with_the_choice() -> None:
    assert expected_of(table(*(row for row, _ in ROWS))) == [passed for _, passed in ROWS]


def test_a_control_passes_where_a_case_fails() -> None:
    controls = [{**row, "control": True} for row, _ in ROWS]
    assert expected_of(table(*controls)) == [None if passed is None else not passed for _, passed in ROWS]


def test_where_answers_should_stay_a_case_passes_as_a_control_does() -> None:
    cases = expected_of(table(*(row for row, _ in ROWS)), stays=True)
    assert cases == [None if passed is None else not passed for _, passed in ROWS]


def test_each_scorer_has_its_own_band_and_may_have_none() -> None:
    rows = table(*({"scorer": scorer, "eval_score": 0.5} for scorer in ("embedding", "loss", "langtest_loss")))
    bands = {"embedding": [-1, 1], "loss": [-0.1, 0.1], "langtest_loss": None}
    assert expected_of(rows, threshold=bands) == [False, True, None]


def test_a_band_from_the_controls_is_taken_from_the_row() -> None:
    known = {"scorer": "loss", "eval_score": 0.5, "threshold_low": -0.6, "threshold_high": 0.4}
    rows = table(known, {**known, "threshold_high": 0.6}, {**known, "threshold_low": None})
    assert expected_of(rows, threshold="auto") == [True, False, None]


@pytest.mark.parametrize(
    ("name", "score", "passed"),
    [
        *((name, 1.0, True) for name in ("order_bias", "option_order")),
        *((name, 0.5, False) for name in ("order_bias", "option_order")),
        *(("add_toxic_words", score, score <= 0) for score in (-1.0, 0.0, 1.0)),
    ],
)
def test_other_tests_pass_by_their_score_alone(name: str, score: float, passed: bool) -> None:
    chosen = probe(name)
    found = chosen.expected_pass(table({"eval_score": score}), chosen.settings_type())
    assert found.tolist() == [float(passed)]


@pytest.mark.parametrize(("name", "stays"), [("typo", True), ("antonym", False), ("add_negation", False)])
def test_a_test_of_two_answers_knows_whether_they_should_stay(name: str, stays: bool) -> None:
    chosen = probe(name)
    found = chosen.expected_pass(table({"scorer": "loss", "eval_score": 0.0}), chosen.settings_type())
    assert found.tolist() == [float(stays)]
