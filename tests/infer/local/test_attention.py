"""Attention as products of matrices: what torch's kernel gives, for models in use alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plain_broker import completions
from tiny_model import open_tiny, save_tiny_model

from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.local import attention
from contrapose.tasks.infer.local.attention import attend_by_products, find_product_layers

SHAPES = [(1, 1, 1, 16, 16), (3, 4, 1, 147, 169), (2, 4, 2, 40, 40), (2, 6, 6, 33, 50), (1, 8, 2, 200, 201)]
"""Rows, heads, groups, queries and keys."""


def numbers(rows: int, heads: int, groups: int, queries: int, keys: int, *, size: int = 16) -> tuple[Any, Any, Any]:
    """A query as layers hand it over, and keys and values."""
    import torch

    torch.manual_seed(5)
    query = torch.randn(rows, queries, heads, size).to(torch.bfloat16).transpose(1, 2)
    key, value = (torch.randn(rows, groups, keys, size).to(torch.bfloat16) for _ in range(2))
    return query, key, value


def causal(rows: int, queries: int, keys: int) -> Any:
    import torch

    least = torch.finfo(torch.bfloat16).min
    mask = torch.full((rows, 1, queries, keys), least).triu(keys - queries + 1).to(torch.bfloat16)
    # A branch that does not see what stands before it.
    mask[-1, :, queries // 2 :, 1 : queries // 3] = least
    return mask


def exact(query: Any, key: Any, value: Any, mask: Any, *, scaling: float) -> Any:
    """The same in float32, written down as the definition has it."""
    import torch

    heads = query.shape[1] // key.shape[1]
    keys, values = (part.float().repeat_interleave(heads, 1) for part in (key, value))
    scores = query.float() @ keys.transpose(2, 3) * scaling + mask.float()
    return (torch.softmax(scores, -1) @ values).transpose(1, 2)


@pytest.mark.parametrize("scores", [100, 1 << 13, 1 << 19])
@pytest.mark.parametrize("shape", SHAPES)
def test_each_query_gets_what_the_definition_says(
    shape: tuple[int, int, int, int, int], scores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "SCORES", scores)
    given, mask = numbers(*shape), causal(shape[0], *shape[3:])
    got = attend_by_products(*given, mask, scaling=0.3)
    assert got.shape == (shape[0], shape[3], shape[1], 16)
    assert got.float().numpy() == pytest.approx(exact(*given, mask, scaling=0.3).numpy(), abs=0.02)


def test_it_is_as_exact_as_the_kernel() -> None:
    import torch

    given, mask = numbers(2, 4, 1, 147, 169, size=64), causal(2, 147, 169)
    expected = exact(*given, mask, scaling=0.125)
    query, key, value = given
    same = (part.expand(-1, 4, -1, -1) for part in (key, value))
    kernel = torch.nn.functional.scaled_dot_product_attention(query, *same, attn_mask=mask, scale=0.125)
    gap = (attend_by_products(*given, mask, scaling=0.125).float() - expected).abs().mean()
    assert gap < 1.25 * (kernel.transpose(1, 2).float() - expected).abs().mean()


def test_queries_in_any_order_meet_the_keys_that_they_see(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(attention, "SCORES", 100)
    query, key, value = numbers(2, 4, 2, 48, 48)
    mask = causal(2, 48, 48)
    order = torch.randperm(48)[:40]
    whole = attend_by_products(query, key, value, mask, scaling=0.25)
    some = attend_by_products(query[:, :, order], key, value, mask[:, :, order], scaling=0.25)
    assert some.float().numpy() == pytest.approx(whole[:, order].float().numpy(), abs=0.02)


def test_a_mask_of_one_row_of_each_head_or_of_finite_numbers_is_added() -> None:
    import torch

    given = numbers(2, 4, 2, 32, 40)
    for mask in (causal(1, 32, 40), torch.randn(2, 4, 32, 40).to(torch.bfloat16)):
        got = attend_by_products(*given, mask, scaling=0.25).float()
        assert got.numpy() == pytest.approx(exact(*given, mask, scaling=0.25).numpy(), abs=0.02)


def test_a_query_that_sees_nothing_gets_the_mean_of_all_values() -> None:
    import torch

    query, key, value = numbers(1, 2, 1, 20, 20)
    mask = causal(1, 20, 20)
    mask[:, :, 0] = torch.finfo(torch.bfloat16).min
    got = attend_by_products(query, key, value, mask, scaling=0.25)[0, 0]
    assert got.float().numpy() == pytest.approx(value.float().mean(2)[0].expand(2, -1).numpy(), abs=0.01)


QUESTIONS = [
    Question(kind="choose", prompt=f"the sky is {word} " * 6 + "A . blue B . green Answer :", labels=("A", "B"))
    for word in ("red", "not red", "blue and green", "so blue")
]


def test_a_model_attends_by_products_while_it_answers_and_no_other_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, other = (
        open_tiny(save_tiny_model(tmp_path), dtype="bfloat16"),
        open_tiny(tmp_path, dtype="bfloat16"),
    )
    layers: list[Any] = []
    blocks = attention._yield_blocks
    monkeypatch.setattr(attention, "_yield_blocks", lambda mask, stacked: layers.append(1) or blocks(mask, stacked))
    answers = completions(model, QUESTIONS)
    assert layers
    assert not set(model.model.modules()) & set(attention.IN_USE)
    layers.clear()
    other.fused.give_up()
    with model.fused.replace_layers():
        plainly = completions(other, QUESTIONS)
    assert not layers
    for one, another in zip(answers, plainly, strict=True):
        assert one.option_loglikelihoods == pytest.approx(another.option_loglikelihoods, abs=0.1)


def test_in_float32_the_kernel_attends(tmp_path: Path) -> None:
    assert find_product_layers(open_tiny(save_tiny_model(tmp_path)).model) == []


@pytest.mark.parametrize("name", ["position_bias", "softcap", "dropout", "output_attentions"])
def test_what_products_do_not_know_is_left_to_the_kernel(name: str, tmp_path: Path) -> None:
    import torch
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    model = open_tiny(save_tiny_model(tmp_path), dtype="bfloat16")
    (layer, *_) = (part for part in model.model.modules() if type(part).__name__.endswith("Attention"))
    layer.num_key_value_groups = 1
    given, mask = numbers(1, 2, 2, 32, 32), causal(1, 32, 32)
    what = torch.randn(1, 2, 32, 32).to(torch.bfloat16) if name == "position_bias" else 0.5
    attend = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def attended() -> Any:
        torch.manual_seed(1)
        try:
            return attend(layer, *given, mask, **{name: what})[0].tolist()
        except ValueError as error:
            return str(error)

    kernels = attended()
    with model.fused.replace_layers():
        assert attended() == kernels
