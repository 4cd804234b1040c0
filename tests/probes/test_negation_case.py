"""The cases that add_negation makes, its settings, and what settings say of embeddings beforehand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Likelihoods, SummaryPair, TextSample
from contrapose.tasks.probes.negation import AddNegation, AddNegationSettings
from contrapose.tasks.probes.option_order import OptionOrder
from contrapose.tasks.probes.order_bias import OrderBias
from contrapose.tasks.probes.toxic_words import AddToxicWords

OPEN = TextSample(id="1", text="Iron is a metal.")
CHOICE = TextSample(id="2", text="Water is ", options=("dry", "liquid"), answers=("liquid",))
PAIR = SummaryPair(id="3", article_sentence="It rained.", correct_sentence="Rain.", incorrect_sentence="Snow.")
LIKELIHOODS: tuple[Likelihoods, ...] = ("none", "choices", "all")


def make(sample: Any, *, probe: Any = AddNegation, likelihoods: Likelihoods = "none", **settings: object) -> Case:
    """A case under the given settings."""
    chosen = probe.settings_type.model_validate(settings)
    case: Case = probe().cases(sample, chosen, rng=random.Random(0), likelihoods=likelihoods)[0]
    return case


def test_an_open_text_is_its_own_prompt() -> None:
    case = make(OPEN)
    assert (case.original_prompt, case.perturbed_prompt) == ("Iron is a metal.", "Iron is not a metal.")


def test_options_follow_the_text_in_letters() -> None:
    case = make(CHOICE)
    assert case.perturbed_prompt == "Water is not \nA. dry\nB. liquid\nAnswer:"
    assert (case.labels, case.options, case.answers) == (("A", "B"), ("dry", "liquid"), ("liquid",))


@pytest.mark.parametrize(
    ("sample", "likelihoods", "chosen", "scorer", "asks", "loss_of"),
    [
        (OPEN, "none", "auto", "embedding", "generate", None),
        (OPEN, "all", "auto", "loss", "generate", "expected_result"),
        (CHOICE, "choices", "auto", "choice", "choose", None),
        (CHOICE, "none", "auto", "choice", "generate", None),
        *(
            (sample, "all", scorer, scorer, "generate", loss_of)
            for sample in (OPEN, CHOICE)
            for scorer, loss_of in (("loss", "expected_result"), ("langtest_loss", "prompt"))
        ),
        *((sample, "all", "langtest", "langtest_loss", "generate", "prompt") for sample in (OPEN, CHOICE)),
        *(
            (sample, likelihoods, "langtest", "embedding", "generate", None)
            for sample in (OPEN, CHOICE)
            for likelihoods in ("none", "choices")
        ),
    ],
)
def test_the_scorer_follows_the_setting_the_sample_and_the_provider(
    sample: TextSample, likelihoods: Likelihoods, chosen: str, scorer: str, asks: str, loss_of: str | None
) -> None:
    case = make(sample, likelihoods=likelihoods, scorer=chosen)
    assert (case.scorer, case.asks, case.loss_of) == (scorer, asks, loss_of)


@pytest.mark.parametrize("scorer", ["loss", "langtest_loss"])
def test_a_loss_scorer_without_likelihoods_is_refused(scorer: str) -> None:
    with pytest.raises(ConfigError, match="log-likelihoods"):
        make(OPEN, scorer=scorer)


@pytest.mark.parametrize(
    ("sample", "settings", "reason"),
    [
        (OPEN, {"scorer": "choice"}, "no_options"),
        (TextSample(id="3", text="How many?"), {}, "negative_island_how"),
    ],
)
def test_a_text_that_cannot_be_asked_is_skipped(sample: TextSample, settings: dict[str, str], reason: str) -> None:
    case = make(sample, **settings)
    assert (case.perturbed, case.perturbed_prompt, case.skip_reason) == (None, None, reason)


def test_both_prompts_of_a_yes_no_question_are_statements() -> None:
    case = make(TextSample(id="4", text="Is iron hard?", options=("True", "False")))
    assert case.original_prompt == "True or false: Iron is hard.\nA. True\nB. False\nAnswer:"
    assert case.perturbed == "True or false: Iron is not hard."


def made_with(kind: str, sample: Any, **given: Any) -> bool:
    """Whether a case of this kind of scorer is made of a sample, which may also be refused or skipped."""
    try:
        case = make(sample, **given)
    except ConfigError:
        return False
    return case.skip_reason is None and case.scorer == kind


@pytest.mark.parametrize("likelihoods", LIKELIHOODS)
@pytest.mark.parametrize("scorer", ["auto", "embedding", "loss", "choice", "langtest_loss", "langtest"])
def test_settings_know_which_answers_are_embedded(scorer: str, likelihoods: Likelihoods) -> None:
    given = {"scorer": scorer, "likelihoods": likelihoods}
    embedded = {sample.id for sample in (OPEN, CHOICE) if made_with("embedding", sample, **given)}
    settings = AddNegationSettings.model_validate({"scorer": scorer})
    assert embedded == {"none": set(), "without_options": {"1"}, "all": {"1", "2"}}[settings.embeds(likelihoods)]
    documented = AddNegationSettings.model_validate({"scorer": scorer, "documents_scores": True})
    assert documented.embeds(likelihoods) == "all"


@pytest.mark.parametrize("likelihoods", LIKELIHOODS)
@pytest.mark.parametrize("read_with", ["auto", "reply", "likelihood"])
def test_settings_know_whether_summaries_are_embedded(read_with: str, likelihoods: Likelihoods) -> None:
    settings = OrderBias.settings_type.model_validate({"read_with": read_with})
    is_read = made_with("reply", PAIR, probe=OrderBias, likelihoods=likelihoods, read_with=read_with)
    assert (settings.embeds(likelihoods) == "all") is is_read


@pytest.mark.parametrize("probe", [OptionOrder, AddToxicWords])
def test_tests_that_compare_no_meanings_embed_nothing(probe: Any) -> None:
    assert {probe.settings_type().embeds(each) for each in LIKELIHOODS} == {"none"}
