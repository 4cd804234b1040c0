"""Local inference: what a batch returns is what each prompt would have returned alone."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tiny_model import CHAT, save_tiny_model

from contrapose.tasks.config import Generation, ModelSpec
from contrapose.tasks.errors import ModelError
from contrapose.tasks.infer.local import HuggingFace
from contrapose.tasks.infer.transformer import TransformerModel

PROMPTS = ["the sky is", "it was not red and so the sky is blue", "a", "in the sky it is green , on and on"]
QUESTION = "the sky is A . blue B . green Answer :"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def opened(folder: Path, **changes: object) -> TransformerModel:
    spec = ModelSpec.model_validate(
        {
            "id": f"hf/{folder}",
            "args": {"dtype": "float32", "device": "cpu"},
            "generation": Generation(max_new_tokens=8),
            **changes,
        }
    )
    return HuggingFace().open(spec)


def test_replies_do_not_depend_on_the_batch(folder: Path) -> None:
    alone = [opened(folder, batch_size=1).generate([prompt])[0] for prompt in PROMPTS]
    together = opened(folder, batch_size=4).generate(PROMPTS)
    assert [each.text for each in together] == [each.text for each in alone]
    assert [each.usage.prompt_tokens for each in together] == [each.usage.prompt_tokens for each in alone]


def test_label_loglikelihoods_do_not_depend_on_the_batch(folder: Path) -> None:
    model = opened(folder, batch_size=3)
    questions = [(f"{prompt} {QUESTION}", ("A", "B", "C")) for prompt in PROMPTS]
    together = model.choose(questions)
    alone = [model.choose([question])[0] for question in questions]
    for one, other in zip(together, alone, strict=True):
        assert one.option_loglikelihoods == pytest.approx(other.option_loglikelihoods, abs=1e-4)
        assert one.text == other.text


def test_label_loglikelihoods_are_the_models_own(folder: Path) -> None:
    import torch

    model = opened(folder)
    ids = torch.tensor([model.tokenizer(QUESTION)["input_ids"]])
    with torch.inference_mode():
        logs = model.model(ids).logits[0, -1].log_softmax(-1)
    wanted = [float(logs[model.tokenizer.convert_tokens_to_ids(label)]) for label in ("A", "B")]
    assert model.choose([(QUESTION, ("A", "B"))])[0].option_loglikelihoods == pytest.approx(wanted, abs=1e-5)


def test_a_label_of_two_tokens_scores_as_the_sum_of_both(folder: Path) -> None:
    model = opened(folder)
    both = model.choose([(QUESTION, ("A B", "B"))])[0].option_loglikelihoods
    first = model.choose([(QUESTION, ("A",))])[0].option_loglikelihoods
    second = model.choose([(f"{QUESTION} A", ("B",))])[0].option_loglikelihoods
    assert both is not None
    assert first is not None
    assert second is not None
    assert both[0] == pytest.approx(first[0] + second[0], abs=1e-4)


def test_loss_is_the_mean_over_the_texts_tokens(folder: Path) -> None:
    model = opened(folder)
    total = model.choose([("the sky is", ("blue and",))])[0].option_loglikelihoods
    assert total is not None
    assert model.losses([("the sky is", "blue and")])[0] == pytest.approx(-total[0] / 2, abs=1e-5)


def test_loss_of_a_whole_prompt_starts_at_the_beginning_mark(folder: Path) -> None:
    loss = opened(folder).losses([("", "the sky is blue")])[0]
    assert loss is not None
    assert math.isfinite(loss)


def test_loss_of_an_empty_text_is_none(folder: Path) -> None:
    assert opened(folder).losses([("the sky is", "")]) == [None]


def test_a_prompt_that_does_not_fit_is_an_error_and_the_others_are_answered(folder: Path) -> None:
    long = "the sky is " * 100
    first, second = opened(folder).generate([long, "the sky is"])
    assert first.error is not None
    assert "must fit 64" in first.error
    assert first.text is None
    assert second.error is None
    assert opened(folder).choose([(long, ("A", "B"))])[0].error is not None


def test_a_stop_ends_the_reply_and_is_not_part_of_it(folder: Path) -> None:
    free = opened(folder).generate(PROMPTS[:1])[0].text or ""
    word = free.split()[1]
    stopped = opened(folder, generation=Generation(max_new_tokens=8, stop=(word,))).generate(PROMPTS[:1])[0].text
    assert stopped == free.partition(word)[0]


def test_a_chat_template_wraps_the_prompt_and_the_system_instruction(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "chat", chat_template=CHAT)
    model = opened(folder, system_instruction="it was red")
    assert model.chat
    text = model.tokenizer.decode(model._prompt_ids("the sky is"))
    assert text.index("red") < text.index("sky")
    plain = opened(folder, apply_chat_template=False)
    assert not plain.chat
    assert plain._prompt_ids("the sky is") == plain.tokenizer("the sky is")["input_ids"]


def test_a_chat_template_that_is_wanted_and_absent_is_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="no chat template"):
        opened(folder, apply_chat_template=True)


def test_other_weights_in_the_same_folder_are_another_model(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "m", seed=0)
    spec = ModelSpec(id=f"hf/{folder}", args={"device": "cpu"})
    before = HuggingFace().identity(spec)
    assert HuggingFace().identity(spec) == before
    save_tiny_model(tmp_path / "m", seed=1)
    assert HuggingFace().identity(spec)["revision"] != before["revision"]


def test_pickled_weights_are_never_loaded(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "m")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="without weights"):
        HuggingFace().identity(ModelSpec(id=f"hf/{folder}"))
