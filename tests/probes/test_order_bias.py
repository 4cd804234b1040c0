"""order_bias: its cases, its table, its figures, and what LangTest would have said."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from embedders import embed_apart, embed_nothing
from figured import figured

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Completion, Likelihoods, Score, SummaryPair, Trial
from contrapose.tasks.evaluate.summarise import estimate_measures, find_effects
from contrapose.tasks.probes.choices import read_choice
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings
from contrapose.tasks.probes.orders.two_orders import is_calibrating
from contrapose.tasks.tables.results import make_result_table

PROBE = OrderBias()

PAIR = SummaryPair(
    id="radio",
    article_sentence="those who receive centrelink payments made up half of radio rental's income last year.",
    correct_sentence="centrelink payments made up half of radio rental's income.",
    incorrect_sentence="centrelink payments made up radio rental's income.",
)


def make(sample: SummaryPair = PAIR, *, likelihoods: Likelihoods = "none", **settings: Any) -> Case:
    return PROBE.cases(sample, OrderBiasSettings(**settings), rng=random.Random(0), likelihoods=likelihoods)[0]


def unlike(texts: Sequence[str]) -> np.ndarray:
    """No reply is like a summary: rules must read it."""
    return np.zeros((len(texts), 2), dtype=np.float32)


def replied(first: str, second: str, case: Case | None = None) -> Trial:
    return Trial(case=case or make(), expected=Completion(text=first), actual=Completion(text=second))


def answered(first: str, second: str) -> Score:
    return PROBE.score([replied(first, second)], OrderBiasSettings(), embed=unlike)[0]


def weighed(first: tuple[float, ...] | None, second: tuple[float, ...] | None) -> Score:
    before, after = (Completion(text="A", option_loglikelihoods=each) for each in (first, second))
    trial = Trial(case=make(likelihoods="all"), expected=before, actual=after)
    return PROBE.score([trial], OrderBiasSettings(), embed=unlike)[0]


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
    plain = replied("A", "B")
    trials = [replace(plain, expected=other), replace(plain, actual=other), plain]
    scores = PROBE.score(trials, OrderBiasSettings(), embed=embed)
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


def figures_of(*scores: Score) -> dict[str, Any]:
    return figured(PROBE, [dict(score.columns) for score in scores])


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


def led(number: int, first: float, second: float) -> Trial:
    """A pair whose letter A leads by so much in the two orders."""
    case = make(replace(PAIR, id=f"pair {number}"), likelihoods="choices")
    leads = (Completion(text="?", option_loglikelihoods=(lead, 0.0)) for lead in (first, second))
    return Trial(case=case, expected=next(leads), actual=next(leads))


def rows_of(trials: list[Trial], **settings: Any) -> list[dict[str, Any]]:
    scores = PROBE.score(trials, OrderBiasSettings(**settings), embed=unlike)
    return make_result_table(trials, scores, probe=PROBE, model="m").to_pylist()


def leaning(contents: list[float], *, position: float, **settings: Any) -> dict[str, Any]:
    """Figures of pairs with these content scores and one pull of the letter A."""
    trials = [led(number, position + each, position - each) for number, each in enumerate(contents)]
    return figured(PROBE, rows_of(trials, **settings))


def said(first: str, second: str) -> dict[str, Any]:
    return figured(PROBE, rows_of([replied(first, second)]))


def test_pride_finds_the_letters_pull_and_takes_it_out() -> None:
    figures = leaning([0.5] * 100, position=2.0)
    assert figures["pride_prior_a"] == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert (figures["accuracy"], figures["pride_accuracy"], figures["pride_gain"]) == (0.5, 1.0, 0.5)


def test_the_pairs_that_calibrate_are_not_judged() -> None:
    settings = OrderBiasSettings()
    contents = [-0.5 if is_calibrating(f"pair {number}", settings.calibration) else 0.5 for number in range(100)]
    assert leaning(contents, position=2.0)["pride_accuracy"] == 1


def test_a_pair_calibrates_by_its_id_alone() -> None:
    chosen = [number for number in range(5_000) if is_calibrating(f"pair {number}", 0.2)]
    assert len(chosen) == pytest.approx(1_000, abs=90)
    assert set(chosen) <= {number for number in range(5_000) if is_calibrating(f"pair {number}", 0.3)}


def test_without_likelihoods_there_is_no_prior() -> None:
    assert not {"pride_prior_a", "pride_accuracy", "pride_gain", "content_score"} & set(said("A", "B"))


def test_without_a_calibrating_pair_nothing_is_taken_out() -> None:
    figures = leaning([0.5, 1.0], position=1.0, calibration=1e-6)
    assert not {"pride_prior_a", "pride_accuracy", "pride_gain"} & set(figures)


def test_a_tied_content_score_counts_half() -> None:
    figures = leaning([1.0, 0.0], position=0.5)
    assert (figures["debiased_accuracy"], figures["debiased_tied"]) == (0.75, 0.5)


def test_a_model_that_always_says_a_has_intervals_for_its_accuracy_and_bias() -> None:
    results = pd.DataFrame([{**row, "sample_id": str(n)} for n, row in enumerate(rows_of([replied("A", "A")] * 40))])
    found = estimate_measures(PROBE.measures(results), results)
    assert found["accuracy"]["interval"] == pytest.approx((0.4562, 0.5438), abs=1e-3)
    assert found["position_bias_index"]["interval"] == pytest.approx((0.4124, 0.5), abs=1e-3)


def test_a_lost_choice_is_a_change_under_the_order_as_under_other_words() -> None:
    assert said("A", "I cannot tell")["choice_changed"] == 1
    assert "choice_changed" not in said("I cannot tell", "I cannot tell")


def test_other_words_that_change_as_much_leave_no_effect_of_the_order() -> None:
    both = []
    for number in range(12):
        sample = replace(PAIR, id=f"pair {number}")
        case = make(sample)
        twin = PROBE.control(case, sample, OrderBiasSettings(), rng=random.Random(0))
        assert twin is not None
        both += [replied("A", "A", case), replied("A", "B", twin)]
    results = pd.DataFrame(rows_of(both))
    (effect,) = find_effects(PROBE.measures(results), results)
    assert (effect["value"], effect["samples"]) == (0, 12)
    assert effect["interval"][0] < 0 < effect["interval"][1]


def test_the_prior_has_an_interval() -> None:
    drawn = np.random.default_rng(0).normal(1.0, 0.5, (100, 2))
    results = pd.DataFrame(rows_of([led(number, *pair) for number, pair in enumerate(drawn)]))
    found = estimate_measures(PROBE.measures(results), results)["pride_prior_a"]
    assert found["interval"][0] < 0.73 < found["interval"][1]


def test_accuracy_is_told_by_which_of_the_two_is_longer() -> None:
    long, short = "Longer text", "Text"
    pairs = [(long, short, "AB"), (short, long, "BA"), (short, long, "AA"), ("Yes", "Not", "AB")]
    rows = rows_of([replied(*letters, replace(make(), options=(right, wrong))) for right, wrong, letters in pairs])
    assert [row["right_is_longer"] for row in rows] == [True, False, False, None]
    figures = figured(PROBE, rows)
    assert (figures["accuracy_where_longer"], figures["accuracy_where_shorter"]) == (1, 0.25)


def of_langtest(first: Any, second: Any, *, embed: Any = embed_nothing, settings: Any = None, **changes: Any) -> Any:
    """LangTest's verdict on two replies; None where it is open, or there is none."""
    replies = (one if isinstance(one, Completion) else Completion(text=one) for one in (first, second))
    trial = Trial(case=replace(make(), **changes), expected=next(replies), actual=next(replies))
    (score,) = PROBE.score([trial], settings or OrderBiasSettings(), embed=embed)
    return score.columns.get("langtest_pass", "none")


@pytest.mark.parametrize("threshold", [0.5, 0.95])
def test_the_threshold_of_langtests_verdict_is_that_of_the_test(threshold: float) -> None:
    settings = OrderBiasSettings(similarity_threshold=threshold)
    found = of_langtest("A", "The first", settings=settings, embed=lambda texts: np.full((len(texts), 1), 0.9**0.5))
    assert found is (threshold < 0.9)


def test_langtest_leaves_a_missing_reply_open_and_judges_no_control() -> None:
    assert of_langtest("A", None) is None
    assert of_langtest("A", "B", control=True) == "none"


def test_replies_are_embedded_for_langtest_only_where_the_run_has_embeddings() -> None:
    assert of_langtest("A", "First", scorer="label") is None


def test_a_letter_chosen_by_likelihood_is_the_reply_that_langtest_judges() -> None:
    replies = (Completion(text="A", option_loglikelihoods=(-1.0, second)) for second in (-2.0, -1.5))
    assert of_langtest(*replies, scorer="likelihood", asks="choose") is False


LETTERS = ("A", "B", "C")


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
    trial = Trial(case=make(), expected=held(first), actual=held(second))
    columns = PROBE.score([trial], OrderBiasSettings(), embed=embed_nothing)[0].columns
    assert columns["outcome"] == outcome
    assert (columns["result_step"], columns["swapped_step"]) == ("constrained", "constrained")


def test_of_a_reply_that_escaped_the_form_nothing_is_guessed() -> None:
    broken = Completion(text='{"answer": ')
    settings = OrderBiasSettings(similarity_threshold=1)
    (score,) = PROBE.score([Trial(case=make(), expected=held("A"), actual=broken)], settings, embed=embed_apart)
    assert (score.columns["result_step"], score.columns["swapped_step"]) == ("constrained", "unparsed")
