"""item_order with labels of one's own: they stand before the options, and are what is read."""

from __future__ import annotations

import random

import numpy as np
import pytest

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Completion, ItemSample, Trial
from contrapose.tasks.probes.item_order import ItemOrder, ItemOrderSettings

SAMPLE = ItemSample(
    id="1",
    text="Where does the ferry go?",
    items=("The ferry goes to Marlow.", "The bus goes to Ash."),
    options=("Ash", "Marlow", "Elm"),
    answers=("Marlow",),
    relevant=1,
)
PROMPT = "{{ items }}\n\n{{ text }}\n{{ options }}\nReply as JSON."


def settings(**changes: object) -> ItemOrderSettings:
    values = {"prompt": PROMPT, "labels": ("x1", "x2", "x3"), "answer_field": "choice", **changes}
    return ItemOrderSettings.model_validate(values)


@pytest.mark.parametrize(("second", "passed"), [("x2", True), ("x3", False)])
def test_an_answer_is_read_by_its_label(second: str, passed: bool) -> None:
    probe, own = ItemOrder(), settings()
    [case] = probe.cases(SAMPLE, own, rng=random.Random(0), likelihoods="none")
    assert "x1. Ash\nx2. Marlow\nx3. Elm" in case.original_prompt
    replies = (Completion(text=f'{{"choice": "{label}"}}') for label in ("x2", second))
    trial = Trial(case=case, expected=next(replies), actual=next(replies))
    [score] = probe.score([trial], own, embed=lambda texts: np.zeros((len(texts), 2), dtype=np.float32))
    assert (score.passed, score.undecided) == (passed, False)
    assert probe.follow_ups([trial], own, embed=lambda texts: pytest.fail("embedded")) == []


def test_a_label_is_needed_for_every_option() -> None:
    with pytest.raises(ConfigError, match=r"3 options, and 2 labels"):
        ItemOrder().cases(SAMPLE, settings(labels=("x1", "x2")), rng=random.Random(0), likelihoods="none")
