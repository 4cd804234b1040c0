"""Chats in rows: the messages that are asked, which of them is the text, and the tools that are offered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from contrapose.tasks.config.data_settings import TurnChoice
from contrapose.tasks.core.chats import NAMES, Chat, Message
from contrapose.tasks.core.tool_calls import calls_to_json, read_calls
from contrapose.tasks.load.conversations import Turn
from contrapose.tasks.load.rows import Unfit, parse_literal, quote

Tools = tuple[dict[str, Any], ...]


class AskedChat(NamedTuple):
    """A conversation up to the reply that is asked for."""

    chat: Chat
    turn: int
    """Place of the message that is the text."""
    answer: str | None
    """What the assistant says next in the data, its text or its calls as JSON; None where the data end there."""

    @property
    def text(self) -> str:
        """The text that a test changes."""
        return self.chat.messages[self.turn]["content"]


def read_chat(turns: Sequence[Turn], *, turn: TurnChoice, tools: Tools, system: str | None) -> AskedChat | None:
    """Return turns as a chat, or raise Unfit; None where somebody speaks whom no API knows, such as a narrator.

    It ends with the last message of a user or a tool. A system prompt of its own wins over `system`.
    """
    if system and all(one.role != "system" for one in turns):
        turns = [Turn("system", system), *turns]
    if any(one.role not in NAMES for one in turns):
        return None
    end = 1 + max((place for place, one in enumerate(turns) if one.role in ("user", "tool")), default=-1)
    messages = tuple(map(_to_message, turns[:end]))
    following = turns[end] if end < len(turns) else None
    answer = following and (calls_to_json(read_calls(following.calls)) if following.calls else following.said)
    return AskedChat(Chat(messages=messages, tools=tools), _place_of(messages, turn), answer)


def _place_of(messages: Sequence[Message], turn: TurnChoice) -> int:
    """Return the place of the message that is the text, or raise Unfit where there is none."""
    role = "system" if turn == "system" else "user"
    places = [place for place, message in enumerate(messages) if message["role"] == role]
    index = -1 if turn in ("last", "system") else turn - 1 if int(turn) > 0 else int(turn)  # type: ignore[operator]
    try:
        return places[index]
    except IndexError:
        count = f"{len(places)} messages of a user" if role == "user" else "no system prompt"
        expected = "a user's message" if turn == "last" else f"a message for data.turn: {turn}"
        raise Unfit(f"a conversation with {count}", expected=expected) from None


def _to_message(turn: Turn) -> Message:
    """Return a turn as OpenAI's API has it, or raise Unfit."""
    message = Message(role=turn.role, content=turn.said)  # type: ignore[typeddict-item]
    if turn.calls:
        listed = turn.calls if isinstance(turn.calls, list | tuple) else [turn.calls]
        read = read_calls(list(listed))
        if len(read) != len(listed):
            raise Unfit(f"{quote(turn.calls)} in a message", expected="calls of tools with their names")
        message["tool_calls"] = [
            {
                "id": str(raw.get("id") or f"call_{number}") if isinstance(raw, Mapping) else f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for number, (raw, call) in enumerate(zip(listed, read, strict=True), start=1)
        ]
    if turn.role == "tool":
        message["tool_call_id"] = turn.call_id or "call_1"
    return message


def read_tools(value: Any) -> Tools:
    """Return the tools that a cell offers as OpenAI's API has them, or raise Unfit.

    Tools of Anthropic (`input_schema`), older functions of OpenAI and bare functions are read, too.
    """
    value = parse_literal(value)
    expected = 'a list such as [{"type": "function", "function": {"name": "…", "parameters": {…}}}]'
    if not isinstance(value, list | tuple):
        raise Unfit(f"{quote(value)} is no list of tools", expected=expected)
    tools = list[dict[str, Any]]()
    for tool in value:
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not function["name"]:
            raise Unfit(f"{quote(tool)} is no tool", expected=expected)
        schema = parse_literal(function.get("parameters", function.get("input_schema")))
        own = {name: function[name] for name in ("description", "strict") if name in function}
        parameters = {"parameters": schema} if isinstance(schema, Mapping) else {}
        tools.append({"type": "function", "function": {"name": function["name"], **own, **parameters}})
    names = [tool["function"]["name"] for tool in tools]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise Unfit(f"two tools with the name {quote(repeated)}", expected="tools with names that differ")
    return tuple(tools)
