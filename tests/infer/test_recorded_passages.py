"""Recorded conversations, calls of tools, and passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from infer.test_recordings import ROWS, written
from plain_broker import ask_prompts

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import Chat
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.tool_calls import ToolCall, split_reply
from contrapose.tasks.infer.recorded import RecordedReplies
from contrapose.tasks.infer.recordings import Selection, read_recording

CALLED = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"to": "Ann"}'}}
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Pay Ann."},
]


def recorded_reply(path: Path, prompt: str) -> Any:
    return ask_prompts(ModelSpec(id=f"recorded/{path}"), prompt).replies(prompt)[0].completion


def test_conversations_with_the_same_last_message_are_told_apart(tmp_path: Path) -> None:
    others = [*TALK[:1], {"role": "user", "content": "Ho"}, *TALK[2:]]
    rows = [{"messages": TALK, "reply": "Paid."}, {"messages": others, "reply": "No."}]
    path = written(tmp_path / "rows.jsonl", rows)
    for messages, reply in ((TALK, "Paid."), (others, "No.")):
        assert recorded_reply(path, Chat(messages=tuple(messages)).prompt).text == reply  # type: ignore[arg-type]


def test_recorded_calls_are_an_answer_where_tools_are_offered(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [CALLED]}
    sample = {
        "id": 1,
        "epoch": 1,
        "input": TALK,
        "messages": [*TALK, message],
        "output": {"choices": [{"message": message}]},
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"samples": [sample]}), encoding="utf-8")
    tool = {"type": "function", "function": {"name": "pay"}}
    chat = Chat(messages=tuple(TALK), tools=(tool,))  # type: ignore[arg-type]
    offered = recorded_reply(path, chat.prompt)
    assert (offered.outcome, split_reply(offered.text).calls) == ("answered", (ToolCall("pay", {"to": "Ann"}),))
    plain = recorded_reply(path, Chat(messages=chat.messages).prompt)
    assert (plain.outcome, plain.text) == ("tool_call", "")


@pytest.mark.parametrize(
    ("row", "columns", "passages"),
    [
        ({"context": ["a", "b"]}, {}, ("a", "b")),
        ({"retrieved_contexts": '["a", "b"]'}, {}, ("a", "b")),
        ({"docs": [{"text": "a"}, {"text": "b"}]}, {"context": "docs.*.text"}, ("a", "b")),
        ({"docs": '[{"text": "a"}]'}, {"context": "docs.*.text"}, ("a",)),
        ({"a.b": ["a"]}, {"context": "a.b"}, ("a",)),
        ({"context": "It is what the question is about."}, {}, None),
        ({"context": None}, {}, None),
        ({"context": ["a"], "error": "it broke"}, {}, None),
        ({}, {}, None),
    ],
)
def test_recorded_passages_are_read(
    row: dict[str, Any], columns: dict[str, str], passages: tuple[str, ...] | None, tmp_path: Path
) -> None:
    recording = read_recording(Selection(source=str(written(tmp_path / "r.jsonl", [ROWS[0] | row])), columns=columns))
    [[completion]] = recording.replies.values()
    assert completion.passages == passages
    assert recording.remarks == {}


def test_both_sides_of_a_row_have_passages_of_their_own(tmp_path: Path) -> None:
    row = {
        "id": 1,
        "reply_original": "Yes.",
        "reply_perturbed": "No.",
        "context_original": ["a"],
        "context_perturbed": [],
    }
    recording = read_recording(Selection(source=str(written(tmp_path / "r.jsonl", [row]))))
    assert {key.side: replies[0].passages for key, replies in recording.replies.items()} == {
        "original": ("a",),
        "perturbed": (),
    }


def test_a_named_column_without_passages_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row | {"docs": [{"id": None}]} for row in ROWS])
    recording = read_recording(Selection(source=str(path), columns={"context": "docs.*.id"}))
    assert "NoneType" in recording.remarks["passages"]


@pytest.mark.parametrize("column", ["none", "none.*.text", "docs.[0]", "docs."])
def test_a_column_of_passages_that_is_not_there_is_told(column: str, tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row | {"docs": ["a"]} for row in ROWS])
    with pytest.raises(ContraposeError, match="there is no column") as caught:
        read_recording(Selection(source=str(path), columns={"context": column}))
    assert "\n" not in str(caught.value)


def test_only_a_recording_with_passages_has_another_identity(tmp_path: Path) -> None:
    plain, rich = (
        RecordedReplies().identity(ModelSpec(id=f"recorded/{written(tmp_path / name, rows)}"))
        for name, rows in (("a.jsonl", ROWS), ("b.jsonl", [row | {"context": ["a"]} for row in ROWS]))
    )
    assert set(rich) - set(plain) == {"passages"}
