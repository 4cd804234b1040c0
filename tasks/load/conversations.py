"""Read conversations in a cell: lists of messages of OpenAI and ShareGPT, turns, transcripts, and their tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from contrapose.tasks.config.data_settings import TurnChoice
from contrapose.tasks.core.chats import NAMES, Chat, Message
from contrapose.tasks.core.tool_calls import calls_to_json, read_calls
from contrapose.tasks.load.rows import CellError, is_missing, parse_literal, quote, require_text

ROLES: Mapping[str, str] = {
    **dict.fromkeys(("user", "human", "prompter", "customer", "question"), "user"),
    **dict.fromkeys(("assistant", "gpt", "model", "bot", "chatgpt", "bard", "bing", "agent", "answer"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "observation", "tool_response", "function_response"), "tool"),
}
"""Who speaks, as data sets call them."""
TRANSCRIPT = re.compile(r"(?:^|\n\n|\s)\[?(Human|User|Assistant)\]?:\s*")
"""The beginning of a turn in a text with a complete conversation, as in Anthropic's data and HaluEval."""
EXPECTED = 'a list of messages such as [{"role": "user", "content": "…"}]'


class Turn(NamedTuple):
    """One turn of a conversation: a role and its text."""

    role: str
    """`user`, `assistant`, `system`, `tool`, or another name of the source."""
    said: str
    calls: Any = None
    """Tools that the assistant calls, as the source has them; None if it calls none."""
    call_id: str = ""
    """The call whose result this is."""


class LastQuestion(NamedTuple):
    """The last turn of a user in a conversation, with the turns before it and the assistant's answer."""

    text: str
    before: str | None
    """A transcript; None if nothing was said before."""
    answer: str | None
    """What the assistant says to it; None if the conversation ends with the user."""


def is_conversation(value: Any) -> bool:
    """Return whether a cell holds a list of messages, or a text that begins with a turn and has at least two."""
    return is_message_list(value) or (isinstance(value, str) and len(_split_transcript(value)) > 1)


def is_message_list(value: Any) -> bool:
    """Return whether a cell holds a list of messages."""
    value = parse_literal(value)
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(
            isinstance(item, Mapping) and ({"role", "content"} <= item.keys() or {"from", "value"} <= item.keys())
            for item in value
        )
    )


def parse_turns(value: Any) -> list[Turn]:
    """Return the turns of a conversation, a list of messages or a transcript, or raise CellError."""
    value = parse_literal(value)
    if isinstance(value, str):
        return _split_transcript(value) or [Turn("user", require_text(value))]
    if not is_message_list(value):
        raise CellError(f"{quote(value)} is no conversation", expected=EXPECTED)
    turns = []
    for message in value:
        role = str(message.get("role", message.get("from"))).strip().lower()
        content = message.get("content", message.get("value"))
        if isinstance(content, list | tuple) and content:
            parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
            if not all(isinstance(part, str) for part in parts):
                raise CellError(f"{quote(content)} in a message", expected="a text, or parts that are texts")
            said = "\n\n".join(map(str, parts))
        else:
            said = "" if is_missing(content) else require_text(content)
        calls = message.get("tool_calls") or message.get("function_call") or None
        if said.strip() or calls:
            turns.append(Turn(ROLES.get(role, role), said, calls, str(message.get("tool_call_id") or "")))
    return turns


def _split_transcript(value: str) -> list[Turn]:
    """Return the turns of a text that names the speaker before each, or [] if it does not begin with a speaker."""
    marks = list(TRANSCRIPT.finditer(value))
    if not marks or value[: marks[0].start()].strip():
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(value)]
    return [
        Turn(ROLES[mark[1].lower()], value[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)
    ]


def find_last_turn(turns: Sequence[Turn], role: str) -> int:
    """Return the place of the last turn of a user or an assistant, or raise CellError."""
    place = max((place for place, turn in enumerate(turns) if turn.role == role), default=None)
    if place is None:
        article = "an" if role == "assistant" else "a"
        raise CellError(f"a conversation without {article} {role}'s message", expected=EXPECTED)
    return place


def find_last_question(turns: Sequence[Turn]) -> LastQuestion:
    """Return the last turn of a user in a conversation, or raise CellError."""
    last = find_last_turn(turns, "user")
    answer = next((turn.said for turn in turns[last + 1 :] if turn.role == "assistant"), None)
    return LastQuestion(turns[last].said, format_turns(turns[:last]), answer)


def format_turns(turns: Sequence[Turn]) -> str | None:
    """Return turns as one text, each after its speaker; a single turn without it; None if there are no turns."""
    if len(turns) < 2:
        return turns[0].said if turns else None
    return "\n\n".join(f"{NAMES.get(turn.role, turn.role)}: {turn.said}" for turn in turns)


def take_first_turn(value: Any) -> str | None:
    """Return the first text of a list of a user's turns, or None if the cell is no such list."""
    value = parse_literal(value)
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return str(value[0])
    return None


Tools = tuple[dict[str, Any], ...]


class AskedChat(NamedTuple):
    """A conversation up to the reply that the model shall give."""

    chat: Chat
    turn: int
    """Place of the message that is the text."""
    answer: str | None
    """What the assistant says next in the data, its text or its calls as JSON; None if the data end there."""

    @property
    def text(self) -> str:
        """Return the text that a test changes."""
        return self.chat.messages[self.turn]["content"]


def read_chat(turns: Sequence[Turn], *, turn: TurnChoice, tools: Tools, system: str | None) -> AskedChat | None:
    """Return turns as a chat, or None if a speaker is unknown to APIs, such as a narrator; raise CellError if unusable.

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
    return AskedChat(Chat(messages=messages, tools=tools), _find_text_turn(messages, turn), answer)


def _find_text_turn(messages: Sequence[Message], turn: TurnChoice) -> int:
    """Return the place of the message that is the text, or raise CellError if there is none."""
    role = "system" if turn == "system" else "user"
    places = [place for place, message in enumerate(messages) if message["role"] == role]
    index = -1 if turn in ("last", "system") else turn - 1 if int(turn) > 0 else int(turn)  # type: ignore[operator]
    try:
        return places[index]
    except IndexError:
        count = f"{len(places)} messages of a user" if role == "user" else "no system prompt"
        expected = "a user's message" if turn == "last" else f"a message for data.turn: {turn}"
        raise CellError(f"a conversation with {count}", expected=expected) from None


def _to_message(turn: Turn) -> Message:
    """Return a turn as a message of OpenAI's API, or raise CellError."""
    message = Message(role=turn.role, content=turn.said)  # type: ignore[typeddict-item]
    if turn.calls:
        listed = turn.calls if isinstance(turn.calls, list | tuple) else [turn.calls]
        read = read_calls(list(listed))
        if len(read) != len(listed):
            raise CellError(f"{quote(turn.calls)} in a message", expected="calls of tools with their names")
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
    """Return the tools in a cell in the form of OpenAI's API, or raise CellError.

    Tools of Anthropic (`input_schema`), older functions of OpenAI and bare functions are read, too.
    """
    value = parse_literal(value)
    expected = 'a list such as [{"type": "function", "function": {"name": "…", "parameters": {…}}}]'
    if not isinstance(value, list | tuple):
        raise CellError(f"{quote(value)} is no list of tools", expected=expected)
    tools = list[dict[str, Any]]()
    for tool in value:
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not function["name"]:
            raise CellError(f"{quote(tool)} is no tool", expected=expected)
        schema = parse_literal(function.get("parameters", function.get("input_schema")))
        own = {name: function[name] for name in ("description", "strict") if name in function}
        parameters = {"parameters": schema} if isinstance(schema, Mapping) else {}
        tools.append({"type": "function", "function": {"name": function["name"], **own, **parameters}})
    names = [tool["function"]["name"] for tool in tools]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise CellError(f"two tools with the name {quote(repeated)}", expected="tools with names that differ")
    return tuple(tools)
