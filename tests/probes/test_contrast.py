"""The contrast rate: who changes every answer, and who guesses, does not reach it."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest

from contrapose.tasks.probes.answers.answer_probe import contrast_criterion
from contrapose.tasks.probes.answers.settings import guess
from contrapose.tasks.probes.base import Criterion

NEVER = float("nan")


def rows(*pairs: tuple[object, object, object], chance: float | None = 0.75) -> pd.DataFrame:
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
    found = contrast_criterion(results, 0.5)
    assert found is not None
    return found


def met(results: pd.DataFrame) -> list[float]:
    found = only(results)
    return [float(value) for value in found.met[found.applies]]


def test_a_case_meets_it_that_changed_stayed_and_was_right() -> None:
    told = [(True, False, True), (True, False, None), (False, False, True), (True, True, True), (True, False, False)]
    assert met(rows(*told)) == [1, 1, 0, 0, 0]


def test_one_failure_decides_and_otherwise_what_cannot_be_told_is_open() -> None:
    found = met(rows((None, True, True), (None, False, True), (True, None, True), (False, None, None)))
    assert found == pytest.approx([0, NEVER, NEVER, 0], nan_ok=True)


def test_cases_without_a_control_do_not_count_and_without_any_there_is_no_rate() -> None:
    several = rows((True, False, True), (True, False, True)).iloc[:3]
    assert met(several) == [1]
    assert contrast_criterion(several[~several["control"]], 0.5) is None


def test_that_the_answer_before_was_wrong_is_no_evidence_against_a_model_that_notices() -> None:
    found = only(rows((True, False, False), (False, False, False), (True, True, False)))
    assert list(found.met[found.applies]) == [0, 0, 0]
    assert list(found.at_best[found.applies]) == [1, 0, 0]


def test_the_chance_of_a_coin_flipper_is_as_published() -> None:
    assert only(rows((True, False, None))).chance == pytest.approx(0.1875)
    assert only(rows((True, False, True))).chance == pytest.approx(0.046875)
    assert only(rows((True, False, None), chance=None)).chance == 0.25


def test_a_coin_flipper_has_the_contrast_rate_that_is_told_as_chance() -> None:
    rng = random.Random(7)
    told = []
    for _ in range(4_000):
        before, after, control, answer = (rng.randrange(4) for _ in range(4))
        told.append((after != before, control != before, before == answer))
    found = only(rows(*told))
    assert np.mean(found.met[found.applies]) == pytest.approx(found.chance, abs=0.012)


@pytest.mark.parametrize("options", [2, 3, 4, 5])
def test_letters_are_guessed_as_often_as_there_are_others(options: int) -> None:
    found = guess(options, upper=0.2, by_likelihood=False)
    assert found == pytest.approx(1 - 1 / options)


def test_a_threshold_of_divergence_makes_changes_likelier() -> None:
    by_letter = guess(4, upper=None, by_likelihood=True)
    narrow, wide = (guess(4, upper=upper, by_likelihood=True) for upper in (0.05, 0.5))
    assert 1 > narrow > wide >= by_letter == 0.75


def test_nothing_can_be_guessed_without_options() -> None:
    assert guess(0, upper=0.2, by_likelihood=True) is None
