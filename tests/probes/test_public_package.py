"""Probes of another package: one of each shape, in a few lines, by the public names alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from contrapose.probes import (
    Case,
    Column,
    ComparedTexts,
    Completion,
    Edited,
    Probe,
    Score,
    SummaryPair,
    TextEdit,
    TextSample,
    Trial,
    TwoOrders,
)
from contrapose.tasks.core.errors import ConfigError


class Shouting(TextEdit):
    """An edit that the answer should not notice."""

    name, version, summary = "shouting", "1", "Shouts the text; the answer should stay."
    stays = True

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        if text.isupper():
            return Edited(reason="loud_already")
        return Edited(text=text.upper(), confidence="high")


class Headlines(TwoOrders):
    """Two texts in both orders."""

    name, version, summary = "headlines", "1", "Swaps two headlines: the choice must follow the article."
    sample_type, bundled_data = SummaryPair, "summary_pairs"
    question = "Which headline fits the article, A or B?"
    template = "{{ article }}\nA: {{ first }}\nB: {{ second }}\n{{ question }}"

    def comparison(self, sample: SummaryPair) -> ComparedTexts:
        values = {"article": sample.article_sentence}
        return ComparedTexts(right=sample.correct_sentence, wrong=sample.incorrect_sentence, values=values)


class Longer(Probe):
    """A scorer of its own."""

    name, version, summary = "longer", "1", "Asks for a longer reply."
    columns: ClassVar = {"added_words": Column("int", "Words that the reply gained.", "1")}

    def cases(self, sample: TextSample, settings: Any, *, rng: random.Random, likelihoods: Any) -> list[Case]:
        prompts = {"original_prompt": sample.text, "perturbed_prompt": f"{sample.text} Explain."}
        texts = {"original": sample.text, "perturbed": f"{sample.text} Explain.", "confidence": "high"}
        return [self.case(sample, **texts, **prompts, scorer="words", asks="generate")]

    def score(self, trials: Any, settings: Any, *, embed: Any) -> list[Score]:
        added = [len((t.actual.text or "").split()) - len((t.expected.text or "").split()) for t in trials]
        return [
            Score(value=float(words), passed=words > 0, reason="words", columns={"added_words": words})
            for words in added
        ]


TEXT = TextSample(id="1", text="Is ice cold?", options=("yes", "no"), answers=("yes",))
PAIR = SummaryPair(id="1", article_sentence="It rained.", correct_sentence="Rain.", incorrect_sentence="Sun.")


@pytest.mark.parametrize(
    ("probe", "sample", "right", "wrong"),
    [
        (Shouting(), TEXT, ("A", "A"), ("A", "B")),
        (Headlines(), PAIR, ("A", "B"), ("A", "A")),
        (Longer(), TEXT, ("Yes.", "Yes, it is."), ("Yes.", "Yes.")),
    ],
)
def test_probe_of_each_shape_makes_cases_and_scores_them(
    probe: Probe, sample: Any, right: tuple[str, str], wrong: tuple[str, str]
) -> None:
    settings = probe.settings_type()
    (case,) = probe.cases(sample, settings, rng=random.Random(0), likelihoods="none")
    trials = [
        Trial(case=case, expected=Completion(text=before), actual=Completion(text=after))
        for before, after in (right, wrong)
    ]
    scores = probe.score(trials, settings, embed=lambda texts: np.ones((len(texts), 2)))
    assert [score.passed for score in scores] == [True, False]
    assert set(scores[0].columns) <= set(probe.columns)
    assert len([name for name in vars(type(probe)) if not name.startswith("_")]) <= 8


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (lambda: type("Nameless", (Shouting,), {"name": "nameless"}), "no version"),
        (lambda: type("Odd", (Probe,), {"name": "odd", "version": "1", "default_gates": 1}), "'default_gates'"),
        (lambda: Edited(text="No."), "no confidence"),
        (lambda: Longer().case(TEXT, perturbed="No."), "no confidence"),
    ],
)
def test_probe_with_a_wrong_or_missing_member_is_refused(define: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        define()


def test_unknown_attribute_names_the_member_that_was_meant() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'default_gate'"):
        type("Odd", (Probe,), {"name": "odd", "version": "1", "default_gates": 1})
