"""Conversations in a cell: lists of messages as OpenAI and ShareGPT store them, lists of turns, and transcripts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from contrapose.tasks.load.rows import Unfit, is_missing, shown, structured, text

ROLES: Mapping[str, str] = {
    **dict.fromkeys(("user", "human", "prompter", "customer", "question"), "user"),
    **dict.fromkeys(("assistant", "gpt", "model", "bot", "chatgpt", "bard", "bing", "agent", "answer"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
}
"""Who speaks, as data sets call them."""
NAMES = {"user": "User", "assistant": "Assistant", "system": "System"}
"""Who speaks, in a transcript that a model is shown."""
TRANSCRIPT = re.compile(r"(?:^|\n\n|\s)\[?(Human|User|Assistant)\]?:\s*")
"""Where a turn begins in a text that holds a whole conversation, as Anthropic's and HaluEval's do."""
EXPECTED = 'a list of messages such as [{"role": "user", "content": "…"}]'


class Turn(NamedTuple):
    """What somebody says in a conversation."""

    role: str
    """`user`, `assistant`, `system`, or another name of the source."""
    said: str
    """The text."""


class LastQuestion(NamedTuple):
    """The last thing that a user says in a conversation, with what comes before and after it."""

    text: str
    """What the user says last."""
    before: str | None
    """What was said before, as a transcript; None where nothing was."""
    answer: str | None
    """What the assistant says to it; None where the conversation ends with the user."""


def is_conversation(value: Any) -> bool:
    """Whether a cell holds a list of messages."""
    value = structured(value)
    return isinstance(value, list | tuple) and bool(value) and all(_is_message(item) for item in value)


def is_transcript(value: Any) -> bool:
    """Whether a text begins with the first turn of a conversation, and holds a further one."""
    return isinstance(value, str) and len(turns_of_transcript(value)) > 1


def turns_of(value: Any) -> list[Turn]:
    """The turns of a conversation: a list of messages, or a transcript.

    Raises:
        Unfit: it is neither, or a message has no text.
    """
    value = structured(value)
    if isinstance(value, str):
        return turns_of_transcript(value) or [Turn("user", text(value))]
    if not is_conversation(value):
        raise Unfit(f"{shown(value)} is no conversation", expected=EXPECTED)
    turns = [_turn(message) for message in value]
    return [turn for turn in turns if turn.said.strip()]


def turns_of_transcript(value: str) -> list[Turn]:
    """The turns of a text that says who speaks before each; none where it does not begin with one."""
    marks = list(TRANSCRIPT.finditer(value))
    if not marks or value[: marks[0].start()].strip():
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(value)]
    return [
        Turn(ROLES[mark[1].lower()], value[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)
    ]


def question_of(turns: Sequence[Turn]) -> LastQuestion:
    """What a user says last in a conversation.

    Raises:
        Unfit: no user says anything.
    """
    last = max((place for place, turn in enumerate(turns) if turn.role == "user"), default=None)
    if last is None:
        raise Unfit("a conversation without a user's message", expected=EXPECTED)
    answer = next((turn.said for turn in turns[last + 1 :] if turn.role == "assistant"), None)
    return LastQuestion(turns[last].said, transcript(turns[:last]), answer)


def reply_of(turns: Sequence[Turn]) -> tuple[str | None, str]:
    """What comes before the last reply of an assistant, as a text, and the reply.

    Raises:
        Unfit: no assistant says anything.
    """
    last = max((place for place, turn in enumerate(turns) if turn.role == "assistant"), default=None)
    if last is None:
        raise Unfit("a conversation without an assistant's message", expected=EXPECTED)
    return transcript(turns[:last]), turns[last].said


def transcript(turns: Sequence[Turn]) -> str | None:
    """Turns as one text, each after who says it; a single one alone. None where there are none."""
    if not turns:
        return None
    if len(turns) == 1:
        return turns[0].said
    return "\n\n".join(f"{NAMES.get(turn.role, turn.role)}: {turn.said}" for turn in turns)


def first_of_turns(value: Any) -> str | None:
    """The first of a list of texts that a user says one after the other; None where the cell is no such list."""
    value = structured(value)
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return str(value[0])
    return None


def _is_message(item: Any) -> bool:
    return isinstance(item, Mapping) and ({"role", "content"} <= item.keys() or {"from", "value"} <= item.keys())


def _turn(message: Mapping[str, Any]) -> Turn:
    role = str(message.get("role", message.get("from"))).strip().lower()
    return Turn(ROLES.get(role, role), _said(message.get("content", message.get("value"))))


def _said(content: Any) -> str:
    """The text of a message, whose content may be a list of parts."""
    if is_missing(content):
        return ""
    if isinstance(content, list | tuple):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        if not all(isinstance(part, str) for part in parts):
            raise Unfit(f"{shown(content)} in a message", expected="a text, or parts that are texts")
        return "\n\n".join(map(str, parts))
    return text(content)
