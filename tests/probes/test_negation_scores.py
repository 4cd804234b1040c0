"""Scores of add_negation trials."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from figured import figured

from contrapose.tasks.probes.negation import AddNegation, AddNegationSettings
from contrapose.tasks.records import Completion, Likelihoods, Score, TextSample, Trial

OPTIONS = ("dry", "liquid", "solid")
SPACE = {
    "yes": (1.0, 0.0),
    "no": (0.0, 1.0),
    "yep": (0.9, math.sqrt(0.19)),
    "liquid": (1.0, 0.0),
    "dry": (0.0, 1.0),
}


def trial(
    scorer: str,
    expected: Completion,
    actual: Completion,
    *,
    options: tuple[str, ...] = (),
    likelihoods: Likelihoods = "all",
) -> Trial:
    """A trial whose prompts do not matter."""
    sample = TextSample(id="1", text="Water is", options=options, answer="liquid" if options else None)
    settings = AddNegationSettings.model_validate({"scorer": scorer})
    case = AddNegation().cases(sample, settings, rng=random.Random(0), likelihoods=likelihoods)[0]
    return Trial(case=case, expected=expected, actual=actual)


class Embedder:
    """Looks vectors up, and counts its calls."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """One row per text."""
        self.calls.append(list(texts))
        return np.array([SPACE[text] for text in texts], dtype=np.float32)


def score(*trials: Trial, embed: Embedder | None = None) -> list[Score]:
    """Scores under default settings."""
    return AddNegation().score(trials, AddNegationSettings(), embed=embed or Embedder())


def says(text: str) -> Completion:
    """A generated reply."""
    return Completion(text=text)


def test_different_replies_pass_by_embedding() -> None:
    (result,) = score(trial("embedding", says("Yes"), says(" no ")))
    assert result.value == pytest.approx(1.0)
    assert result.passed is True


def test_equal_replies_score_exactly_zero() -> None:
    (result,) = score(trial("embedding", says("Yes "), says("yes")))
    assert (result.value, result.passed) == (0.0, False)


def test_all_texts_are_embedded_in_one_call() -> None:
    embed = Embedder()
    score(
        trial("embedding", says("yes"), says("no")),
        trial("embedding", says("no"), says("yep")),
        embed=embed,
    )
    assert embed.calls == [["yes", "no", "yep"]]


def test_an_empty_reply_is_unscored() -> None:
    (result,) = score(trial("embedding", says(" "), says("no")))
    assert (result.value, result.passed) == (None, None)
    assert result.reason == "the reply to the original prompt is empty"


@pytest.mark.parametrize("reply", ["B", "B. liquid", "Answer: B", "The answer is liquid."])
def test_a_letter_is_embedded_as_its_option(reply: str) -> None:
    embed = Embedder()
    score(trial("embedding", says(reply), says("A"), options=OPTIONS), embed=embed)
    assert embed.calls == [["liquid", "dry"]]


@pytest.mark.parametrize(("change", "passed"), [(0.25, True), (0.2, False), (-0.2, False), (-0.25, True)])
def test_a_loss_passes_outside_the_closed_interval(change: float, passed: bool) -> None:
    (result,) = score(trial("loss", Completion(loss=0.0), Completion(loss=change)))
    assert (result.value, result.passed) == (change, passed)


def test_langtest_loss_has_the_opposite_sign() -> None:
    (result,) = score(trial("langtest_loss", Completion(loss=1.0), Completion(loss=3.0)))
    assert result.value == -2.0


@pytest.mark.parametrize("loss", [None, math.nan, math.inf])
def test_a_missing_or_infinite_loss_is_unscored(loss: float | None) -> None:
    (result,) = score(trial("loss", Completion(loss=1.0), Completion(loss=loss)))
    assert (result.value, result.passed) == (None, None)


def chosen(*values: float) -> Completion:
    """A choice by log-likelihoods."""
    return Completion(text="?", option_loglikelihoods=values)


def test_a_changed_choice_passes() -> None:
    (result,) = score(trial("choice", chosen(-3, -1, -2), chosen(-1, -1.1, -2), options=OPTIONS))
    assert result.passed
    assert (result.columns["chosen_before"], result.columns["chosen_after"]) == ("B", "A")
    assert (result.columns["right_before"], result.expected_result) == (True, "B. liquid")


def test_the_divergence_of_equal_distributions_is_zero() -> None:
    (result,) = score(trial("choice", chosen(-3, -1, -2), chosen(-4, -2, -3), options=OPTIONS))
    assert result.value == pytest.approx(0.0, abs=1e-9)
    assert result.passed is False


def test_a_large_divergence_passes_though_the_choice_stayed() -> None:
    (result,) = score(trial("choice", chosen(-0.1, 0, -20), chosen(-20, 0, -20), options=OPTIONS))
    assert result.value is not None
    assert result.value > 0.2
    assert result.passed is True
    assert result.columns["chosen_before"] == result.columns["chosen_after"]


def test_parsed_replies_are_one_bit_apart() -> None:
    (result,) = score(trial("choice", says("B"), says("A. dry"), options=OPTIONS, likelihoods="none"))
    assert (result.value, result.passed) == (1.0, True)


@pytest.mark.parametrize("reply", ["", "A or B", "Both A and B", "I cannot say", "A dog", "D"])
def test_an_unreadable_choice_is_unscored(reply: str) -> None:
    (result,) = score(trial("choice", says("B"), says(reply), options=OPTIONS, likelihoods="none"))
    assert (result.value, result.passed) == (None, None)
    assert "perturbed" in result.reason


def test_the_summary_counts_changed_choices() -> None:
    rows = [
        {"scorer": "choice", "eval_score": 1.0, "chosen_before": "A", "chosen_after": "B", "right_before": True},
        {"scorer": "choice", "eval_score": 0.0, "chosen_before": "B", "chosen_after": "B", "right_before": False},
        {"scorer": "loss", "eval_score": 0.5},
    ]
    assert figured(AddNegation(), rows) == {
        "mean_eval_score_choice": 0.5,
        "mean_eval_score_loss": 0.5,
        "choices": 2,
        "choice_changed": 0.5,
        "right_before": 0.5,
    }


def test_the_summary_of_nothing_is_empty() -> None:
    assert AddNegation().summarise(pd.DataFrame()) == {}
