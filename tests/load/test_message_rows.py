"""Rows with messages, tools or a system prompt become conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from load.sources import loaded, refusal, stored

from contrapose.tasks.core.chats import parse_chat
from contrapose.tasks.core.records import TextSample

OPENAI = {
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": [{"type": "text", "text": "Is the bank open?"}]},
        {"role": "assistant", "content": "Yes."},
    ]
}
SHAREGPT = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}]}
CALLED = {
    "messages": [
        {"role": "user", "content": "Weather in Bonn?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c9", "type": "function", "function": {"name": "look", "arguments": '{"at":"Bonn"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c9", "content": "rain"},
    ]
}
OFFERED = {"name": "look", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}


def samples_of(folder: Path, *rows: Any, **settings: Any) -> list[TextSample]:
    return loaded(stored(folder, rows), **settings).samples


def test_the_last_turn_of_the_user_is_the_text_and_the_next_reply_the_answer(tmp_path: Path) -> None:
    (sample,) = samples_of(tmp_path, OPENAI)
    chat = parse_chat(sample.chat or "")
    assert chat is not None
    assert (sample.text, sample.turn, sample.answers) == ("Is the bank open?", 3, ("Yes.",))
    assert [message["role"] for message in chat.messages] == ["system", "user", "assistant", "user"]
    assert sample.surroundings == "System: Be brief.\n\nUser: Hi\n\nAssistant: Hello."
    assert sample.context is None


@pytest.mark.parametrize(
    ("turn", "text"), [("last", "Is the bank open?"), ("system", "Be brief."), (1, "Hi"), (-2, "Hi")]
)
def test_a_setting_chooses_the_message(tmp_path: Path, turn: Any, text: str) -> None:
    (sample,) = samples_of(tmp_path, OPENAI, turn=turn)
    assert sample.text == text
    assert "[…]" in (sample.surroundings or "") or turn == "last"


@pytest.mark.parametrize(("turn", "said"), [("system", "no system prompt"), (3, "2 messages of a user")])
def test_a_message_that_is_not_there_is_named(tmp_path: Path, turn: Any, said: str) -> None:
    row = {"messages": OPENAI["messages"][1:]}
    assert said in refusal(stored(tmp_path, [row]), turn=turn)


def test_the_layout_of_sharegpt_is_read(tmp_path: Path) -> None:
    (sample,) = samples_of(tmp_path, SHAREGPT)
    assert (sample.text, sample.answers) == ("Hi", ("Hello.",))


def test_calls_and_results_of_tools_stay_in_the_conversation(tmp_path: Path) -> None:
    (sample,) = samples_of(tmp_path, CALLED)
    chat = parse_chat(sample.chat or "")
    assert chat is not None
    assert sample.text == "Weather in Bonn?"
    assert chat.messages[1]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": "Bonn"}'}
    assert chat.messages[2] == {"role": "tool", "content": "rain", "tool_call_id": "c9"}


def test_tools_of_other_layouts_are_offered_and_calls_are_answers(tmp_path: Path) -> None:
    row = {
        "question": "Weather in Bonn?",
        "tools": [OFFERED],
        "answer": [{"name": "look", "arguments": {"at": "Bonn"}}],
    }
    (sample,) = samples_of(tmp_path, row)
    chat = parse_chat(sample.chat or "")
    assert chat is not None
    assert chat.tool_names == ("look",)
    assert chat.tools[0]["function"]["parameters"] == OFFERED["input_schema"]
    assert sample.answers == ('[{"arguments":{"at":"Bonn"},"name":"look"}]',)


def test_a_column_may_hold_the_system_prompt(tmp_path: Path) -> None:
    (sample,) = samples_of(tmp_path, {"question": "Is the bank open?", "system_prompt": "Be brief."})
    assert sample.surroundings == "System: Be brief."


def test_somebody_whom_no_api_knows_speaks_in_a_transcript(tmp_path: Path) -> None:
    row = {"messages": [{"role": "narrator", "content": "It rains."}, {"role": "user", "content": "Does it rain?"}]}
    (sample,) = samples_of(tmp_path, row)
    assert (sample.chat, sample.text, sample.context) == (None, "Does it rain?", "It rains.")


@pytest.mark.parametrize("tools", ["search", [{"type": "function"}], [OFFERED, OFFERED]])
def test_what_is_no_list_of_tools_is_named(tmp_path: Path, tools: Any) -> None:
    assert "tool" in refusal(stored(tmp_path, [{"messages": OPENAI["messages"], "tools": tools}]))
