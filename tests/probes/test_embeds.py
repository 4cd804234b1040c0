"""What the settings say of embeddings beforehand holds for every case that is made."""

from __future__ import annotations

import random
from typing import Any

import pytest

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Likelihoods, SummaryPair, TextSample
from contrapose.tasks.probes.base import ProbeSettings
from contrapose.tasks.probes.negation import AddNegation, AddNegationSettings
from contrapose.tasks.probes.option_order import OptionOrder
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings
from contrapose.tasks.probes.toxic_words import AddToxicWords

OPEN = TextSample(id="1", text="Iron is a metal.")
CHOICE = TextSample(id="2", text="Water is ", options=("dry", "liquid"))
PAIR = SummaryPair(id="3", article_sentence="It rained.", correct_sentence="Rain.", incorrect_sentence="Snow.")
LIKELIHOODS: tuple[Likelihoods, ...] = ("none", "choices", "all")


def made(probe: Any, sample: Any, settings: ProbeSettings, likelihoods: Likelihoods) -> Case | None:
    """The case, unless it is refused or skipped: then nothing is asked."""
    try:
        case: Case = probe.cases(sample, settings, rng=random.Random(0), likelihoods=likelihoods)[0]
    except ConfigError:
        return None
    return case if case.skip_reason is None else None


@pytest.mark.parametrize("likelihoods", LIKELIHOODS)
@pytest.mark.parametrize("scorer", ["auto", "embedding", "loss", "choice", "langtest_loss", "langtest"])
def test_of_answers(scorer: str, likelihoods: Likelihoods) -> None:
    settings = AddNegationSettings.model_validate({"scorer": scorer})
    cases = {sample.id: made(AddNegation(), sample, settings, likelihoods) for sample in (OPEN, CHOICE)}
    embedded = {name for name, case in cases.items() if case is not None and case.scorer == "embedding"}
    assert embedded == {"none": set(), "without_options": {"1"}, "all": {"1", "2"}}[settings.embeds(likelihoods)]


@pytest.mark.parametrize("likelihoods", LIKELIHOODS)
def test_of_the_documents_scores(likelihoods: Likelihoods) -> None:
    assert AddNegationSettings(scorer="choice", documents_scores=True).embeds(likelihoods) == "all"


@pytest.mark.parametrize("likelihoods", LIKELIHOODS)
@pytest.mark.parametrize("read_with", ["auto", "reply", "likelihood"])
def test_of_summaries(read_with: str, likelihoods: Likelihoods) -> None:
    settings = OrderBiasSettings.model_validate({"read_with": read_with})
    case = made(OrderBias(), PAIR, settings, likelihoods)
    assert (settings.embeds(likelihoods) == "all") is (case is not None and case.scorer == "reply")


@pytest.mark.parametrize("probe", [OptionOrder, AddToxicWords])
def test_of_tests_that_compare_no_meanings(probe: Any) -> None:
    assert {probe.settings_type().embeds(each) for each in LIKELIHOODS} == {"none"}
