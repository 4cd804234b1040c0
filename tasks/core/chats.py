"""Chats: prompts of several messages, with the tools that a model may call.

Every prompt is one text, so that keys, tables and reports need only one form. The prompt of a chat is JSON that begins
with `MARK`; every other text is a prompt of one user message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NotRequired, TypedDict

from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.core.tool_calls import read_calls

MARK = '{"chat": {"messages": ['
"""Beginning of the prompt of a chat."""
NAMES = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
"""Who speaks, in a transcript."""


class Message(TypedDict):
    """A message of a chat, in the form of OpenAI's API."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: NotRequired[list[dict[str, Any]]]
    """Calls of an assistant: `id`, `type` and `function` with its `name` and its `arguments` as JSON."""
    tool_call_id: NotRequired[str]
    """The call whose result a `tool` message is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """The messages before the reply, and the tools that the reply may call."""

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    """As OpenAI's API has them: `type` and `function` with its `name`, `description` and `parameters`."""

    @property
    def prompt(self) -> str:
        """Return the chat as a prompt."""
        content = {"messages": self.messages, **({"tools": self.tools} if self.tools else {})}
        return json.dumps({"chat": content}, ensure_ascii=False)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Return the names of the tools, in their order."""
        return tuple(str(tool["function"]["name"]) for tool in self.tools)

    def last_of(self, role: str) -> int | None:
        """Return the place of the last message of a role, or None if there is none."""
        return max((place for place, message in enumerate(self.messages) if message["role"] == role), default=None)

    def with_prompt(self, turn: int, prompt: str) -> Chat:
        """Return the chat with a prompt as the message at `turn`.

        Of a prompt that is a chat, its last message is; its system prompt and examples come before the conversation.
        """
        own = parse_chat(prompt)
        if own is None:
            return self.with_contents({turn: prompt})
        placed = self.with_contents({turn: own.messages[-1]["content"]}).messages
        systems = [message for message in (*own.messages, *placed) if message["role"] == "system"]
        others = [message for message in (*own.messages[:-1], *placed) if message["role"] != "system"]
        return Chat(messages=(*systems, *others), tools=self.tools)

    def with_contents(self, contents: Mapping[int, str]) -> Chat:
        """Return the chat with the contents of the messages at these places replaced."""
        messages = (
            Message(**{**message, "content": contents.get(place, message["content"])})
            for place, message in enumerate(self.messages)
        )
        return Chat(messages=tuple(messages), tools=self.tools)


@lru_cache(maxsize=256)
def parse_chat(prompt: str) -> Chat | None:
    """Return the chat in a prompt, or None if the prompt is the text of one user message."""
    if not prompt.startswith(MARK):
        return None
    try:
        content = json.loads(prompt)["chat"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    return Chat(messages=tuple(content["messages"]), tools=tuple(content.get("tools", ())))


def refuse_chat_in_text(text: str, *, where: str) -> str:
    """Return a text, or raise ConfigError if it looks like a chat, because data could add a system prompt that way."""
    if text.startswith(MARK):
        raise ConfigError(
            f"a text that begins with {MARK}",
            expected="a text, or a column messages with the conversation",
            remedy="Put the messages into a column messages.",
            where=where,
        )
    return text


def refuse_tools(prompt: str, *, where: str, why: str) -> None:
    """Raise ModelError if a prompt offers tools that the model would not see."""
    chat = parse_chat(prompt)
    if chat is not None and chat.tools:
        raise ModelError(
            f"a prompt that offers {len(chat.tools)} tools, and {why}",
            expected="a model that can be offered tools",
            remedy="Choose another model, or ignore the tools: --set data.columns.tools=",
            where=where,
        )


def format_for_recording(prompt: str) -> str:
    """Return a prompt as recordings write it: the last user message, after a transcript of the messages before it."""
    chat = parse_chat(prompt)
    said = [] if chat is None else [message for message in chat.messages if message["role"] != "system"]
    return format_transcript(said).strip() if chat else prompt.strip()


def format_transcript(messages: Sequence[Message], *, labelled: bool = False) -> str:
    """Return messages as one text, each after its speaker; a single message without it, unless `labelled` is set."""
    if len(messages) == 1 and not labelled and not messages[0].get("tool_calls"):
        return messages[0]["content"]
    return "\n\n".join(f"{NAMES[message['role']]}: {_format_content(message)}" for message in messages)


def format_as_plain_text(prompt: str) -> str:
    """Return a prompt as one text for people and for models without chats; a chat becomes a transcript."""
    chat = parse_chat(prompt)
    return prompt if chat is None else format_transcript(chat.messages)


def format_for_display(prompt: str) -> str:
    """Return a prompt for display; a chat becomes a transcript with a line for each tool."""
    chat = parse_chat(prompt)
    if chat is None:
        return prompt
    tools = [tool["function"] for tool in chat.tools]
    lines = [f"Tool {tool['name']}: {tool.get('description', '')}".rstrip(" :") for tool in tools]
    return "\n\n".join(filter(None, (format_transcript(chat.messages, labelled=True), "\n".join(lines))))


def convert_for_application(prompt: str) -> Any:
    """Return a prompt for an application: the text, the list of messages, or an object with `messages` and `tools`."""
    chat = parse_chat(prompt)
    if chat is None:
        return prompt
    return {"messages": list(chat.messages), "tools": list(chat.tools)} if chat.tools else list(chat.messages)


def _format_content(message: Message) -> str:
    """Return the content of a message, with its calls as JSON."""
    calls = read_calls({"tool_calls": message.get("tool_calls")})
    return "\n".join(filter(None, (message["content"], *map(str, calls))))
