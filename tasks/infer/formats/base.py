"""Shared code of the formats of recorded replies: selections of rows, messages, and completions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from contrapose.tasks.config.data_settings import EveryColumn
from contrapose.tasks.core.chats import Message, format_transcript
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion
from contrapose.tasks.core.registry import find
from contrapose.tasks.core.tool_calls import join_reply, read_calls
from contrapose.tasks.infer.openai.response_parsing import ErrorReplyError, read_reply

Row = Mapping[str, Any]
Records = Iterable[tuple[int, Row]]
"""Rows with their numbers."""
BY_COLUMNS = "Correct the file, or name its columns in model_args.columns."
SHOWN = 12
"""Names that an error lists."""
PLAIN = Question(kind="generate", prompt="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which rows and columns of a file are read."""

    source: str
    """Path or fsspec URL."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Our names of the parts of a row, to the columns."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Values of columns that a row must have."""
    requests: str = ""
    """Path or URL of the requests that a file of batch results answers."""

    @property
    def files(self) -> list[str]:
        """Files that are read."""
        return [self.source, *filter(None, [self.requests])]

    def make_error(
        self, observed: str, *, expected: str, remedy: str = "Correct the file or its name.", part: str = ""
    ) -> DataError:
        """Return the error for something wrong in the file, or in a part of it."""
        return DataError(observed, expected=expected, remedy=remedy, where=", ".join(filter(None, [self.source, part])))


class Format(NamedTuple):
    """A file format in which a tool writes replies."""

    name: str
    """In the words of an error."""
    recognizes: Callable[[Row], bool]
    """Returns whether the first record of a file is of this format."""
    reader: Callable[[Selection], Callable[[Row], Iterable[Row]]]
    """Returns a function for one file that returns the rows of a record: `prompt`, `reply` and what else it has."""
    remedy: str = "Correct the file."
    """What helps where a record is built otherwise."""


def yield_rows(format: Format, records: Records, selection: Selection) -> Records:
    """Yield the rows of records with the record numbers, or raise DataError for a record of another structure."""
    read = format.reader(selection)
    for number, record in records:
        try:
            rows = list(read(record))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            remedy, part = format.remedy, f"row {number}"
            seen = "something that is built otherwise"
            raise selection.make_error(seen, expected=format.name, remedy=remedy, part=part) from error
        yield from ((number, row) for row in rows)


def yield_table_rows(selection: Selection, source: str, format: str) -> Records:
    """Yield the rows of a table with their numbers, or raise DataError for the first row that cannot be read."""
    for row in find("sources", format)(EveryColumn(source=source, format=format)):
        if (problem := row.problem) is not None:
            remedy = f"{problem.remedy}."
            where = f"{source}, row {row.number}"
            raise DataError(problem.observed, expected=problem.expected, remedy=remedy, where=where)
        yield row.number, row.values


def parse_if_json(text: Any, *opening: str) -> Any:
    """Return the JSON value of a text that begins like JSON; return anything else unchanged."""
    if isinstance(text, str) and text.lstrip().startswith(opening):
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    return text


def extract_prompt(value: Any) -> str:
    """Return the prompt in a text or in messages: the last message of the user."""
    value = parse_if_json(value, "[{")
    if isinstance(value, list):
        asked = [message for message in value if isinstance(message, Mapping) and message.get("role") == "user"]
        value = _content(asked[-1].get("content")) if asked else ""
    return str(value or "").strip()


def format_conversation(value: Any) -> str | None:
    """Return messages as a transcript without system prompts and reply, or None for a text or a single message."""
    value = parse_if_json(value, "[{")
    said = [
        Message(
            role=one["role"], content=str(_content(one.get("content")) or ""), tool_calls=one.get("tool_calls") or []
        )
        for one in (value if isinstance(value, list) else [])
        if isinstance(one, Mapping) and one.get("role") in ("user", "assistant", "tool")
    ]
    while said and said[-1]["role"] == "assistant":
        said.pop()
    return format_transcript(said).strip() if len(said) > 1 else None


def is_after_tool_call(prompt: Any) -> bool:
    """Return whether messages end with the result of a tool."""
    last = prompt[-1] if isinstance(prompt, list) and prompt else None
    return isinstance(last, Mapping) and last.get("role") in ("tool", "function")


def _content(value: Any) -> Any:
    """Return the text of a message; join its parts if it has several."""
    if not isinstance(value, list):
        return value
    parts = [part for part in value if isinstance(part, Mapping) and "text" in str(part.get("type", "text"))]
    return "".join(str(part.get("text", "")) for part in parts)


def make_completion(message: Any, finish: Any = None) -> Completion:
    """Return the completion of a message in OpenAI's format, or of its content; `finish`: why it ended."""
    message = message if isinstance(message, Mapping) else {"content": message}
    body = {"choices": [{"message": message, "finish_reason": finish}]}
    try:
        reply = read_reply(json.dumps(body).encode(), PLAIN)
        # Whether tools were offered is known when the reply is looked up.
        calls = read_calls(dict(message)) if reply.outcome in ("answered", "tool_call") else []
        return replace(reply, text=join_reply(reply.text or "", calls), outcome="tool_call") if calls else reply
    except ErrorReplyError as error:
        return Completion(error=str(error))


def make_failed(error: Any) -> Completion:
    """Return the completion of a call that failed, with the error that its tool wrote."""
    return Completion(error=str(error.get("message") or error) if isinstance(error, Mapping) else str(error))
