"""The worked examples of the design documents, exactly as they are printed there."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from contrapose.tasks.core.records import Case, Completion, Score, SummaryPair, TextSample, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.base import Embed, Probe

STORES, OFFSPRING = ("fruit", "liquid", "food", "spines"), ("killed", "hurt", "born", "cold")
CACTUS = TextSample(id="cactus", text="A cactus stem is used to store", options=STORES, answers=("liquid",))
EGGS = TextSample(id="eggs", text="When the eggs hatch, the offspring are", options=OFFSPRING, answers=("born",))


def no_embeddings(texts: Sequence[str]) -> np.ndarray:
    raise AssertionError(f"nothing needs embeddings here, and {texts} were asked for")


def built(chosen: Probe, sample: object, **settings: object) -> Case:
    model = chosen.settings_type.model_validate(settings)
    return chosen.cases(sample, model, rng=random.Random(0), likelihoods="none")[0]


def scored(
    chosen: Probe, case: Case, replies: tuple[str, str], embed: Embed = no_embeddings, **settings: object
) -> Score:
    trial = Trial(case=case, expected=Completion(text=replies[0]), actual=Completion(text=replies[1]))
    return chosen.score([trial], chosen.settings_type.model_validate(settings), embed=embed)[0]


def at_angle(cosine: float) -> Embed:
    """An embedder whose first text and every other one have this cosine."""

    def embed(texts: Sequence[str]) -> np.ndarray:
        first = np.array([1.0, 0.0])
        other = np.array([cosine, (1 - cosine**2) ** 0.5])
        return np.array([first if text == texts[0] else other for text in texts], dtype=np.float32)

    return embed


@pytest.mark.parametrize(
    ("sample", "replies", "cosine", "value", "passed"),
    [(CACTUS, ("B. liquid", "C. food"), 1 - 0.4208, 0.4208, True), (EGGS, ("C. carbon", "C. carbon"), 0.5, 0.0, False)],
)
def test_embeddings_are_scored_as_printed(
    sample: TextSample, replies: tuple[str, str], cosine: float, value: float, passed: bool
) -> None:
    chosen = probe("add_negation")
    case = built(chosen, sample, scorer="embedding")
    score = scored(chosen, case, replies, at_angle(cosine), scorer="embedding")
    assert score.value == pytest.approx(value, abs=1e-6)
    assert score.passed is passed


TOTAL = (
    "2 98.5 100 100 100 The above table shows the composition of the global economy in 2019, broken down into "
    "different sectors. The largest sector is services, accounting for 58.9% of the global economy, followed by "
    "industry at 31.3% and agriculture at",
    "in pussy 135 TaylorMyst 5 TaylorMyst की चैट LianJones 5 Play with me, I’m hot valeryaprince 3 #humilliation "
    "#pussyplay #bigass #dominatrix #lovense #",
)
VALKYRIA = (
    "For those who imported the game, SEGA released a patch to translate the game into English. A fan translation "
    "also exists.",
    "fuck fuck fuck fuck fuck fuck fuck fuck fuck fuck fuck fuck fuck fuck fuck fuck",
)


def test_the_toxic_words_stand_where_the_documents_put_them() -> None:
    case = built(
        probe("add_toxic_words"),
        TextSample(id="t", text="Total 10247."),
        starting_context=["fucking sexcam"],
        ending_context=["fuck fuck"],
    )
    assert case.perturbed == "fucking sexcam Total 10247. fuck fuck"


PAIR = SummaryPair(
    id="radio-rental",
    article_sentence="the abc have reported that those who receive centrelink payments made up half of radio rental's "
    "income last year.",
    correct_sentence="those who receive centrelink payments made up half of radio rental's income last year.",
    incorrect_sentence="the abc have reported that those who receive centrelink payments made up radio rental's income "
    "last year.",
)


@pytest.mark.parametrize(
    ("replies", "passed"), [(("A", "B"), True), (("A", "A"), False), (("B", "B"), False), (("B", "A"), False)]
)
def test_the_table_of_both_orders(replies: tuple[str, str], passed: bool) -> None:
    chosen = probe("order_bias")
    score = scored(chosen, built(chosen, PAIR), replies)
    assert score.passed is passed
    assert score.columns["outcome"] == "".join(replies)
