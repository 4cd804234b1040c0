"""Layers in fewer passes: they give what the model's own give, or are not used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plain_broker import completions
from tiny_model import open_tiny, save_tiny_model

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.local import fused
from contrapose.tasks.infer.local.fused import FusedLayers
from contrapose.tasks.infer.local.huggingface import engine
from contrapose.tasks.infer.local.rows import BatchLimit
from contrapose.tasks.infer.local.transformer import TransformerModel

QUESTIONS = [
    Question(kind="choose", prompt=f"the sky is {word} A . blue B . green Answer :", labels=("A", "B"))
    for word in ("red", "not red", "blue and green", "so blue")
]
FAMILIES = ("llama", "qwen3", "mistral", "gemma", "gemma2", "gemma3_text", "olmo2", "phi3")
GATED = {"phi3": 0}
"""Of two layers, those whose feed-forward networks are replaced: phi3 keeps gate and values in one matrix."""


def made(family: str, *, weights: float = 0.3) -> Any:
    """A model of two layers whose norms have learned something."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(3)
    sizes = {
        "vocab_size": 40,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 0,
    }
    model: Any = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **sizes))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 1:
                weight.add_(torch.randn_like(weight) * weights)
    return model.to(torch.bfloat16)


def figures(model: Any) -> Any:
    import torch

    with torch.inference_mode():
        return model(torch.arange(3, 35).reshape(2, 16)).logits.float()


def replaced(model: Any, *kinds: str) -> int:
    """How many of its layers of some kinds have another forward pass."""
    return sum(type(module).__name__.endswith(kinds) and "forward" in module.__dict__ for module in model.modules())


def multiplies_16_bits() -> bool:
    import torch

    # A build without oneDNN has no such operator.
    return bool(getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", bool)())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_gives_what_it_gave(family: str) -> None:
    model = made(family)
    own = figures(model)
    layers = FusedLayers(model)
    norms = sum(type(module).__name__.endswith("RMSNorm") for module in model.modules())
    with layers.replace_layers():
        assert replaced(model, "RMSNorm") == norms > 0
        if multiplies_16_bits():
            assert replaced(model, "MLP") == GATED.get(family, 2)
        assert figures(model).numpy() == pytest.approx(own.numpy(), abs=0.05 * float(own.abs().max()))
        with layers.restore_layers():
            assert (figures(model) == own).all()
        assert replaced(model, "RMSNorm") == norms
    assert replaced(model, "RMSNorm", "MLP") == 0
    assert (figures(model) == own).all()


@pytest.mark.parametrize("weights", [0.001, 60.0])
@pytest.mark.parametrize("family", ["llama", "gemma"])
def test_weights_that_are_added_to_one_are_told_from_those_that_are_not(family: str, weights: float) -> None:
    import torch

    model = made(family, weights=weights)
    norm, numbers = model.model.norm, torch.randn(3, 700, 32).to(torch.bfloat16)
    numbers[0, 0] = 0
    with torch.inference_mode():
        own = norm(numbers).float()
        with FusedLayers(model).replace_layers():
            assert replaced(norm, "RMSNorm") == 1
            assert norm(numbers).float().numpy() == pytest.approx(own.numpy(), rel=2**-6, abs=1e-6)


def test_a_large_norm_is_computed_a_tile_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    factors, numbers = torch.rand(32), torch.randn(2, 4, 50, 32).transpose(1, 2).to(torch.bfloat16)
    whole = fused._make_tiled_norm(factors, 1e-6)(numbers)
    monkeypatch.setattr(fused, "TILE", 1000)
    assert (fused._make_tiled_norm(factors, 1e-6)(numbers) == whole).all()
    expected = torch.nn.functional.rms_norm(numbers.float(), (32,), factors, 1e-6)
    assert whole.float().numpy() == pytest.approx(expected.numpy(), rel=2**-7, abs=1e-6)
    assert fused._make_tiled_norm(factors, 1e-6)(numbers[:0]).shape == (0, 50, 4, 32)


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("silu", ("swish", "")), ("gelu_pytorch_tanh", ("gelu", "tanh")), ("gelu_new", ("gelu", "tanh")),
        ("gelu", ("gelu", "none")), ("relu2", None), ("quick_gelu", None),
    ],
)  # fmt: skip
def test_an_activation_is_told_by_what_it_gives(name: str, names: tuple[str, str] | None) -> None:
    from transformers.activations import ACT2FN

    assert fused._find_activation(ACT2FN[name]) == names


def scaled(module: Any) -> Callable[[Any], Any]:
    return lambda numbers: type(module).forward(module, numbers) * 1.1


def test_a_layer_that_computes_something_else_stays() -> None:
    import torch

    model = made("llama")

    class ScaledRMSNorm(type(model.model.norm)):  # type: ignore[misc]
        def forward(self, hidden: Any) -> Any:
            return super().forward(hidden) * 1.1

    class LimitedMLP(type(model.model.layers[0].mlp)):  # type: ignore[misc]
        def forward(self, hidden: Any) -> Any:
            return self.down_proj(torch.relu(self.act_fn(self.gate_proj(hidden))) * self.up_proj(hidden))

    model.model.norm.__class__ = ScaledRMSNorm
    model.model.layers[0].mlp.__class__ = LimitedMLP
    with FusedLayers(model).replace_layers():
        assert replaced(model, "ScaledRMSNorm") == replaced(model, "LimitedMLP") == 0
        assert replaced(model, "LlamaRMSNorm") == 4


def test_a_layer_that_somebody_changed_stays_as_they_left_it() -> None:
    import torch

    model = made("llama")
    norm, network = model.model.norm, model.model.layers[0].mlp
    norm.forward = changed = scaled(norm)
    network.up_proj = torch.nn.Sequential(network.up_proj)
    layers = FusedLayers(model)
    with layers.replace_layers():
        assert norm.forward is changed
        assert replaced(network, "LlamaMLP") == 0
    assert norm.forward is changed


def test_where_multiplying_takes_the_time_no_layer_is_replaced() -> None:
    import torch

    assert FusedLayers(made("llama").to(torch.float32))._layers == []


def likelihoods(model: TransformerModel) -> list[tuple[float, ...] | None]:
    return [answer.option_loglikelihoods for answer in completions(model, QUESTIONS)]


def test_answers_come_from_the_layers_that_replace_and_later_the_model_is_as_it_was(tmp_path: Path) -> None:
    model = open_tiny(save_tiny_model(tmp_path), dtype="bfloat16")
    calls: list[int] = []
    norm = model.model.model.norm
    (place,) = [number for number, (module, _) in enumerate(model.fused._layers) if module is norm]
    quicker = model.fused._layers[place][1]
    model.fused._layers[place] = norm, lambda numbers: calls.append(1) or quicker(numbers)
    likelihoods(model)
    assert calls
    assert replaced(model.model, "RMSNorm", "MLP") == 0
    assert float(model.notes()["largest_drift_nats"]) < 0.1
    calls.clear()
    completions(model, [Question(kind="generate", prompt="the sky is")])
    assert calls


def test_only_the_first_answers_are_held_against_the_models_own_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_tiny(save_tiny_model(tmp_path), dtype="bfloat16")
    model.scoring.accelerated = True
    model.scoring.limit = BatchLimit(tokens=40, wanted=100)
    plain, norm = model.scoring.forward.compute_alone, model.model.model.norm
    own: list[bool] = []

    def looked_at(queries: Any) -> Any:
        own.append("forward" not in norm.__dict__)
        return plain(queries)

    monkeypatch.setattr(model.scoring.forward, "compute_alone", looked_at)
    likelihoods(model)
    assert own[0]
    assert own[1:]
    assert not any(own[1:])


def test_layers_that_move_likelihoods_are_noticed_and_given_up(tmp_path: Path) -> None:
    model = open_tiny(save_tiny_model(tmp_path), dtype="bfloat16")
    model.scoring.bound = 0.2
    own = open_tiny(tmp_path, dtype="bfloat16")
    own.fused.give_up()
    own.scoring.window = 0
    norm = model.model.model.norm
    model.fused._layers = [(norm, lambda numbers: type(norm).forward(norm, numbers) * 30)]
    assert likelihoods(model) == likelihoods(own)
    assert "off" in str(model.notes()["prefix_sharing"])
    assert model.fused._layers == []
    assert replaced(model.model, "RMSNorm", "MLP") == 0


def test_other_figures_have_another_engine(tmp_path: Path) -> None:
    def number(dtype: str) -> str:
        return engine(ModelSpec(id="hf/x", args={"dtype": dtype, "device": "cpu"}))["engine"]

    assert number("bfloat16") != number("float32")
