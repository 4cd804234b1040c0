"""Prompts and labels as token ids."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, normalizers
from transformers import PreTrainedTokenizerFast

from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.local.prompting import Encoder

PIECES = ["<unk>", "▁", "▁Answer", ":", "▁A", "▁B", "A", "B", "\n", "▁Q", "]"]
PLAIN = "{% for m in messages %}▁Q{% endfor %}{{ ']\n' }}"
STRICT = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}{% endfor %}"


def encoder(*, template: str | None = None, system: str | None = None) -> Encoder:
    """A tokenizer that marks the beginning of every text, as those of the first Llamas do."""
    scores = [(piece, -1.0 - (len(piece) == 1)) for piece in PIECES]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=0))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="<unk>")
    wrapped.chat_template = template
    return Encoder(wrapped, system=system, chat=None)


def pieces(found: Encoder, ids: list[int]) -> list[str]:
    return list(found.tokenizer.convert_ids_to_tokens(ids))


def test_a_label_is_what_it_adds_to_a_prompt() -> None:
    found = encoder()
    assert pieces(found, found.label("A")) == ["▁A"]
    assert [*found.prompt("Answer:"), *found.label("B")] == found.prompt("Answer: B")


def test_a_label_after_a_chat_turn_that_ends_its_line_has_no_space() -> None:
    found = encoder(template=PLAIN)
    assert pieces(found, found.label("A")) == ["A"]


def test_a_template_that_refuses_the_system_instruction_is_told() -> None:
    with pytest.raises(ModelError, match="chat template refuses"):
        encoder(template=STRICT, system="Be brief.").prompt("Q")
