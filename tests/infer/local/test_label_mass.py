"""How much of the next token's probability a local model gives the labels: as transformers' own logits have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asked_case import case
from plain_broker import completions
from tiny_model import CHAT, save_tiny_model

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.ask import ask
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.budget import Budget
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.local.huggingface import HuggingFace
from contrapose.tasks.infer.local.transformer import TransformerModel
from contrapose.tasks.store import Store

PROMPTS = ["the sky is A . blue B . green Answer :", "the sky is A . green B . blue Answer :", "it was red Answer :"]
QUESTIONS = [
    Question(kind="choose", prompt=prompt, labels=labels)
    for prompt in PROMPTS
    for labels in (("A", "B"), ("A", "B", "C", "D"))
]
THINKING = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}<assistant><think>\n"
THOUGHTLESS = THINKING + "\n</think>\n\n"


def opened(folder: Path, dtype: str = "float32") -> TransformerModel:
    return HuggingFace().open(
        ModelSpec.model_validate(
            {"id": f"hf/{folder}", "args": {"dtype": dtype, "device": "cpu"}, "generation": {"max_new_tokens": 4}}
        )
    )


def masses(folder: Path, dtype: str = "float32") -> list[float]:
    found = [answer.label_mass for answer in completions(opened(folder, dtype), QUESTIONS)]
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
    model = opened(folder)
    before, after = (
        completions(model, [Question(kind="choose", prompt=PROMPTS[0], labels=("A",))])[0].label_mass,
        completions(model, [Question(kind="choose", prompt=PROMPTS[0], labels=("A", "green"))])[0].label_mass,
    )
    green = model.encoder._bare_ids("green")[0]
    own = model.encoder.spellings
    monkeypatch.setattr(model.encoder, "spellings", lambda label: own(label) | {green})
    both = completions(model, [Question(kind="choose", prompt=PROMPTS[0], labels=("A",))])[0]
    assert both.label_mass == pytest.approx(after)
    assert before is not None
    assert both.label_mass is not None
    assert both.label_mass > before
    # Which label is chosen is told by the one spelling that follows the prompt.
    assert len(both.option_loglikelihoods or ()) == 1


def test_of_labels_of_several_tokens_the_probabilities_are_added_up(folder: Path) -> None:
    import math

    (answer,) = completions(opened(folder), [Question(kind="choose", prompt=PROMPTS[0], labels=("A B", "B A C"))])
    assert answer.label_mass == pytest.approx(sum(map(math.exp, answer.option_loglikelihoods or ())))


def test_a_model_that_writes_something_else_gives_its_labels_nothing(tmp_path: Path) -> None:
    plant(save_tiny_model(tmp_path), "so")
    assert max(masses(tmp_path)) < 1e-6


@pytest.mark.usefixtures("own_store")
def test_its_replies_are_read_instead(tmp_path: Path) -> None:
    plant(save_tiny_model(tmp_path), "so")
    model, run = opened(tmp_path), Store().runs.begin("run", config="{}", folder=".")
    first, second, _ = PROMPTS
    chosen = case(
        original_prompt=first,
        perturbed_prompt=second,
        asks="choose",
        scorer="likelihood",
        labels=("A", "B"),
        options=("blue", "green"),
    )
    with StoreBroker(Keys(ModelSpec(id="hf/x"), {}), run=run, model="hf/x", budget=Budget()) as broker:
        (trial,) = ask([chosen], broker, model=lambda: model)
    assert (trial.case.asks, trial.case.scorer) == ("generate", "reply")
    for reply in (trial.expected, trial.actual):
        assert (str(reply.text).split()[0], reply.option_loglikelihoods) == ("so", None)
        assert reply.label_mass is not None
        assert reply.label_mass < 1e-6


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


@pytest.mark.parametrize(("template", "thinks"), [(CHAT, False), (THINKING, True), (THOUGHTLESS, False)])
def test_after_a_template_that_opens_a_thought_labels_are_no_replies(
    tmp_path: Path, template: str, thinks: bool
) -> None:
    model = opened(save_tiny_model(tmp_path, chat_template=template))
    chosen, reply = completions(model, [QUESTIONS[0], Question(kind="generate", prompt=PROMPTS[0])])
    assert (chosen.label_mass == 0) is thinks
    assert (chosen.option_loglikelihoods is None) is thinks
    assert chosen.usage.calls == (0 if thinks else 1)
    # Without the mark nothing would tell a thought that is cut off from a reply.
    assert str(reply.text).startswith("<think>") is thinks
