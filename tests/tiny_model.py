"""A tiny causal language model with random weights, saved as users save theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.infer.local.huggingface import HuggingFace
from contrapose.tasks.infer.local.transformer import TransformerModel

CHAT = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}<assistant>"
VOCABULARY = [
    "A", "B", "C", "D", "Answer", ":", ".", ",", "?", "the", "sky", "is", "blue", "green", "not", "a", "and", "so",
    "it", "was", "red", ",", "in", "on",
]  # fmt: skip


def save_tiny_model(folder: Path, *, chat_template: str | None = None, seed: int = 5, context: int = 64) -> Path:
    """Write config, safetensors and tokenizer of a two-layer Llama over a handful of words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {word: index for index, word in enumerate(dict.fromkeys(["<pad>", "<s>", "</s>", "<unk>", *VOCABULARY]))}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    fast.chat_template = chat_template
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def open_tiny(folder: Path, *, dtype: str = "float32", max_new_tokens: int = 8, **settings: Any) -> TransformerModel:
    """A saved model, on the processor."""
    args, generation = {"dtype": dtype, "device": "cpu"}, {"max_new_tokens": max_new_tokens}
    values = {"id": f"hf/{folder}", "args": args, "generation": generation, **settings}
    return HuggingFace().open(ModelSpec.model_validate(values))
