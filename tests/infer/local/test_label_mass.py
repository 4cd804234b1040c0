"""How much of the next token's probability a local model gives the labels: as transformers' own logits have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plain_broker import completions
from tiny_model import open_tiny, save_tiny_model

from contrapose.tasks.core.questions import Question

PROMPTS = ["the sky is A . blue B . green Answer :", "the sky is A . green B . blue Answer :", "it was red Answer :"]
QUESTIONS = [
    Question(kind="choose", prompt=prompt, labels=labels)
    for prompt in PROMPTS
    for labels in (("A", "B"), ("A", "B", "C", "D"))
]


def masses(folder: Path, dtype: str = "float32") -> list[float]:
    found = [answer.label_mass for answer in completions(open_tiny(folder, dtype=dtype), QUESTIONS)]
    return [mass for mass in found if mass is not None]


def exact(folder: Path) -> list[float]:
    """The same by transformers alone: softmax over the whole vocabulary, at the last token of each prompt."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    found = []
    for question in QUESTIONS:
        with torch.inference_mode():
            logits = model(**tokenizer(question.prompt, return_tensors="pt")).logits[0, -1]
        labels = {tokenizer.convert_tokens_to_ids(label) for label in question.labels}
        found.append(float(logits.double().softmax(-1)[list(labels)].sum()))
    return found


def test_it_is_what_the_logits_of_transformers_say(folder: Path) -> None:
    assert masses(folder) == pytest.approx(exact(folder), abs=1e-5)


def test_in_half_precision_it_is_about_the_same(folder: Path) -> None:
    assert masses(folder, "bfloat16") == pytest.approx(exact(folder), abs=0.01)


def test_a_label_counts_in_all_its_spellings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = open_tiny(folder)
    before, after = (
        completions(model, [Question(kind="choose", prompt=PROMPTS[0], labels=("A",))])[0].label_mass,
        completions(model, [Question(kind="choose", prompt=PROMPTS[0], labels=("A", "green"))])[0].label_mass,
    )
    green = model.encoder._bare_ids("green")[0]
    own = model.encoder.spellings
    monkeypatch.setattr(model.encoder, "spellings", lambda label: own(label) | {green})
    both = completions(model, [Question(kind="choose", prompt=PROMPTS[0], labels=("A",))])[0]
    assert both.label_mass == pytest.approx(after)
    assert both.label_mass > before
    # Which label is chosen is told by the one spelling that follows the prompt.
    assert len(both.option_loglikelihoods or ()) == 1


def test_of_labels_of_several_tokens_the_probabilities_are_added_up(folder: Path) -> None:
    import math

    (answer,) = completions(open_tiny(folder), [Question(kind="choose", prompt=PROMPTS[0], labels=("A B", "B A C"))])
    assert answer.label_mass == pytest.approx(sum(map(math.exp, answer.option_loglikelihoods or ())))


def test_a_model_that_writes_something_else_gives_its_labels_nothing(tmp_path: Path) -> None:
    plant(save_tiny_model(tmp_path), "so")
    assert max(masses(tmp_path)) < 1e-6


def plant(folder: Path, word: str) -> None:
    """Let a saved model begin every reply with a word: its logit lies 30 nats above all others."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        # One number outweighs all others in every token, and so at the last layer, where only that word answers it.
        model.model.embed_tokens.weight[:, 0] = 1000.0
        model.lm_head.weight[:, 0] = 0.0
        model.lm_head.weight[tokenizer.convert_tokens_to_ids(word), 0] = 10.0
    model.save_pretrained(folder)
