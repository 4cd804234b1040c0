"""Local inference: what a batch returns is what each prompt would have returned alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from plain_broker import PlainBroker, completions
from tiny_model import open_tiny, save_tiny_model

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.budget import Budget, Limits
from contrapose.tasks.infer.local.huggingface import HuggingFace
from contrapose.tasks.infer.local.rows import BatchLimit
from contrapose.tasks.infer.local.transformer import TransformerModel

PROMPTS = ["the sky is", "it was not red and so the sky is blue", "a", "in the sky it is green , on and on"]
QUESTION = "the sky is A . blue B . green Answer :"
LONG = "the sky is " * 100
COLOURS = ("red", "blue", "green", "not", "it")


def generate(prompt: str) -> Question:
    return Question(kind="generate", prompt=prompt)


def choose(prompt: str, *labels: str) -> Question:
    return Question(kind="choose", prompt=prompt, labels=labels)


def loss(prompt: str, text: str) -> Question:
    return Question(kind="loss", prompt=prompt, text=text)


def likelihoods(model: TransformerModel, question: Question) -> tuple[float, ...]:
    found = completions(model, [question])[0].option_loglikelihoods
    assert found is not None
    return found


def test_more_replies_are_written_together_than_prompts_are_read(folder: Path) -> None:
    model = open_tiny(folder)
    model.limit = BatchLimit(tokens=100, wanted=100, replies=200)
    batches: list[int] = []
    model.model.register_forward_pre_hook(
        lambda _, __, named: batches.append(len(named["input_ids"])), with_kwargs=True
    )
    prompts = [f"the sky is {one} {other}" for one in COLOURS for other in COLOURS]
    (size,) = {len(model.encoder.encode_prompts([prompt])[0]) + model.generation.max_new_tokens for prompt in prompts}
    completions(model, [generate(prompt) for prompt in prompts])
    assert max(batches) == 200 // size > 100 // size


def test_label_loglikelihoods_are_the_models_own(folder: Path) -> None:
    import torch

    model = open_tiny(folder)
    tokenizer = model.encoder.tokenizer
    ids = torch.tensor([tokenizer(QUESTION)["input_ids"]])
    with torch.inference_mode():
        logs = model.model(ids).logits[0, -1].log_softmax(-1)
    wanted = [float(logs[tokenizer.convert_tokens_to_ids(label)]) for label in ("A", "B")]
    assert likelihoods(model, choose(QUESTION, "A", "B")) == pytest.approx(wanted, abs=1e-5)


def test_a_label_of_two_tokens_scores_as_the_sum_of_both(folder: Path) -> None:
    model = open_tiny(folder)
    both = likelihoods(model, choose(QUESTION, "A B", "B"))
    first = likelihoods(model, choose(QUESTION, "A"))
    second = likelihoods(model, choose(f"{QUESTION} A", "B"))
    assert both[0] == pytest.approx(first[0] + second[0], abs=1e-4)


def test_loss_is_the_mean_over_the_texts_tokens(folder: Path) -> None:
    model = open_tiny(folder)
    total = likelihoods(model, choose("the sky is", "blue and"))
    assert completions(model, [loss("the sky is", "blue and")])[0].loss == pytest.approx(-total[0] / 2, abs=1e-5)


def test_loss_of_a_whole_prompt_starts_at_the_beginning_mark(folder: Path) -> None:
    found = completions(open_tiny(folder), [loss("", "the sky is blue")])[0].loss
    assert found is not None
    assert math.isfinite(found)


def test_loss_of_an_empty_text_is_none(folder: Path) -> None:
    found = completions(open_tiny(folder), [loss("the sky is", "")])[0]
    assert found.loss is None
    assert found.error is None


def test_a_prompt_that_does_not_fit_is_an_error_and_the_others_are_answered(folder: Path) -> None:
    first, second, third = completions(
        open_tiny(folder), [generate(LONG), generate("the sky is"), choose(LONG, "A", "B")]
    )
    assert "must fit 64" in (first.error or "")
    assert first.text is None
    assert second.error is None
    assert third.error is not None


def test_a_stop_ends_the_reply_and_is_not_part_of_it(folder: Path) -> None:
    questions = [generate(PROMPTS[0])]
    free = completions(open_tiny(folder), questions)[0].text or ""
    word = free.split()[1]
    stopping = open_tiny(folder, generation=Generation(max_new_tokens=8, stop=(word,)))
    assert completions(stopping, questions)[0].text == free.partition(word)[0]


def test_answered_questions_are_not_computed_again_and_do_not_change_the_rest(folder: Path) -> None:
    questions = [choose(f"{prompt} {QUESTION}", "A", "B") for prompt in PROMPTS]
    whole = PlainBroker()
    open_tiny(folder, batch_size=2).answer(questions, whole)
    rest = PlainBroker(answers={questions[1]: whole.answers[questions[1]]})
    open_tiny(folder, batch_size=2).answer(questions, rest)
    put = [answer.question for answers in rest.puts for answer in answers]
    assert sorted(put, key=questions.index) == [questions[0], *questions[2:]]
    for question in questions:
        given, first = rest.answers[question].completion, whole.answers[question].completion
        assert given.option_loglikelihoods == pytest.approx(first.option_loglikelihoods, abs=1e-5)


def test_a_budget_ends_the_run_without_exceeding_it(folder: Path) -> None:
    broker = PlainBroker(budget=Budget(Limits(max_calls=3)))
    questions = [choose(f"{prompt} {QUESTION}", "A", "B") for prompt in PROMPTS]
    open_tiny(folder).answer(questions, broker)
    assert len(broker.answers) == 3
    assert broker.budget.spent.calls == 3
    assert broker.budget.is_idle()
    assert "max_calls = 3" in (broker.stopped or "")


def test_pickled_weights_are_never_loaded(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "m")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="without weights"):
        HuggingFace().identity(ModelSpec(id=f"hf/{folder}"))


def test_transformers_has_nothing_to_warn_of(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    from transformers.utils import logging as said

    level = said.get_verbosity()
    said.set_verbosity_warning()
    said.enable_propagation()
    try:
        model = open_tiny(folder, batch_size=4)
        questions = [make(prompt) for prompt in PROMPTS for make in (generate, lambda text: loss(text, " blue"))]
        completions(model, [*questions, *(choose(f"{prompt} {QUESTION}", "A", "B") for prompt in PROMPTS)])
    finally:
        said.disable_propagation()
        said.set_verbosity(level)
    assert caplog.messages == []


LETTER_PROMPTS = [
    "the sky is A . blue B . green Answer :",
    "the sky is A . green B . blue Answer :",
    "it was red Answer :",
]
LETTER_QUESTIONS = [
    Question(kind="choose", prompt=prompt, labels=labels)
    for prompt in LETTER_PROMPTS
    for labels in (("A", "B"), ("A", "B", "C", "D"))
]


def masses(folder: Path, dtype: str = "float32") -> list[float]:
    found = [answer.label_mass for answer in completions(open_tiny(folder, dtype=dtype), LETTER_QUESTIONS)]
    return [mass for mass in found if mass is not None]


def exact_masses(folder: Path) -> list[float]:
    """The same by transformers alone: softmax over the whole vocabulary, at the last token of each prompt."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    found = []
    for question in LETTER_QUESTIONS:
        with torch.inference_mode():
            logits = model(**tokenizer(question.prompt, return_tensors="pt")).logits[0, -1]
        labels = {tokenizer.convert_tokens_to_ids(label) for label in question.labels}
        found.append(float(logits.double().softmax(-1)[list(labels)].sum()))
    return found


def test_it_is_what_the_logits_of_transformers_say(folder: Path) -> None:
    assert masses(folder) == pytest.approx(exact_masses(folder), abs=1e-5)


def test_in_half_precision_it_is_about_the_same(folder: Path) -> None:
    assert masses(folder, "bfloat16") == pytest.approx(exact_masses(folder), abs=0.01)


def test_a_label_counts_in_all_its_spellings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = open_tiny(folder)
    before, after = (
        completions(model, [Question(kind="choose", prompt=LETTER_PROMPTS[0], labels=("A",))])[0].label_mass,
        completions(model, [Question(kind="choose", prompt=LETTER_PROMPTS[0], labels=("A", "green"))])[0].label_mass,
    )
    green = model.encoder._bare_ids("green")[0]
    own = model.encoder.encode_spellings
    monkeypatch.setattr(model.encoder, "encode_spellings", lambda label: own(label) | {green})
    both = completions(model, [Question(kind="choose", prompt=LETTER_PROMPTS[0], labels=("A",))])[0]
    assert both.label_mass == pytest.approx(after)
    assert both.label_mass > before
    # Which label is chosen is told by the one spelling that follows the prompt.
    assert len(both.option_loglikelihoods or ()) == 1


def test_of_labels_of_several_tokens_the_probabilities_are_added_up(folder: Path) -> None:
    import math

    (answer,) = completions(
        open_tiny(folder), [Question(kind="choose", prompt=LETTER_PROMPTS[0], labels=("A B", "B A C"))]
    )
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
