"""Conversations as models and applications get them, and replies that call tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from plain_broker import ask_prompts

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import Chat, Message
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.tool_calls import ToolCall, split_reply
from contrapose.tasks.infer.app.responses import fill_body, find_reply, parse_command_output
from contrapose.tasks.infer.app.worker import make_reply_message
from contrapose.tasks.infer.function import offer_function
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai.bodies import RequestBodies
from contrapose.tasks.infer.openai.response_parsing import read_reply

TOOL = {"type": "function", "function": {"name": "pay", "description": "Pay somebody.", "parameters": {}}}
TALK = Chat(
    messages=(
        Message(role="system", content="Be brief."),
        Message(role="user", content="Hi"),
        Message(role="assistant", content="Hello."),
        Message(role="user", content="Pay Ann."),
    )
)
OFFER = Chat(messages=TALK.messages, tools=(TOOL,))
CALL = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"to": "Ann"}'}}


def body(chat: Chat, **args: Any) -> dict[str, Any]:
    address = {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "none", **args}
    question = Question(kind="generate", prompt=chat.prompt)
    sent: dict[str, Any] = json.loads(RequestBodies(spec=ModelSpec(id="openai/x", args=address)).make_body(question))
    return sent


def test_an_endpoint_is_sent_messages_and_tools() -> None:
    assert body(TALK)["messages"] == list(TALK.messages)
    assert "tools" not in body(TALK)
    assert body(OFFER)["tools"] == [TOOL]


def test_an_endpoint_of_completions_is_sent_a_transcript() -> None:
    assert body(TALK, endpoint="completions")["prompt"].endswith("\n\nUser: Pay Ann.\n\nAssistant:")


def test_another_turn_and_another_tool_are_other_questions() -> None:
    keys = Keys(ModelSpec(id="mock"), {})
    chats = (TALK, OFFER, TALK.with_contents({1: "Ho"}), TALK.with_contents({3: "Pay Ben."}))
    assert len({keys.make_key(Question(kind="generate", prompt=chat.prompt)) for chat in chats}) == len(chats)


def reply_with(message: Mapping[str, Any], chat: Chat) -> Any:
    content = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    return read_reply(json.dumps(content).encode(), Question(kind="generate", prompt=chat.prompt))


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": [CALL]},
        {"content": "I pay.", "tool_calls": [CALL]},
        {"content": [{"type": "tool_use", "id": "c1", "name": "pay", "input": {"to": "Ann"}}]},
    ],
)
def test_calls_of_offered_tools_are_the_answer(message: Mapping[str, Any]) -> None:
    completion = reply_with(message, OFFER)
    assert (completion.outcome, completion.is_unread) == ("answered", False)
    parts = split_reply(completion.text)
    assert parts.calls == (ToolCall("pay", {"to": "Ann"}),)
    assert parts.text == (message["content"] if isinstance(message["content"], str) else "")
    assert not parts.ordered


def test_calls_that_nobody_offered_are_no_answer() -> None:
    completion = reply_with({"content": None, "tool_calls": [CALL]}, TALK)
    assert (completion.outcome, completion.text) == ("tool_call", "")


def test_a_function_gets_the_messages_and_returns_its_calls() -> None:
    got: list[Any] = []

    def answer(prompt: Any) -> Mapping[str, Any]:
        got.append(prompt)
        return {
            "reply": "Done.",
            "calls": [{"name": "pay", "arguments": {"to": "Ann"}}, {"name": "log", "arguments": {}}],
        }

    with offer_function(answer) as name:
        broker = ask_prompts(ModelSpec(id=name), TALK.prompt, OFFER.prompt)
    assert sorted(got, key=len) == [
        {"messages": list(TALK.messages), "tools": [TOOL]},
        list(TALK.messages),
    ]
    parts = split_reply(broker.replies(TALK.prompt)[0].completion.text)
    assert (parts.text, parts.ordered, [call.name for call in parts.calls]) == ("Done.", True, ["pay", "log"])


ON_A_DATE = [{"name": "pay", "arguments": {"on": date(2026, 1, 2)}}]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"calls": []}, {"reply": "", "calls": []}),
        ({"calls": ON_A_DATE}, {"reply": "", "calls": [{"name": "pay", "arguments": {"on": "2026-01-02"}}]}),
        ({"reply": "Hi"}, {"reply": "Hi"}),
    ],
)
def test_the_message_of_a_callable_has_its_calls(returned: Mapping[str, Any], message: Mapping[str, Any]) -> None:
    assert make_reply_message(returned) == message


def test_a_body_has_places_for_messages_and_tools() -> None:
    template = {"input": {"messages": "{messages}"}, "tools": "{tools}", "text": "{prompt}"}
    filled = fill_body(template, OFFER.prompt)
    assert filled["input"]["messages"] == list(TALK.messages)
    assert filled["tools"] == [TOOL]
    assert filled["text"].startswith("System: Be brief.\n\nUser: Hi")
    assert fill_body("{messages}", "Hello") == [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("content", "path", "calls", "text"),
    [
        ({"reply": "Hi", "calls": [{"name": "pay", "arguments": {}}]}, "", "", "Hi"),
        ({"calls": [{"name": "pay", "arguments": {}}]}, "", "", ""),
        ({"message": {"content": None, "tool_calls": [CALL]}}, "message.content", "message.tool_calls", ""),
    ],
)
def test_a_response_has_a_reply_and_calls(content: Any, path: str, calls: str, text: str) -> None:
    parts = split_reply(find_reply(json.dumps(content).encode(), path, calls=calls))
    assert (parts.text, parts.calls[0].name, parts.ordered) == (text, "pay", True)


def test_a_command_writes_calls_as_json_or_any_text() -> None:
    assert split_reply(parse_command_output('{"reply": "Hi", "calls": [{"name": "pay", "arguments": {}}]}')).calls
    for text in ("Hi", '{"calls": ', '{"answer": "A"}'):
        assert parse_command_output(text) == text
