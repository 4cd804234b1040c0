"""What LangTest would have said for the same replies of order_bias."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from embedders import embed_nothing

from contrapose.tasks.core.records import Case, Completion, SummaryPair, Trial
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings

PAIR = SummaryPair(
    id="pond",
    article_sentence="two swans and a heron live on the pond all year.",
    correct_sentence="swans live on the pond.",
    incorrect_sentence="no swans live on the pond.",
)


def case(**changes: object) -> Case:
    (made,) = OrderBias().cases(PAIR, OrderBiasSettings(), rng=random.Random(0), likelihoods="none")
    return replace(made, **changes)


def columns(first: str, second: str, *, embed: Embed = embed_nothing, of: Case | None = None) -> dict[str, object]:
    asked = of or case()
    trial = Trial(case=asked, expected=Completion(text=first), actual=Completion(text=second))
    (score,) = OrderBias().score([trial], OrderBiasSettings(), embed=embed)
    return dict(score.columns)


@pytest.mark.parametrize("threshold", [0.5, 0.95])
def test_the_threshold_is_that_of_the_test(threshold: float) -> None:
    trial = Trial(case=case(), expected=Completion(text="A"), actual=Completion(text="The swans one"))
    settings = OrderBiasSettings(similarity_threshold=threshold)
    (score,) = OrderBias().score([trial], settings, embed=lambda texts: np.full((len(texts), 1), 0.9**0.5))
    assert score.columns["langtest_pass"] is (threshold < 0.9)


def test_a_missing_reply_leaves_it_open() -> None:
    trial = Trial(case=case(), expected=Completion(text="A"), actual=Completion(text=None))
    (score,) = OrderBias().score([trial], OrderBiasSettings(), embed=embed_nothing)
    assert score.columns["langtest_pass"] is None


def test_replies_are_embedded_only_where_the_run_has_embeddings() -> None:
    trial = Trial(case=case(scorer="label"), expected=Completion(text="A"), actual=Completion(text="First"))
    (score,) = OrderBias().score([trial], OrderBiasSettings(), embed=embed_nothing)
    assert score.columns["langtest_pass"] is None


def test_a_letter_chosen_by_likelihood_is_the_reply() -> None:
    trial = Trial(
        case=case(scorer="likelihood", asks="choose"),
        expected=Completion(text="A", option_loglikelihoods=(-1.0, -2.0)),
        actual=Completion(text="A", option_loglikelihoods=(-1.0, -1.5)),
    )
    (score,) = OrderBias().score([trial], OrderBiasSettings(), embed=embed_nothing)
    assert score.columns["langtest_pass"] is False


def test_controls_have_no_such_verdict() -> None:
    assert "langtest_pass" not in columns("A", "B", of=case(control=True))
