"""Prompts and labels as token ids."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers
from transformers import PreTrainedTokenizerFast

from contrapose.tasks.config.model_spec import ModelSpec, Shot
from contrapose.tasks.core.chats import Chat, Message
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.local.prompting import Encoder

PIECES = ["<unk>", "▁", "▁Answer", ":", "▁A", "▁B", "A", "B", "\n", "▁Q", "]"]
PLAIN = "{% for m in messages %}▁Q{% endfor %}{{ ']\n' }}"
STRICT = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}{% endfor %}"


def encoder(*, template: str | None = None, **settings: Any) -> Encoder:
    """A tokenizer that marks the beginning of every text, as those of the first Llamas do."""
    scores = [(piece, -1.0 - (len(piece) == 1)) for piece in PIECES]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=0))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="<unk>")
    wrapped.chat_template = template
    return Encoder(wrapped, ModelSpec(id="hf/x", **settings))


def pieces(found: Encoder, ids: list[int]) -> list[str]:
    return list(found.tokenizer.convert_ids_to_tokens(ids))


def test_a_label_is_what_it_adds_to_a_prompt() -> None:
    found = encoder()
    assert pieces(found, found.encode_label("A")) == ["▁A"]
    assert [*found.encode_prompts(["Answer:"])[0], *found.encode_label("B")] == found.encode_prompts(["Answer: B"])[0]


def test_a_label_after_a_chat_turn_that_ends_its_line_has_no_space() -> None:
    found = encoder(template=PLAIN)
    assert pieces(found, found.encode_label("A")) == ["A"]


def test_a_template_that_refuses_the_system_instruction_is_told() -> None:
    with pytest.raises(ModelError, match="chat template refuses"):
        encoder(template=STRICT, system_instruction="Be brief.").encode_prompts(["Q"])[0]


TURNS = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
SHOTS = (Shot(user="Q 1", assistant="A"), Shot(user="Q 2", assistant="B"))


def test_examples_are_turns_of_the_chat_template() -> None:
    turns = encoder(template=TURNS, system_instruction="Be brief.", few_shot=SHOTS).template.format_prompt("Q 3")
    assert turns == "<system>Be brief.<user>Q 1<assistant>A<user>Q 2<assistant>B<user>Q 3<assistant>"


def test_a_template_that_is_turned_off_is_not_used() -> None:
    plain = encoder(template=TURNS, apply_chat_template=False)
    assert (plain.chat, plain.encode_prompts(["Q"])) == (False, encoder().encode_prompts(["Q"]))


def test_examples_are_paragraphs_where_there_is_no_chat() -> None:
    read = encoder(system_instruction="Be brief.", few_shot=SHOTS)
    assert read.encode_prompts(["Q 3"])[0] == encoder().encode_prompts(["Be brief.\n\nQ 1 A\n\nQ 2 B\n\nQ 3"])[0]
    assert read.encode_prompts(["Q 3"])[0] != encoder().encode_prompts(["Q 3"])[0]


def test_a_conversation_and_its_tools_reach_the_chat_template() -> None:
    tool = {"type": "function", "function": {"name": "pay", "description": "Pay.", "parameters": {"type": "object"}}}
    said = (
        Message(role="user", content="Q 1"),
        Message(role="assistant", content="A"),
        Message(role="user", content="Q"),
    )
    chat, offer = Chat(messages=said), Chat(messages=said, tools=(tool,))
    template = "{% for t in tools %}[{{ t.function.name }}]{% endfor %}" + TURNS
    assert (
        encoder(template=template).template.format_prompt(offer.prompt)
        == "[pay]<user>Q 1<assistant>A<user>Q<assistant>"
    )
    assert encoder().encode_prompts([chat.prompt]) == encoder().encode_prompts(
        ["User: Q 1\n\nAssistant: A\n\nUser: Q\n\nAssistant:"]
    )


@pytest.mark.parametrize("template", [None, TURNS])
def test_tools_that_a_model_would_not_see_are_refused(template: str | None) -> None:
    tool = {"type": "function", "function": {"name": "pay"}}
    offer = Chat(messages=(Message(role="user", content="Q 1"),), tools=(tool,))
    with pytest.raises(ModelError, match="offers 1 tools"):
        encoder(template=template).encode_prompts([offer.prompt])
