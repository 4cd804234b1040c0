"""Replies that an endpoint held to a letter: the letter is the choice, whatever the options say."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from embedders import embed_apart, embed_nothing

from contrapose.tasks.core.records import Completion, SummaryPair, Trial
from contrapose.tasks.probes.choices import read_choice
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings

LETTERS = ("A", "B", "C")
PAIR = SummaryPair(id="p", article_sentence="It rained.", correct_sentence="It was wet.", incorrect_sentence="Sun.")


def held(text: str) -> Completion:
    return Completion(text=text, constrained=True)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("options", [("x", "y", "z"), ("B", "C", "A"), ("a cube", "A or B", "none of A, B")])
def test_the_letter_is_the_choice_whatever_the_options_say(letter: str, options: tuple[str, ...]) -> None:
    choice = read_choice(held(letter), labels=LETTERS, options=options)
    assert LETTERS[choice.index] == letter


def test_what_is_no_letter_is_read_by_the_rules() -> None:
    assert read_choice(held("D"), labels=LETTERS, options=("x", "y", "z")) is None


@pytest.mark.parametrize(("first", "second", "outcome"), [("A", "B", "AB"), ("A", "A", "AA"), ("B", "A", "BA")])
def test_order_bias_takes_the_letters(first: str, second: str, outcome: str) -> None:
    case = OrderBias().cases(PAIR, OrderBiasSettings(), rng=random.Random(0), likelihoods="none")[0]
    trial = Trial(case=case, expected=held(first), actual=held(second))
    columns = OrderBias().score([trial], OrderBiasSettings(), embed=embed_nothing)[0].columns
    assert columns["outcome"] == outcome
    assert (columns["result_step"], columns["swapped_step"]) == ("constrained", "constrained")


def test_of_a_reply_that_escaped_the_form_nothing_is_guessed() -> None:
    case = OrderBias().cases(PAIR, OrderBiasSettings(), rng=random.Random(0), likelihoods="none")[0]
    broken = Completion(text='{"answer": ')
    settings = OrderBiasSettings(similarity_threshold=1)
    (score,) = OrderBias().score([Trial(case=case, expected=held("A"), actual=broken)], settings, embed=embed_apart)
    assert (score.columns["result_step"], score.columns["swapped_step"]) == ("constrained", "unparsed")


def elsewhere(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors that have nothing in common."""
    return np.eye(len(texts), dtype=np.float32)
