"""Scores of add_negation, and the figures that are made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from figured import PLAIN, figured
from probes.test_two_answers import OPTIONS, axes, case

from contrapose.tasks.core.outcome import Effect
from contrapose.tasks.core.records import Completion, Likelihoods, Score, Trial
from contrapose.tasks.evaluate.summarise import find_effects
from contrapose.tasks.probes.negation import AddNegation, AddNegationSettings

SPACE = {"yes": (1.0, 0.0), "no": (0.0, 1.0), "yep": (0.9, math.sqrt(0.19)), "liquid": (1.0, 0.0), "dry": (0.0, 1.0)}


def trial_of(
    scorer: str,
    expected: Completion,
    actual: Completion,
    *,
    options: tuple[str, ...] = (),
    likelihoods: Likelihoods = "all",
    answer: str = "",
    **given: object,
) -> Trial:
    """A trial whose right answer, of options, is `liquid`."""
    right = "liquid" if options else answer
    made = case(options=options, likelihoods=likelihoods, answer=right, scorer=scorer, **given)
    return Trial(case=made, expected=expected, actual=actual)


class Embedder:
    """Looks vectors up, or gives each text an axis of its own, and notes its calls."""

    def __init__(self, *, apart: bool = False) -> None:
        self.calls: list[list[str]] = []
        self._apart = apart

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """One row per text."""
        self.calls.append(list(texts))
        return axes(texts) if self._apart else np.array([SPACE[text] for text in texts], dtype=np.float32)


def score(*trials: Trial, embed: Embedder | None = None, **settings: object) -> list[Score]:
    """Scores under the given settings."""
    chosen = AddNegationSettings.model_validate(settings)
    return AddNegation().score(trials, chosen, embed=embed or Embedder())


def says(text: str) -> Completion:
    """A generated reply."""
    return Completion(text=text)


def choice(*values: float) -> Completion:
    """A choice by log-likelihoods."""
    return Completion(text="?", option_loglikelihoods=values)


def loss(value: float | None) -> Completion:
    return Completion(loss=value)


@pytest.mark.parametrize(
    ("scorer", "before", "after", "value", "passed"),
    [
        ("embedding", says("Yes"), says(" no "), 1.0, True),
        ("embedding", says("yes"), says("yep"), 0.1, False),
        ("embedding", says("Yes "), says("yes"), 0.0, False),
        ("embedding", says(" "), says("no"), None, None),
        *(("loss", loss(0.0), loss(change), change, abs(change) > 0.2) for change in (0.25, 0.2, -0.2, -0.25)),
        *(("loss", loss(1.0), loss(value), None, None) for value in (None, math.nan, math.inf)),
        ("langtest_loss", loss(1.0), loss(3.0), -2.0, True),
        ("choice", choice(-3, -1, -2), choice(-4, -2, -3), 0.0, False),
    ],
)
def test_trial_passes_where_its_score_lies_outside_the_closed_interval(
    scorer: str, before: Completion, after: Completion, value: float | None, passed: bool | None
) -> None:
    (result,) = score(trial_of(scorer, before, after, options=OPTIONS if scorer == "choice" else ()))
    assert result.value == (None if value is None else pytest.approx(value))
    assert result.passed is passed


def test_reason_of_an_empty_reply_names_its_prompt() -> None:
    (result,) = score(trial_of("embedding", says(" "), says("no")))
    assert result.reason == "the reply to the original prompt is empty"


def test_all_texts_are_embedded_in_one_call() -> None:
    embed = Embedder()
    score(trial_of("embedding", says("yes"), says("no")), trial_of("embedding", says("no"), says("yep")), embed=embed)
    assert embed.calls == [["yes", "no", "yep"]]


@pytest.mark.parametrize("reply", ["B", "B. liquid", "Answer: B", "The answer is liquid."])
def test_letter_is_embedded_as_its_option(reply: str) -> None:
    embed = Embedder()
    score(trial_of("embedding", says(reply), says("A"), options=OPTIONS), embed=embed)
    assert embed.calls == [["liquid", "dry"]]


def test_changed_choice_passes() -> None:
    (result,) = score(trial_of("choice", choice(-3, -1, -2), choice(-1, -1.1, -2), options=OPTIONS))
    assert result.passed
    assert (result.columns["chosen_before"], result.columns["chosen_after"]) == ("B", "A")
    assert (result.columns["right_before"], result.expected_result) == (True, "B. liquid")


def test_large_divergence_passes_though_the_choice_stayed() -> None:
    (result,) = score(trial_of("choice", choice(-0.1, 0, -20), choice(-20, 0, -20), options=OPTIONS))
    assert result.value > 0.2
    assert result.passed is True
    assert result.columns["chosen_before"] == result.columns["chosen_after"]


@pytest.mark.parametrize("reply", ["", "A or B", "Both A and B", "I cannot say", "A dog", "D"])
def test_unreadable_choice_is_unscored(reply: str) -> None:
    readable, (result,) = (
        score(trial_of("choice", says("B"), says(text), options=OPTIONS, likelihoods="none"))
        for text in ("A. dry", reply)
    )
    assert (readable[0].value, readable[0].passed) == (1.0, True)
    assert (result.value, result.passed, "perturbed" in result.reason) == (None, None, True)


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


@pytest.mark.parametrize("pair", [("B", "C"), ("(b)", "Answer: C."), ("Option B", "option b"), ("B.", "B.")])
def test_replies_that_are_mere_letters_are_unscored(pair: tuple[str, str]) -> None:
    (result,) = score(trial_of("embedding", says(pair[0]), says(pair[1])))
    assert (result.value, result.passed, result.columns["letters_only"]) == (None, None, True)
    assert "letters" in result.reason


@pytest.mark.parametrize("pair", [("yes", "B"), ("B", "no")])
def test_one_letter_beside_a_text_is_scored(pair: tuple[str, str]) -> None:
    (result,) = score(trial_of("embedding", says(pair[0]), says(pair[1])), embed=Embedder(apart=True))
    assert (result.value, result.columns["letters_only"]) == (pytest.approx(1.0), False)


def test_the_choice_is_told_beside_an_embedding_score() -> None:
    (result,) = score(trial_of("embedding", says("B"), says("The answer is A."), options=OPTIONS))
    columns = result.columns
    assert (columns["chosen_before"], columns["chosen_after"], columns["js_divergence"]) == ("B", "A", 1.0)
    assert (columns["option_count"], columns["right_before"], columns["gold_lost"]) == (3, True, True)
    assert (columns["chosen_before_step"], columns["chosen_after_step"]) == ("letter", "pattern")
    assert columns["embedding_score"] == result.value


def test_the_right_option_loses_log_probability() -> None:
    before, after = (math.log(0.5), math.log(0.3), math.log(0.2)), (math.log(0.1) - 7, math.log(0.6) - 7, -100.0)
    (result,) = score(trial_of("choice", choice(*before), choice(*after), options=OPTIONS))
    share = 0.6 / 0.7
    assert result.columns["right_logprob_change"] == pytest.approx(math.log(share) - math.log(0.3))


def test_a_right_option_with_hardly_any_share_has_a_log_probability() -> None:
    (result,) = score(trial_of("choice", choice(0.0, -2000.0, -1.0), choice(0.0, -1000.0, -1.0), options=OPTIONS))
    assert result.columns["right_logprob_change"] == pytest.approx(1000.0)


@pytest.mark.parametrize(
    ("before", "after", "answer", "right", "lost"),
    [
        ("Paris is its capital.", "It is Lyon.", "Paris", True, True),
        ("It is  PARIS!", "Not Paris.", "Paris", True, False),
        ("A comparison", "Paris", "Paris", False, None),
        *(
            (said, "no", "Paris", right, True if right else None)
            for right, replies in (
                (True, ("(Paris)", "Parisian, and Paris")),
                (False, ("Parisian", "Paris2", "2Paris")),
            )
            for said in replies
        ),
        *(("It is 50%.", "no", "%", True, True), ("by C++ alone", "no", "C++", True, True)),
        *(("C+++", "no", "C++", True, True), ("the  new\nYork", "no", "New York", True, True)),
    ],
)
def test_the_known_answer_is_looked_for_as_no_part_of_a_longer_word(
    before: str, after: str, answer: str, right: bool, lost: bool | None
) -> None:
    (result,) = score(trial_of("embedding", says(before), says(after), answer=answer), embed=Embedder(apart=True))
    assert (result.columns["right_before"], result.columns["gold_lost"]) == (right, lost)


def test_without_a_known_answer_nothing_is_right_or_lost() -> None:
    (result,) = score(trial_of("embedding", says("yes"), says("no")))
    assert not {"right_before", "gold_lost", "right_logprob_change"} & set(result.columns)


def test_an_unread_reply_is_neither_right_nor_wrong() -> None:
    (result,) = score(trial_of("choice", says("A or B"), says("B"), options=OPTIONS, likelihoods="none"))
    assert (result.columns["right_before"], result.columns["gold_lost"]) == (None, None)


def test_a_choice_is_not_embedded_unasked() -> None:
    embed = Embedder()
    (result,) = score(trial_of("choice", says("B"), says("A"), options=OPTIONS, likelihoods="none"), embed=embed)
    assert (embed.calls, result.columns["embedding_score"]) == ([], None)


def test_the_documents_scores_stand_beside_a_choice_when_asked_for() -> None:
    before, after = replace(choice(0, 1, 0), loss=0.5), replace(choice(1, 0, 0), loss=2.0)
    asked = trial_of("choice", before, after, options=OPTIONS, documents_scores=True)
    assert (asked.case.asks, asked.case.loss_of) == ("choose", "expected_result")
    (result,) = score(asked, documents_scores=True)
    assert result.columns["embedding_score"] == pytest.approx(1.0)
    assert result.columns["loss_score"] == 1.5


def test_langtest_embeds_the_raw_replies_of_an_api_model() -> None:
    embed = Embedder(apart=True)
    (result,) = score(
        trial_of("embedding", says("A"), says("The answer is A"), options=OPTIONS, likelihoods="none"), embed=embed
    )
    assert result.value == 0.0
    assert embed.calls == [["a", "the answer is a"]]
    assert (result.columns["langtest_score"], result.columns["langtest_pass"]) == (pytest.approx(1.0), True)


def test_langtest_judges_letters_too() -> None:
    (result,) = score(trial_of("embedding", says("A"), says("A"), likelihoods="none"))
    assert result.passed is None
    assert (result.columns["langtest_score"], result.columns["langtest_pass"]) == (0.0, False)


@pytest.mark.parametrize(("after", "passed"), [(1.2, False), (1.3, True)])
def test_langtest_takes_the_losses_of_a_local_models_prompts(after: float, passed: bool) -> None:
    (result,) = score(
        trial_of("langtest_loss", Completion(loss=1.0), Completion(loss=after)), threshold={"langtest_loss": [-9, 9]}
    )
    assert result.columns["langtest_score"] == pytest.approx(1.0 - after)
    assert (result.columns["langtest_pass"], result.passed) == (passed, False)


def test_langtest_is_silent_where_its_score_is_unknown() -> None:
    (result,) = score(trial_of("embedding", says("yes"), says("no"), likelihoods="all"))
    assert (result.columns["langtest_score"], result.columns["langtest_pass"]) == (None, None)


def test_each_scorer_may_have_a_threshold_of_its_own() -> None:
    loose = {"threshold": {"loss": [-1, 1]}}
    by_loss, by_choice = score(
        trial_of("loss", Completion(loss=0.0), Completion(loss=0.5)),
        trial_of("choice", says("B"), says("A"), options=OPTIONS, likelihoods="none"),
        **loose,
    )
    assert (by_loss.passed, by_choice.passed) == (False, True)
    assert (by_loss.columns["threshold_low"], by_loss.columns["threshold_high"]) == (-1.0, 1.0)


def test_a_scorer_without_a_band_leaves_its_rows_unscored() -> None:
    (result,) = score(trial_of("loss", Completion(loss=0.0), Completion(loss=0.5)), threshold={"loss": None})
    assert (result.value, result.passed) == (None, None)
    assert result.reason == (
        "there is no noise band for the scorer loss: fewer than 20 samples have a control that was scored"
    )


def test_the_figures_tell_letters_and_thresholds() -> None:
    rows = [
        {"scorer": "choice", "pass": True, "option_count": 4, "threshold_low": 0.0, "threshold_high": 0.1},
        {"scorer": "choice", "pass": None, "option_count": 2},
        {"scorer": "choice", "pass": False, "option_count": 2, "threshold_low": 0.0, "threshold_high": 0.1},
        {"scorer": "embedding", "letters_only": True},
    ]
    wanted = {"threshold_low_choice": 0.0, "threshold_high_choice": 0.1, "letter_only_replies": 1, "unread": 1.0}
    assert figured(AddNegation(), rows) == wanted


def test_effects_are_net_of_the_control_among_samples_not_answered_wrongly() -> None:
    rows = [
        {"sample_id": f"s{number}", "control": control, "right_before": right, "answer_changed": not control}
        | {"js_divergence": 0.1 if control else 0.4, "right_logprob_change": 0.0 if control else -1.0, "pass": True}
        for number, right in enumerate([True, None, False])
        for control in (False, True)
    ]
    found = {each["name"]: (each["value"], each["samples"]) for each in net(rows)}
    assert found["net_sensitivity"] == (1.0, 2)
    assert found["net_js_divergence"] == (pytest.approx(0.3), 3)
    assert found["net_right_logprob_change"] == (-1.0, 3)


def net(rows: list[dict[str, object]]) -> list[Effect]:
    """Effects over rows that leave out what does not matter."""
    frame = pd.DataFrame([{**PLAIN, **row} for row in rows], columns=[*PLAIN, "sample_id", *AddNegation.columns])
    return find_effects(AddNegation().measures(frame), frame)


def test_reply_that_does_not_know_says_so_in_its_reason() -> None:
    known, unknown, odd = says("B. liquid"), says("I do not know."), says("It depends on the weather of the day.")
    reasons = [
        score(trial_of("choice", known, after, options=OPTIONS, likelihoods="none"))[0].reason
        for after in (unknown, odd)
    ]
    assert reasons == [
        "the reply to the perturbed prompt declines to choose, or says that it does not know",
        "no option can be read from the reply to the perturbed prompt",
    ]


def test_only_a_compared_choice_is_shown_as_one() -> None:
    embedded, chosen = (
        score(trial_of(scorer, says("B"), says("A"), options=OPTIONS, likelihoods="none"), embed=Embedder(apart=True))[
            0
        ]
        for scorer in ("embedding", "choice")
    )
    assert embedded.passed is True
    assert (embedded.expected_result, embedded.actual_result) == (None, None)
    assert (chosen.expected_result, chosen.actual_result) == ("B. liquid", "A. dry")
