"""The cases that add_negation makes, and its settings."""

from __future__ import annotations

import random

import pytest

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Likelihoods, TextSample
from contrapose.tasks.probes.negation import AddNegation, AddNegationSettings

OPEN = TextSample(id="1", text="Iron is a metal.")
CHOICE = TextSample(id="2", text="Water is ", options=("dry", "liquid"), answers=("liquid",))


def make(sample: TextSample, *, likelihoods: Likelihoods = "none", **settings: object) -> Case:
    """A case under the given settings."""
    chosen = AddNegationSettings.model_validate(settings)
    return AddNegation().cases(sample, chosen, rng=random.Random(0), likelihoods=likelihoods)[0]


def test_an_open_text_is_its_own_prompt() -> None:
    case = make(OPEN)
    assert (case.original_prompt, case.perturbed_prompt) == ("Iron is a metal.", "Iron is not a metal.")
    assert (case.scorer, case.asks, case.loss_of) == ("embedding", "generate", None)


def test_options_follow_the_text_in_letters() -> None:
    case = make(CHOICE)
    assert case.perturbed_prompt == "Water is not \nA. dry\nB. liquid\nAnswer:"
    assert (case.labels, case.options, case.answers) == (("A", "B"), ("dry", "liquid"), ("liquid",))


@pytest.mark.parametrize(
    ("sample", "likelihoods", "scorer", "asks"),
    [
        (OPEN, "all", "loss", "generate"),
        (CHOICE, "choices", "choice", "choose"),
        (CHOICE, "none", "choice", "generate"),
    ],
)
def test_the_scorer_follows_the_sample_and_the_provider(
    sample: TextSample, likelihoods: Likelihoods, scorer: str, asks: str
) -> None:
    case = make(sample, likelihoods=likelihoods)
    assert (case.scorer, case.asks) == (scorer, asks)


@pytest.mark.parametrize(("scorer", "loss_of"), [("loss", "expected_result"), ("langtest_loss", "prompt")])
def test_a_loss_scorer_says_whose_loss_it_needs(scorer: str, loss_of: str) -> None:
    assert make(OPEN, likelihoods="all", scorer=scorer).loss_of == loss_of


@pytest.mark.parametrize("scorer", ["loss", "langtest_loss"])
def test_a_loss_scorer_without_likelihoods_is_refused(scorer: str) -> None:
    with pytest.raises(ConfigError, match="log-likelihoods"):
        make(OPEN, scorer=scorer)


@pytest.mark.parametrize("sample", [OPEN, CHOICE])
@pytest.mark.parametrize(
    ("likelihoods", "scorer"), [("all", "langtest_loss"), ("choices", "embedding"), ("none", "embedding")]
)
def test_langtest_scores_a_local_model_by_loss_and_any_other_by_embedding(
    sample: TextSample, likelihoods: Likelihoods, scorer: str
) -> None:
    assert make(sample, likelihoods=likelihoods, scorer="langtest").scorer == scorer


def test_choice_without_options_is_skipped() -> None:
    case = make(OPEN, scorer="choice")
    assert (case.perturbed, case.skip_reason) == (None, "no_options")


def test_a_text_that_cannot_be_negated_is_skipped() -> None:
    case = make(TextSample(id="3", text="How many?"))
    assert (case.perturbed_prompt, case.skip_reason) == (None, "negative_island_how")


def test_both_prompts_of_a_yes_no_question_are_statements() -> None:
    case = make(TextSample(id="4", text="Is iron hard?", options=("True", "False")))
    assert case.original_prompt == "True or false: Iron is hard.\nA. True\nB. False\nAnswer:"
    assert case.perturbed == "True or false: Iron is not hard."
