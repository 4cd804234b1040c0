"""Figures of order_bias: what PriDe takes out, how ties and unread replies count, and which pairs calibrate."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from figured import figured

from contrapose.tasks.core.records import Case, Completion, Likelihoods, SummaryPair, Trial
from contrapose.tasks.evaluate.summarise import effects, estimates
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings
from contrapose.tasks.probes.orders.two_orders import calibrates
from contrapose.tasks.tables.results import result_table

PROBE = OrderBias()


def pair(number: int) -> SummaryPair:
    return SummaryPair(
        id=f"pair {number}", article_sentence="It rained.", correct_sentence="Rain fell.", incorrect_sentence="Sun."
    )


def case_of(number: int, likelihoods: Likelihoods = "choices") -> Case:
    return PROBE.cases(pair(number), OrderBiasSettings(), rng=random.Random(0), likelihoods=likelihoods)[0]


def weighed(lead: float) -> Completion:
    return Completion(text="?", option_loglikelihoods=(lead, 0.0))


def rows_of(trials: list[Trial], **settings: Any) -> list[dict[str, Any]]:
    scores = PROBE.score(trials, OrderBiasSettings(**settings), embed=lambda texts: np.zeros((len(texts), 2)))
    return result_table(trials, scores, probe=PROBE, model="m").to_pylist()


def leaning(contents: list[float], *, position: float, **settings: Any) -> dict[str, Any]:
    """Figures of pairs with these content scores and one pull of the letter A."""
    trials = [
        Trial(case=case_of(number), expected=weighed(position + each), actual=weighed(position - each))
        for number, each in enumerate(contents)
    ]
    return figured(PROBE, rows_of(trials, **settings))


def said(first: str, second: str) -> dict[str, Any]:
    trial = Trial(case=case_of(0, "none"), expected=Completion(text=first), actual=Completion(text=second))
    return figured(PROBE, rows_of([trial]))


def test_pride_finds_the_letters_pull_and_takes_it_out() -> None:
    figures = leaning([0.5] * 100, position=2.0)
    assert figures["pride_prior_a"] == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert (figures["accuracy"], figures["pride_accuracy"], figures["pride_gain"]) == (0.5, 1.0, 0.5)


def test_the_pairs_that_calibrate_are_not_judged() -> None:
    settings = OrderBiasSettings()
    contents = [-0.5 if calibrates(f"pair {number}", settings.calibration) else 0.5 for number in range(100)]
    assert leaning(contents, position=2.0)["pride_accuracy"] == 1


def test_a_pair_calibrates_by_its_id_alone() -> None:
    chosen = [number for number in range(5_000) if calibrates(f"pair {number}", 0.2)]
    assert len(chosen) == pytest.approx(1_000, abs=90)
    assert set(chosen) <= {number for number in range(5_000) if calibrates(f"pair {number}", 0.3)}


def test_without_likelihoods_there_is_no_prior() -> None:
    assert not {"pride_prior_a", "pride_accuracy", "pride_gain", "content_score"} & set(said("A", "B"))


def test_without_a_calibrating_pair_nothing_is_taken_out() -> None:
    figures = leaning([0.5, 1.0], position=1.0, calibration=1e-6)
    assert not {"pride_prior_a", "pride_accuracy", "pride_gain"} & set(figures)


def test_a_tied_content_score_counts_half() -> None:
    figures = leaning([1.0, 0.0], position=0.5)
    assert (figures["debiased_accuracy"], figures["debiased_tied"]) == (0.75, 0.5)


def test_a_model_that_always_says_a_has_intervals_for_its_accuracy_and_bias() -> None:
    trial = Trial(case=case_of(0, "none"), expected=Completion(text="A"), actual=Completion(text="A"))
    results = pd.DataFrame([{**row, "sample_id": str(n)} for n, row in enumerate(rows_of([trial] * 40))])
    found = estimates(PROBE.measures(results), results)
    assert found["accuracy"]["interval"] == pytest.approx((0.4562, 0.5438), abs=1e-3)
    assert found["position_bias_index"]["interval"] == pytest.approx((0.4124, 0.5), abs=1e-3)


def test_a_lost_choice_is_a_change_under_the_order_as_under_other_words() -> None:
    assert said("A", "I cannot tell")["choice_changed"] == 1
    assert "choice_changed" not in said("I cannot tell", "I cannot tell")


def test_other_words_that_change_as_much_leave_no_effect_of_the_order() -> None:
    both = []
    for number in range(12):
        case = case_of(number, "none")
        twin = PROBE.control(case, pair(number), OrderBiasSettings(), rng=random.Random(0))
        assert twin is not None
        both.append(Trial(case=case, expected=Completion(text="A"), actual=Completion(text="A")))
        both.append(Trial(case=twin, expected=Completion(text="A"), actual=Completion(text="B")))
    results = pd.DataFrame(rows_of(both))
    (effect,) = effects(PROBE.measures(results), results)
    assert (effect["value"], effect["samples"]) == (0, 12)
    assert effect["interval"][0] < 0 < effect["interval"][1]


def test_the_prior_has_an_interval() -> None:
    drawn = np.random.default_rng(0).normal(1.0, 0.5, (100, 2))
    trials = [
        Trial(case=case_of(number), expected=weighed(first), actual=weighed(second))
        for number, (first, second) in enumerate(drawn)
    ]
    results = pd.DataFrame(rows_of(trials))
    found = estimates(PROBE.measures(results), results)["pride_prior_a"]
    assert found["interval"][0] < 0.73 < found["interval"][1]


def test_accuracy_is_told_by_which_of_the_two_is_longer() -> None:
    trials, long, short = [], "Longer text", "Text"
    for number, (correct, incorrect, letters) in enumerate(
        [(long, short, "AB"), (short, long, "BA"), (short, long, "AA"), ("Yes", "Not", "AB")]
    ):
        case = replace(case_of(number, "none"), options=(correct, incorrect))
        expected, actual = (Completion(text=letter) for letter in letters)
        trials.append(Trial(case=case, expected=expected, actual=actual))
    rows = rows_of(trials)
    assert [row["right_is_longer"] for row in rows] == [True, False, False, None]
    figures = figured(PROBE, rows)
    assert (figures["accuracy_where_longer"], figures["accuracy_where_shorter"]) == (1, 0.25)
