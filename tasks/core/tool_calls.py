"""Tool calls of a model: parse them from every usual layout, compare them, and describe their differences."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from contrapose.tasks.core.bounds import MOST_CHARACTERS, MOST_DEPTH, SURROGATE, holds_surrogate

TOLERANCE = 1e-9
"""Relative difference up to which two numbers are the same."""
MOST_CALLS = 1_000
"""Calls of one reply that are compared in any order; more are compared in theirs."""
MOST_SHOWN = 60
"""Characters of a value in a sentence."""
CALLERS = (None, "assistant", "model")
"""Roles of the messages whose calls are the model's; a simulated user may have tools of its own."""
WRAPPERS = ("tool_calls", "function_call", "functionCall")
"""Keys that hold nothing but calls."""
CONTAINERS = ("choices", "candidates", "message", "messages", "output", "content", "parts", *WRAPPERS)
"""Keys under which a reply holds its calls, besides its texts."""
ARGUMENTS = ("arguments", "args", "input")
"""Names of the arguments: OpenAI's, Gemini's and Anthropic's."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool."""

    name: str
    """The tool."""
    arguments: Any
    """A mapping of names to JSON values, or a text if the model wrote no JSON object."""

    def __str__(self) -> str:
        plain = _make_plain(self.arguments)
        named = sorted(plain.items()) if isinstance(plain, dict) else [(None, plain)]
        return f"{self.name}({', '.join(f'{name}={_dump(value)}' if name else str(value) for name, value in named)})"


def read_calls(value: Any) -> list[ToolCall]:
    """Return the calls of a reply, a message or a list of messages, in order, or an empty list.

    `value` is JSON, or its text, in the layout of OpenAI (chat, responses), Anthropic, Gemini or Inspect, or a list of
    mappings of `name` and `arguments`. Nothing raises: arguments that are no JSON object, or nested too deeply, stay a
    text.
    """
    return list(_walk(parse_json(value) if isinstance(value, str) else value, depth=0, is_call=False))


def _walk(value: Any, *, depth: int, is_call: bool) -> Iterator[ToolCall]:
    """Yield the calls in a value; with `is_call`, a mapping with a name is a call even without arguments."""
    if isinstance(value, list) and depth < MOST_DEPTH:
        for entry in value:
            yield from _walk(entry, depth=depth + 1, is_call=is_call)
    if not isinstance(value, dict) or depth > MOST_DEPTH or value.get("role") not in CALLERS:
        return
    function = value.get("function")
    own = function if isinstance(function, dict) else value
    name = function if isinstance(function, str) else own.get("name")
    key = next((key for key in ARGUMENTS if key in own), None)
    if isinstance(name, str) and (key or is_call):
        yield ToolCall(SURROGATE.sub("?", name), _read_arguments(own[key] if key else None))
        return
    for container in CONTAINERS:
        if container in value:
            yield from _walk(value[container], depth=depth + 1, is_call=container in WRAPPERS)


def _read_arguments(value: Any) -> Any:
    """Return arguments as JSON values; a text that is no JSON object, or too deeply nested, stays a text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    parsed = parse_json(value) if isinstance(value, str) else value
    if isinstance(value, str) and not isinstance(parsed, dict):
        return value
    try:
        return _make_plain(parsed)
    except RecursionError:
        return value if isinstance(value, str) else _dump(value)


def parse_json(text: str) -> Any:
    """Return the JSON values of a text, or None if it is no JSON or too long."""

    def refuse(name: str) -> None:
        # JSON has no NaN and no Infinity.
        raise ValueError(name)

    try:
        return json.loads(text, parse_constant=refuse) if len(text) <= MOST_CHARACTERS else None
    except (ValueError, RecursionError):
        return None


def _make_plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON values, with 1.0 as 1 and -0 as 0, or raise RecursionError if it is too deep."""
    if depth > MOST_DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        return {str(key): _make_plain(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(entry, depth + 1) for entry in value]
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value if value is None or isinstance(value, str | int) else str(value)


def calls_to_json(calls: Sequence[ToolCall]) -> str:
    """Return calls as canonical JSON: sorted keys, no spaces, the number 1.0 as 1; `read_calls` reads it."""
    return _dump([{"name": call.name, "arguments": _make_plain(call.arguments)} for call in calls])


def _dump(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # No file holds half of a surrogate pair.
    return json.dumps(value, sort_keys=True, separators=(",", ":")) if holds_surrogate(text) else text


def is_same_call(first: ToolCall, second: ToolCall) -> bool:
    """Return whether two calls have the same tool and the same arguments as JSON.

    The order of keys, spaces around a text and its Unicode form do not matter, and null is a missing key. Numbers may
    differ by a rounding error. Whole numbers must be equal: long ones are ids.
    """
    return not _compare_calls(first, second)


def are_same_calls(first: Sequence[ToolCall], second: Sequence[ToolCall], *, ordered: bool) -> bool:
    """Return whether two replies make the same calls, in the same order (`ordered`) or in any order."""
    if len(first) != len(second):
        return False
    if ordered or len(first) > MOST_CALLS:
        return all(map(is_same_call, first, second))
    return not any(_remove_matching_calls(first, second))


def _remove_matching_calls(
    first: Sequence[ToolCall], second: Sequence[ToolCall]
) -> tuple[list[ToolCall], list[ToolCall]]:
    """Return the calls of both sides without the equal pairs."""
    ones, others = list[ToolCall](), list(second)
    for call in first:
        partner = next((place for place, other in enumerate(others) if is_same_call(call, other)), None)
        if partner is None:
            ones.append(call)
        else:
            del others[partner]
    return ones, others


def describe_call_difference(first: Sequence[ToolCall], second: Sequence[ToolCall], *, ordered: bool = True) -> str:
    """Return a sentence about the first difference between two lists of calls, or an empty text."""
    if are_same_calls(first, second, ordered=ordered):
        return ""
    if not first or not second:
        return f"It calls {_list_tools(second)} instead of {_list_tools(first)}."
    if not ordered and max(len(first), len(second)) <= MOST_CALLS:
        first, second = _remove_matching_calls(first, second)
    for number, (one, other) in enumerate(zip(first, second, strict=False), start=1):
        if problem := _compare_calls(one, other):
            return f"{f'Call {number}' if ordered else 'A call'}: {problem}."
    rest, word = (second[len(first) :], "more") if len(second) > len(first) else (first[len(second) :], "fewer")
    return f"{'One call' if len(rest) == 1 else f'{len(rest)} calls'} {word}: {_list_tools(rest)}."


def _list_tools(calls: Sequence[ToolCall]) -> str:
    return _shorten(", ".join(call.name for call in calls)) if calls else "no tool"


def _compare_calls(first: ToolCall, second: ToolCall) -> str:
    """Return how the second call differs, without a full stop, or an empty text."""
    if first.name != second.name:
        return f"{_shorten(second.name)} instead of {_shorten(first.name)}"
    problem = _compare(first.arguments, second.arguments, "")
    return problem and f"{_shorten(first.name)}, {problem}"


def _compare(first: Any, second: Any, path: str) -> str:
    """Return the first difference of JSON values with its path, or an empty text."""
    pairs: Iterator[tuple[str, Any, Any]] = iter(())
    if isinstance(first, dict) and isinstance(second, dict):
        keys = dict.fromkeys([*first, *second])
        pairs = ((f"{path}.{key}" if path else key, first.get(key), second.get(key)) for key in keys)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = ((f"{path}[{place}]", *pair) for place, pair in enumerate(zip(first, second, strict=True)))
    elif not _is_same_value(first, second):
        what = f"argument {_shorten(path)} is" if path else "arguments are"
        if second is None:
            return f"{what} missing"
        return f"{what} {_show(second)}" + ("" if first is None else f" instead of {_show(first)}")
    return next(filter(None, (_compare(one, other, inner) for inner, one, other in pairs)), "")


def _is_same_value(first: Any, second: Any) -> bool:
    """Return whether two plain JSON values, or two values of different types, are the same."""
    if isinstance(first, str) and isinstance(second, str):
        return unicodedata.normalize("NFC", first).strip() == unicodedata.normalize("NFC", second).strip()
    if {type(first), type(second)} - {int, float}:
        return type(first) is type(second) and bool(first == second)
    if first == first // 1 and second == second // 1:
        return bool(first == second)
    try:
        return math.isclose(first, second, rel_tol=TOLERANCE)
    except OverflowError:
        return bool(first == second)


def _show(value: Any) -> str:
    return _shorten(_dump(value))


def _shorten(text: str) -> str:
    text = SURROGATE.sub("?", text)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


_TAGGED = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
"""A call in the text of a reply, as the templates of Hermes, Qwen and many others write it."""
CALLS_MARK = '{"calls": '
"""Beginning of a reply that calls tools, as it is kept."""


def join_reply(text: str, calls: Sequence[ToolCall], *, ordered: bool = False) -> str:
    """Return a reply as it is stored: its text, or JSON of its calls and its text.

    Calls of an application are its steps, whose order counts (`ordered`); those of one reply of a model are not.
    """
    if not calls:
        return text
    order = '"ordered": true, ' if ordered else ""
    return f'{CALLS_MARK}{calls_to_json(calls)}, {order}"reply": {json.dumps(text, ensure_ascii=False)}}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReply:
    """The parts of a reply: its text and its calls."""

    text: str
    """What it says."""
    calls: tuple[ToolCall, ...] = ()
    """Tools that it calls."""
    ordered: bool = False
    """Whether the order of the calls counts."""


def split_reply(reply: str | None) -> SplitReply:
    """Return the parts of a reply that `join_reply` made, or the text of any other reply and the calls in it."""
    if not (reply or "").startswith(CALLS_MARK):
        written = (call for part in _TAGGED.findall(reply or "") for call in read_calls(part))
        return SplitReply(text=_TAGGED.sub("", reply or ""), calls=tuple(written))
    content = parse_json(reply or "")
    if not isinstance(content, dict):
        return SplitReply(text=reply or "")
    calls = tuple(read_calls(content.get("calls")))
    return SplitReply(text=str(content.get("reply") or ""), calls=calls, ordered=content.get("ordered") is True)


def format_reply(reply: str) -> str:
    """Return a reply for display: its calls, one in a line, then its text."""
    parts = split_reply(reply)
    return "\n".join(filter(None, (*map(str, parts.calls), parts.text.strip()))) if parts.calls else reply
