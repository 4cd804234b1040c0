"""Recorded conversations, and recorded calls of tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from infer.test_recordings import written
from plain_broker import PlainBroker

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import Chat
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.tool_calls import ToolCall, split_reply
from contrapose.tasks.infer.recorded import RecordedReplies

CALLED = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"to": "Ann"}'}}
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Pay Ann."},
]


def recorded_reply(path: Path, prompt: str) -> Any:
    question, broker = Question(kind="generate", prompt=prompt), PlainBroker()
    RecordedReplies().open(ModelSpec(id=f"recorded/{path}")).answer([question], broker)
    return broker.answers[question].completion


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
