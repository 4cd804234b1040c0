"""Prompts that are chats: one text, and back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contrapose.tasks.config.model_spec import ModelSpec, Shot
from contrapose.tasks.core.chats import (
    MARK,
    Chat,
    Message,
    convert_for_application,
    format_as_plain_text,
    format_for_display,
    parse_chat,
    refuse_chat_in_text,
)
from contrapose.tasks.core.errors import ConfigError

TOOL = {"type": "function", "function": {"name": "pay", "description": "Pay somebody.", "parameters": {}}}
CHAT = Chat(
    messages=(
        Message(role="system", content="Be brief."),
        Message(role="user", content="Hi"),
        Message(role="assistant", content="Hello."),
        Message(role="user", content='Say "yes".\nNow.'),
    )
)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text()), min_size=1))
def test_a_prompt_is_the_chat_that_it_was_made_of(turns: list[tuple[str, str]]) -> None:
    chat = Chat(messages=tuple(Message(role=role, content=said) for role, said in turns), tools=(TOOL,))  # type: ignore[typeddict-item]
    assert parse_chat(chat.prompt) == chat


@pytest.mark.parametrize("prompt", ["", "Hi", '{"messages": []}', MARK, MARK + "]"])
def test_every_other_text_is_a_plain_prompt(prompt: str) -> None:
    assert parse_chat(prompt) is None
    assert (format_as_plain_text(prompt), convert_for_application(prompt)) == (prompt, prompt)


def test_data_cannot_bring_messages_in_a_text() -> None:
    with pytest.raises(ConfigError, match="column messages"):
        refuse_chat_in_text(CHAT.prompt, where="tests.x")


def test_a_model_is_sent_the_messages_with_one_system_prompt() -> None:
    spec = ModelSpec(id="mock", system_instruction="Be kind.", few_shot=(Shot(user="1+1", assistant="2"),))
    sent = spec.messages(CHAT.prompt)
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert sent[0]["content"] == "Be kind.\n\nBe brief."
    assert sent[-1]["content"] == 'Say "yes".\nNow.'


def test_a_model_without_a_chat_template_reads_a_transcript() -> None:
    text = ModelSpec(id="mock").in_one_text(CHAT.prompt)
    assert text == 'System: Be brief.\n\nUser: Hi\n\nAssistant: Hello.\n\nUser: Say "yes".\nNow.\n\nAssistant:'


def test_a_transcript_that_asks_for_an_answer_ends_there() -> None:
    asked = CHAT.with_contents({3: "Is it so?\nA. yes\nB. no\nAnswer:"})
    assert ModelSpec(id="mock").in_one_text(asked.prompt).endswith("\nB. no\nAnswer:")


def test_an_application_gets_the_list_or_an_object_with_the_tools() -> None:
    assert convert_for_application(CHAT.prompt) == list(CHAT.messages)
    both = Chat(messages=CHAT.messages, tools=(TOOL,))
    assert convert_for_application(both.prompt) == {"messages": list(CHAT.messages), "tools": [TOOL]}


def test_people_read_who_says_what_and_the_tools() -> None:
    shown = format_for_display(Chat(messages=CHAT.messages[1:], tools=(TOOL,)).prompt)
    assert shown == 'User: Hi\n\nAssistant: Hello.\n\nUser: Say "yes".\nNow.\n\nTool pay: Pay somebody.'


def test_a_template_of_several_messages_stands_around_a_conversation() -> None:
    own = Chat(
        messages=(
            Message(role="system", content="Grade."),
            Message(role="user", content="2+2"),
            Message(role="assistant", content="4"),
            Message(role="user", content="Q: now"),
        )
    )
    placed = CHAT.with_prompt(3, own.prompt)
    assert [message["content"] for message in placed.messages] == [
        "Grade.", "Be brief.", "2+2", "4", "Hi", "Hello.", "Q: now",
    ]  # fmt: skip
