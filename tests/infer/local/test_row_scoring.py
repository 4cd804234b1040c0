"""Side by side, alone, with kept prefixes, in little memory: the same likelihoods."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from plain_broker import completions
from tiny_model import open_tiny, save_tiny_model

from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.local import passing, rows
from contrapose.tasks.infer.local.transformer import TransformerModel

INSTRUCTION = "it was not red and so the sky is blue ."
OPENINGS = ("the sky is", "a sky is not", "it was on and on", "in the red sky")
QUESTIONS = [
    Question(kind="choose", prompt=f"{INSTRUCTION} {opening} {order} Answer :", labels=labels)
    for opening in OPENINGS
    for order in ("A . blue B . green", "A . green B . blue")
    for labels in (("A", "B"), ("A B", "B A C"))
]
LOSSES = [
    Question(kind="loss", prompt=f"{INSTRUCTION} {opening}", text=text) for opening in OPENINGS for text in OPENINGS
]

LAYERS = {"num_hidden_layers": 2, "num_attention_heads": 4}
FAMILIES: list[tuple[str, dict[str, int]]] = [
    ("gpt2", {"n_embd": 32, "n_layer": 2, "n_head": 4}),
    ("gpt_neox", {**LAYERS, "intermediate_size": 64}),
    ("gptj", {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4}),
    ("qwen3", {**LAYERS, "num_key_value_heads": 2, "intermediate_size": 64, "head_dim": 8}),
    ("bloom", {"n_layer": 2, "n_head": 4}),
    ("mamba", {"num_hidden_layers": 2, "state_size": 4}),
]
"""Learned, partly rotary, then rotary positions in layers or before; distances alone; and no attention at all."""


@pytest.fixture(scope="module")
def sliding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model most of whose layers see 24 tokens back: fewer than some prompts have."""
    import torch
    from transformers import AutoTokenizer, Gemma3ForCausalLM, Gemma3TextConfig

    folder = save_tiny_model(tmp_path_factory.mktemp("sliding"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(3)
    config = Gemma3TextConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=64,
        sliding_window=24,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    Gemma3ForCausalLM(config).save_pretrained(folder)
    return folder


def figures(model: TransformerModel, questions: list[Question]) -> list[float]:
    """All figures of all answers."""
    return all_figures(completions(model, questions))


def all_figures(answers: list[Completion]) -> list[float]:
    return [value for each in answers for value in (each.option_loglikelihoods or (each.loss,)) if value is not None]


@cache
def unshared(folder: Path) -> TransformerModel:
    """A model that computes every query in a row of its own."""
    model = open_tiny(folder)
    model.scoring.window = 0
    return model


@cache
def alone(folder: Path, question: Question) -> Completion:
    """The answer to a question that is asked alone."""
    return completions(unshared(folder), [question])[0]


def one_by_one(folder: Path, questions: list[Question]) -> list[float]:
    return all_figures([alone(folder, question) for question in questions])


def count(model: TransformerModel, name: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each call of a forward pass gets."""
    calls: list[int] = []
    work: Callable[..., Any] = getattr(model.scoring.forward, name)

    def counted(rows: Any, *rest: Any) -> Any:
        calls.append(len(rows))
        return work(rows, *rest)

    monkeypatch.setattr(model.scoring.forward, name, counted)
    return calls


def tokens_of(part: Any) -> list[int]:
    """How many tokens each call of a part of the model gets."""
    calls: list[int] = []
    part.register_forward_pre_hook(lambda _, given: calls.append(given[0].shape[0] * given[0].shape[1]))
    return calls


@pytest.mark.parametrize("questions", [QUESTIONS, LOSSES, [*QUESTIONS, *LOSSES]])
def test_shared_rows_give_what_each_prompt_gives_alone(folder: Path, questions: list[Question]) -> None:
    model = open_tiny(folder)
    assert figures(model, questions) == pytest.approx(one_by_one(folder, questions), abs=1e-4)
    assert model.scoring.common > 0
    assert model.notes()["largest_drift_nats"] == pytest.approx(0, abs=1e-4)


def test_only_prompts_within_the_window_share(sliding: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = open_tiny(sliding)
    shared, plain = count(model, "compute_shared", monkeypatch), count(model, "compute_alone", monkeypatch)
    assert figures(model, QUESTIONS) == pytest.approx(one_by_one(sliding, QUESTIONS), abs=1e-4)
    assert shared
    assert plain


@pytest.mark.parametrize(("family", "sizes"), FAMILIES)
def test_other_families_share_or_decline(tmp_path: Path, family: str, sizes: dict[str, int]) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    folder = save_tiny_model(tmp_path)
    words = len(AutoTokenizer.from_pretrained(folder))
    torch.manual_seed(3)
    marks = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = AutoConfig.for_model(family, vocab_size=words, hidden_size=32, **sizes, **marks)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    model = open_tiny(folder)
    assert figures(model, QUESTIONS[:8]) == pytest.approx(one_by_one(folder, QUESTIONS[:8]), abs=1e-4)
    assert (model.scoring.window > 0) == (family not in ("bloom", "mamba"))


@pytest.mark.parametrize("common", [True, False])
def test_the_last_layer_is_finished_only_for_tokens_that_are_read(folder: Path, common: bool) -> None:
    model = open_tiny(folder)
    first, last = tokens_of(model.model.model.layers[0].mlp), tokens_of(model.model.model.layers[-1].mlp)
    red = Question(kind="choose", prompt="red", labels=("A", "B"))
    questions = [question for question in QUESTIONS if question.labels == red.labels] + [red] * (not common)
    each_alone = one_by_one(folder, questions)
    assert figures(model, questions) == pytest.approx(each_alone, abs=1e-4)
    assert (model.scoring.common > 0) == common
    assert min(few / all_of_them for few, all_of_them in zip(last, first, strict=True)) < 1 / 4
    # Without sharing every layer is whole again.
    model.scoring.window = 0
    first.clear()
    last.clear()
    assert figures(model, questions) == pytest.approx(each_alone, abs=1e-4)
    assert last == first


def test_a_layer_that_cannot_be_finished_in_part_is_finished_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_tiny(folder)
    monkeypatch.setattr(passing, "_select_tokens", lambda value, *_: value)
    first, last = tokens_of(model.model.model.layers[0].mlp), tokens_of(model.model.model.layers[-1].mlp)
    assert figures(model, QUESTIONS) == pytest.approx(one_by_one(folder, QUESTIONS), abs=1e-4)
    assert max(last) == max(first)
    assert "prefix_sharing" not in model.notes()


def test_an_added_mask_serves_a_model_without_sdpa(folder: Path) -> None:
    model = open_tiny(folder)
    model.model.set_attn_implementation("eager")
    assert figures(model, QUESTIONS) == pytest.approx(one_by_one(folder, QUESTIONS), abs=1e-4)


def test_a_model_that_mixes_its_branches_is_computed_unshared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = open_tiny(folder, batch_size=4)
    monkeypatch.setattr(model.scoring.forward, "_convert_mask", lambda mask: mask | True)
    # Random weights hardly attend, so that even a wrong mask moves little.
    model.scoring.bound = 1e-3
    assert figures(model, QUESTIONS) == pytest.approx(one_by_one(folder, QUESTIONS), abs=1e-4)
    assert "off" in str(model.notes()["prefix_sharing"])


def test_a_batch_that_does_not_fit_in_memory_is_halved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    model = open_tiny(folder)
    work = model.model.forward

    def small(*given: Any, **named: Any) -> Any:
        if named["input_ids"].shape[0] > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return work(*given, **named)

    monkeypatch.setattr(model.model, "forward", small)
    assert figures(model, QUESTIONS) == pytest.approx(one_by_one(folder, QUESTIONS), abs=1e-4)
    assert float(model.notes()["batch_halvings"]) >= 1
    assert [each.error for each in completions(model, [Question(kind="generate", prompt="the sky")])] == [None]


def test_a_prompt_that_alone_exceeds_memory_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any, **__: Any) -> Any:
        raise RuntimeError("MPS backend out of memory")

    model = open_tiny(folder)
    monkeypatch.setattr(model.model, "forward", none)
    found = completions(model, [*QUESTIONS[:2], Question(kind="generate", prompt="the sky")])
    assert all("does not fit" in (each.error or "") for each in found)


def test_other_errors_are_not_taken_for_lack_of_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("shapes differ")

    model = open_tiny(folder)
    monkeypatch.setattr(model.model, "forward", broken)
    with pytest.raises(RuntimeError, match="shapes differ"):
        completions(model, QUESTIONS[:2])


def spoil_a_query_left_over(monkeypatch: pytest.MonkeyPatch, heads: int) -> list[int]:
    """Attention that errs as torch's kernel on CUDA does where a query is left over by full blocks (decision 47).

    Returns:
        Queries of each call that had one left over, which grows as the model is used.
    """
    import torch

    right, hit = torch.nn.functional.scaled_dot_product_attention, list[int]()

    def erring(query: Any, key: Any, value: Any, attn_mask: Any = None, **rest: Any) -> Any:
        found = right(query, key, value, attn_mask=attn_mask, **rest)
        if attn_mask is not None and query.shape[2] > 1 and query.shape[2] % rows.BLOCK == 1:
            hit.append(query.shape[2])
            found[:, :, -1] = found[:, :, -1].roll(1, dims=1) + heads
        return found

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", erring)
    return hit


def words(count: int) -> str:
    """A prompt that begins like none of another length."""
    known = ("the", "sky", "is", "red", "and", "not", "blue")
    return " ".join(known[(number * count) % 5 + count % 3] for number in range(1, count + 1))


LEFT_OVER = [Question(kind="choose", prompt=words(count), labels=("A", "B")) for count in range(28, 37)]
"""The longest of every third is a batch's, and one of these has a token more than a block."""


@pytest.mark.parametrize("errs_on", ["cpu", "cuda"])
@pytest.mark.parametrize("window", [1 << 30, 0])
def test_no_batch_is_as_wide_as_a_kernel_errs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, errs_on: str, window: int
) -> None:
    right = [alone(folder, question).option_loglikelihoods for question in LEFT_OVER]
    hit = spoil_a_query_left_over(monkeypatch, heads=4)
    monkeypatch.setattr(rows, "ERRS_ON", errs_on)
    model = open_tiny(folder, batch_size=3)
    model.scoring.window = window
    found = [each.option_loglikelihoods for each in completions(model, LEFT_OVER)]
    same = [one == pytest.approx(other, abs=1e-4) for one, other in zip(found, right, strict=True)]
    assert all(same) == (not hit) == (errs_on == "cpu")


@pytest.mark.parametrize("errs_on", ["cpu", "cuda"])
def test_no_reply_starts_where_a_kernel_errs(folder: Path, monkeypatch: pytest.MonkeyPatch, errs_on: str) -> None:
    asked = [Question(kind="generate", prompt=question.prompt) for question in LEFT_OVER]
    right = [alone(folder, question).text for question in asked]
    hit = spoil_a_query_left_over(monkeypatch, heads=4)
    monkeypatch.setattr(rows, "ERRS_ON", errs_on)
    found = [each.text for each in completions(open_tiny(folder, batch_size=3), asked)]
    assert (found == right) == (not hit) == (errs_on == "cpu")


def test_on_an_accelerator_every_batch_is_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = [alone(folder, question).option_loglikelihoods for question in LEFT_OVER]
    hit = spoil_a_query_left_over(monkeypatch, heads=4)
    model = open_tiny(folder, batch_size=1)
    model.scoring.bound = 1e-3
    model.scoring.accelerated = True
    found = [each.option_loglikelihoods for each in completions(model, LEFT_OVER)]
    assert hit
    assert found == [pytest.approx(each, abs=1e-4) for each in right]
    assert "off" in str(model.notes()["prefix_sharing"])
