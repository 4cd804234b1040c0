"""Request bodies and responses of an application: the prompt, the reply and its passages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from contrapose.tasks.core.chats import Chat, Message, format_as_plain_text, parse_chat
from contrapose.tasks.core.tool_calls import join_reply, parse_json, read_calls
from contrapose.tasks.infer.app.worker import MOST_PASSAGES, bound_passages, convert_passages
from contrapose.tasks.infer.base import NO_PASSAGES
from contrapose.tasks.text.cleaning import make_storable

PROMPT, MESSAGES, TOOLS = "{prompt}", "{messages}", "{tools}"
"""Placeholders in a body: of the prompt as text, and of the lists of its messages and of the tools that it offers."""
EVERY = "*"
"""The step of a path that stands for every item of a list."""
MOST_STEPS = 20
LONGEST_PATH = 200
NO_STEP = re.compile(r"\A\Z|\A\s|\s\Z|\A\$\Z|[\[\]*]")
"""Matches a step that is not a name: empty, with blanks around it, or with signs of other path notations."""
PASSAGE_PATH = (
    f"names and places parted by points, with {EVERY} for every item of a list, such as documents.{EVERY}.text, and "
    "not the place of the reply"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPassages:
    """The passages that an application retrieved for one reply."""

    kept: tuple[str, ...] | None = None
    """The passages in order, cut to what is kept; None if it is unknown what was retrieved."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """Warnings about them, by kind."""


def parse_path(path: object) -> tuple[str, ...]:
    """Return the steps of a path, such as `documents.*.text`; no steps if it is not a path.

    A step is a name, the place of an item in a list, from 0, or `*`, which stands for every item.
    """
    if not isinstance(path, str) or not 0 < len(path) <= LONGEST_PATH:
        return ()
    steps = tuple(path.split("."))
    usable = all(step == EVERY or not NO_STEP.search(step) for step in steps)
    return steps if usable and len(steps) <= MOST_STEPS else ()


def fill_body(value: Any, prompt: str) -> Any:
    """Return a request body with the prompt filled in; a prompt cannot change the structure of the body.

    A conversation becomes a transcript if the body wants the prompt as text.
    """
    if value in (MESSAGES, TOOLS):
        chat = parse_chat(prompt) or Chat(messages=(Message(role="user", content=prompt),))
        return list(chat.messages if value == MESSAGES else chat.tools)
    if isinstance(value, Mapping):
        return {name: fill_body(part, prompt) for name, part in value.items()}
    if isinstance(value, list):
        return [fill_body(part, prompt) for part in value]
    return value.replace(PROMPT, format_as_plain_text(prompt)) if isinstance(value, str) else value


def find_reply(content: bytes, path: str, *, calls: str = "") -> str:
    """Return the text at a path in a JSON response; without a path, the field `reply` or the complete text.

    Calls of tools at the path `calls`, or in the field `calls`, are kept with it; with calls there may be no text.
    """
    try:
        returned = json.loads(content)
    except (ValueError, RecursionError):
        if path:
            raise ValueError("no JSON") from None
        return content.decode(errors="replace").strip()
    if not path and isinstance(returned, str):
        return returned
    made = []
    with suppress(ValueError):
        made = read_calls(find_value_at(returned, (calls or "calls").split(".")))
    path = path or "reply"
    try:
        value = find_value_at(returned, path.split("."))
    except ValueError as error:
        if not made:
            raise ValueError(f"{error}: set model_args.reply to the path of the reply") from None
        value = None
    if made and value is None:
        value = ""
    if not isinstance(value, str):
        raise ValueError(f"{type(value).__name__} at {path}, where a text should be")
    return join_reply(value, made, ordered=True)


def parse_command_output(text: str) -> str:
    """Return the text that a command wrote; if it is a JSON object with `calls`, return its calls and its reply."""
    returned = parse_json(text) if text.startswith("{") else None
    if not isinstance(returned, dict) or "calls" not in returned:
        return text
    with suppress(ValueError):
        return find_reply(text.encode(), "")
    return text


def extract_passages(content: bytes, steps: Sequence[str]) -> ReplyPassages:
    """Return the passages at the end of `steps` in a JSON response; without steps, the passages are unknown."""
    if not steps:
        return ReplyPassages()
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return note_missing_passages("what came back is no JSON")
    return collect_passages(value, steps)


def collect_passages(value: Any, steps: Sequence[str]) -> ReplyPassages:
    """Return the passages at the end of some steps in a JSON value: a list, or with `*` the texts of all items."""
    try:
        texts = convert_passages(find_value_at(value, steps))
    except ValueError as error:
        return note_missing_passages(str(error))
    return keep_passages(bound_passages(texts), size=len(texts))


def read_row_passages(row: Mapping[str, Any], column: str) -> ReplyPassages:
    """Return the passages in a row of a table: a list, JSON text, or a path that begins with a column."""
    name, _, path = (column, "", "") if column in row else column.partition(".")
    value = row.get(name)
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return ReplyPassages() if value is None else collect_passages(value, parse_path(path))


def keep_passages(texts: Sequence[str], *, size: int) -> ReplyPassages:
    """Return the first passages for the store, cleaned of control characters and lone surrogates; `size`: of all."""
    remarks = {}
    if size > MOST_PASSAGES:
        text = f"Some replies came with more than {MOST_PASSAGES} passages, such as {size:,}"
        remarks["many passages"] = f"{text}: the first {MOST_PASSAGES} of each are kept and compared."
    return ReplyPassages(kept=tuple(map(make_storable, texts)), remarks=remarks)


def note_missing_passages(why: str) -> ReplyPassages:
    """Return no passages, with a warning that the reply came without any."""
    return ReplyPassages(remarks={"passages": f"{NO_PASSAGES}: {why}."})


def find_value_at(value: Any, steps: Sequence[str]) -> Any:
    """Return the value at the end of some steps; after a `*`, the list of values that the other steps lead to."""
    path = ".".join(steps)

    def walk(value: Any, steps: Sequence[str]) -> Any:
        for place, step in enumerate(steps):
            if step == EVERY:
                if not isinstance(value, list):
                    raise ValueError(f"{type(value).__name__} at {path}, where * wants a list")
                rest = steps[place + 1 :]
                inner = [walk(item, rest) for item in value]
                return [text for items in inner for text in items] if EVERY in rest else inner
            if isinstance(value, Mapping) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                raise ValueError(f"nothing at {path}")
        return value

    return walk(value, steps)
