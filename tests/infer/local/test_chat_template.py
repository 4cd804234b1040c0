"""A chat template of one's own, its variables, and the thought that a template opens before the reply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plain_broker import completions
from tiny_model import CHAT, save_tiny_model

from contrapose.tasks.config.model_spec import ModelSpec, Shot
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.local import transformer
from contrapose.tasks.infer.local.huggingface import HuggingFace
from contrapose.tasks.infer.local.transformer import TransformerModel

TURNS = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
OPENS = TURNS + "{% if add_generation_prompt %}<assistant><think>\n{% endif %}"
"""It knows no way to close its thought."""
SWITCHED = TURNS + (
    "{% if add_generation_prompt %}<assistant><think>\n"
    "{% if enable_thinking is defined and not enable_thinking %}\n\n</think>\n\n{% endif %}{% endif %}"
)
WITHOUT = TURNS + (
    "{% if add_generation_prompt %}<assistant>{% if thinking is not defined or thinking %}<think>{% endif %}{% endif %}"
)
WRITES_EMPTY = (
    "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}"
    "{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant><think>\n{% endif %}"
)
WRITES_THOUGHTS = (
    "{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n"
    "{% endif %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant><think>\n{% endif %}"
)
MISTRAL = TURNS + "{% if add_generation_prompt %}[THINK]{% endif %}{% if quick_thinking %}[/THINK]{% endif %}"
CHOOSE = Question(kind="choose", prompt="the sky is A . blue B . green", labels=("A", "B"))
REPLY = Question(kind="generate", prompt="the sky is A . blue B . green")


def spec_of(folder: Path, **settings: Any) -> ModelSpec:
    args = {"dtype": "float32", "device": "cpu", **settings.pop("args", {})}
    return ModelSpec.model_validate(
        {"id": f"hf/{folder}", "args": args, "generation": {"max_new_tokens": 4}} | settings
    )


def opened(folder: Path, **settings: Any) -> TransformerModel:
    return HuggingFace().open(spec_of(folder, **settings))


def identity(folder: Path, **settings: Any) -> dict[str, str]:
    return dict(HuggingFace().identity(spec_of(folder, **settings)))


@pytest.mark.parametrize(
    ("template", "ending", "note"),
    [
        (CHAT, "<assistant>", ""),
        (SWITCHED, "<assistant><think>\n\n</think>\n\n", "closed with enable_thinking: false"),
        (WITHOUT, "<assistant>", "closed with thinking: false"),
        (WRITES_EMPTY, "<assistant><think>\n\n</think>\n\n", r'closed as "<think>\n\n</think>\n\n"'),
        (WRITES_THOUGHTS, "<assistant><think>\n\n</think>\n\n", r'closed as "<think>\n\n</think>\n\n"'),
        (OPENS, "<assistant><think>\n", "not closed: replies are read"),
        # To turn the thought off does not close it there.
        (MISTRAL, "[THINK]", "not closed: replies are read"),
    ],
)
def test_the_thought_is_closed_as_the_template_allows(tmp_path: Path, template: str, ending: str, note: str) -> None:
    save_tiny_model(tmp_path, chat_template=template)
    model, shots = opened(tmp_path), (Shot(user="so", assistant="A"),)
    assert model.encoder.template.note == note
    assert model.encoder.template.format_closed_prompt("blue").endswith(f"<user>blue{ending}")
    with_shots = opened(tmp_path, few_shot=shots, system_instruction="red").encoder.template
    assert with_shots.format_closed_prompt("blue").endswith(f"<user>blue{ending}")
    assert identity(tmp_path).get("thought", "") == note


@pytest.mark.parametrize("template", [SWITCHED, WITHOUT, WRITES_EMPTY, WRITES_THOUGHTS])
def test_letters_are_compared_after_the_closed_thought(tmp_path: Path, template: str) -> None:
    import torch

    model = opened(save_tiny_model(tmp_path, chat_template=template))
    (chosen,) = completions(model, [CHOOSE])
    text = model.encoder.template.format_closed_prompt(CHOOSE.prompt)
    tokens = model.encoder.tokenizer(text, add_special_tokens=False, return_tensors="pt")
    with torch.inference_mode():
        logits = model.model(**tokens).logits[0, -1].log_softmax(-1)
    ids = model.encoder.tokenizer.convert_tokens_to_ids(["A", "B"])
    assert chosen.option_loglikelihoods == pytest.approx(logits[ids].tolist(), abs=1e-4)


def test_a_thought_that_cannot_be_closed_leaves_no_likelihoods_and_room_to_think(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformer, "THOUGHT_ROOM", 40)
    model = opened(save_tiny_model(tmp_path, chat_template=OPENS, context=200))
    chosen, reply = completions(model, [CHOOSE, REPLY])
    assert (chosen.label_mass, chosen.option_loglikelihoods) == (0.0, None)
    assert str(reply.text).startswith("<think>")
    assert 4 < reply.usage.completion_tokens <= 4 + 40


def test_the_room_to_think_ends_where_the_context_does(tmp_path: Path) -> None:
    model = opened(save_tiny_model(tmp_path, chat_template=OPENS, context=40))
    long = Question(kind="generate", prompt=" ".join(["the sky is blue and green"] * 3))
    replies = completions(model, [REPLY, long])
    assert [reply.error for reply in replies] == [None, None]
    sizes = [reply.usage.prompt_tokens + reply.usage.completion_tokens for reply in replies]
    assert max(sizes) <= 40
    assert replies == completions(model, [REPLY]) + completions(model, [long])


def test_a_variable_turns_the_thought_off_for_replies_too(tmp_path: Path) -> None:
    save_tiny_model(tmp_path, chat_template=SWITCHED)
    args = {"chat_template_args": {"enable_thinking": False}}
    chosen, reply = completions(opened(tmp_path, args=args), [CHOOSE, REPLY])
    assert chosen.option_loglikelihoods is not None
    assert not str(reply.text).startswith("<think>")
    assert reply.usage.completion_tokens <= 4
    assert "thought" not in identity(tmp_path, args=args)


def test_a_closed_thought_keeps_replies_thinking(tmp_path: Path) -> None:
    model = opened(save_tiny_model(tmp_path, chat_template=SWITCHED))
    (reply,) = completions(model, [REPLY])
    assert str(reply.text).startswith("<think>")
    own = opened(tmp_path, args={"chat_template_args": {"enable_thinking": True}})
    assert own.encoder.template.note == "not closed: replies are read", "a variable that you set is not overruled"


@pytest.mark.parametrize("as_file", [True, False])
@pytest.mark.parametrize("own", [None, CHAT])
def test_a_template_of_your_own_takes_the_place_of_the_models(tmp_path: Path, own: str | None, as_file: bool) -> None:
    save_tiny_model(tmp_path / "model", chat_template=own)
    given = "{% for m in messages %}[{{ m.content }}]{% endfor %}{{ mood }}"
    (tmp_path / "mine.jinja").write_text(given)
    args = {"chat_template": str(tmp_path / "mine.jinja") if as_file else given, "chat_template_args": {"mood": "!"}}
    assert opened(tmp_path / "model", args=args).encoder.template.format_prompt("blue") == "[blue]!"


def test_template_and_variables_are_part_of_the_keys_of_answers(tmp_path: Path) -> None:
    save_tiny_model(tmp_path / "model", chat_template=SWITCHED)
    (tmp_path / "mine.jinja").write_text(CHAT)
    settings: list[dict[str, Any]] = [
        {},
        {"chat_template": CHAT},
        {"chat_template": TURNS},
        {"chat_template_args": {"enable_thinking": False}},
        {"chat_template_args": {"enable_thinking": True}},
    ]
    keys = [
        Keys(spec_of(tmp_path / "model", args=args), identity(tmp_path / "model", args=args)).make_key(REPLY)
        for args in settings
    ]
    assert len(set(keys)) == len(settings)
    assert "chat_template" not in identity(tmp_path / "model", apply_chat_template=False)
    # A file with another text is another template.
    first = identity(tmp_path / "model", args={"chat_template": str(tmp_path / "mine.jinja")})
    assert first == identity(tmp_path / "model", args={"chat_template": CHAT})
    (tmp_path / "mine.jinja").write_text(TURNS)
    assert first != identity(tmp_path / "model", args={"chat_template": str(tmp_path / "mine.jinja")})


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"chat_template_args": {"enable_thinkin": False}}, "uses: enable_thinking"),
        ({"chat_template_args": {"messages": []}}, "uses: enable_thinking"),
        ({"chat_template_args": {"tokenize": True}}, "uses: enable_thinking"),
        ({"chat_template_args": "no"}, "a mapping"),
        ({"chat_template": CHAT, "chat_template_args": {"x": 1}}, "uses: it uses none"),
        ({"chat_template": "no/such.jinja"}, "a Jinja file that can be read"),
        ({"chat_template": 3}, "a Jinja file that can be read"),
        ({"chat_template": "{% if %}"}, "error in line 1"),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_model_is_loaded(
    tmp_path: Path, args: dict[str, Any], message: str
) -> None:
    save_tiny_model(tmp_path, chat_template=SWITCHED)
    with pytest.raises(ModelError, match=message):
        identity(tmp_path, args=args)


@pytest.mark.parametrize(
    ("own", "settings", "message"),
    [
        (SWITCHED, {"args": {"chat_template": CHAT}, "apply_chat_template": False}, "apply_chat_template is off"),
        (None, {"args": {"chat_template_args": {"enable_thinking": False}}}, "no chat template"),
        (None, {"apply_chat_template": True}, "no chat template"),
    ],
    ids=["a template and none", "variables without a template", "a template that is not there"],
)
def test_settings_that_exclude_each_other_are_refused(
    tmp_path: Path, own: str | None, settings: dict[str, Any], message: str
) -> None:
    save_tiny_model(tmp_path, chat_template=own)
    with pytest.raises(ModelError, match=message):
        identity(tmp_path, **settings)
