"""Calls of tools that a model asked for: read from every usual layout, compared, and described in words."""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contrapose.tasks.core.bounds import MOST_CHARACTERS, MOST_DEPTH, MOST_NODES, holds_surrogate

TOLERANCE = 1e-9
"""Relative difference up to which two numbers are the same."""
MOST_CALLS = 1_000
"""Calls of one reply that are compared in every order."""
MOST_SHOWN = 60
"""Characters of a value in a sentence."""
CALLERS = (None, "assistant", "model")
"""Roles of the messages whose calls are the model's; a simulated user may have tools of its own."""
WRAPPERS = ("tool_calls", "function_call", "functionCall", "function")
"""Keys that hold nothing but calls."""
CONTAINERS = (*("choices", "candidates", "message", "messages", "output"), "content", "parts", *WRAPPERS[:3])
"""Keys under which a reply holds its calls, besides its texts."""
ARGUMENTS = ("arguments", "args", "input")
"""Names of the arguments: OpenAI's, Gemini's and Anthropic's."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool."""

    name: str
    """The tool."""
    arguments: Any
    """A mapping of names to JSON values; a text where the model wrote no JSON object."""


def read_calls(value: Any) -> list[ToolCall]:
    """Return the calls of a reply, a message or a list of messages, in order; empty where there are none.

    `value` is JSON, or its text, in the layout of OpenAI (chat, responses), Anthropic, Gemini or Inspect, or a list of
    mappings of `name` and `arguments`. Nothing raises: arguments that are no JSON object stay as they are, and
    arguments beyond the bounds stay as text.
    """
    if isinstance(value, str):
        value = parse_json(value)
    return list(_walk(value, depth=0, is_call=False))


def _walk(value: Any, *, depth: int, is_call: bool) -> Iterator[ToolCall]:
    """Yield the calls in a value; `is_call`: a mapping with a name is one, also without arguments."""
    if depth > MOST_DEPTH:
        return
    if isinstance(value, list | tuple):
        for entry in value:
            yield from _walk(entry, depth=depth + 1, is_call=is_call)
    if not isinstance(value, Mapping) or value.get("role") not in CALLERS:
        return
    function = value.get("function")
    if isinstance(function, Mapping):
        yield from _walk(function, depth=depth + 1, is_call=True)
        return
    name = function if isinstance(function, str) else value.get("name")
    key = next((key for key in ARGUMENTS if key in value), None)
    if isinstance(name, str) and (key or is_call):
        yield ToolCall(name, _read_arguments(value[key] if key else None))
        return
    for key in CONTAINERS:
        if isinstance(value.get(key), Mapping | list | tuple):
            yield from _walk(value[key], depth=depth + 1, is_call=key in WRAPPERS)


def _read_arguments(value: Any) -> Any:
    """Return arguments as JSON values; what is no JSON object, or too large, stays a text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    plain = parse_json(value) if isinstance(value, str) else _make_plain(value)
    if isinstance(value, str) and not isinstance(plain, dict):
        return value
    if _is_bounded(plain):
        return plain
    return value if isinstance(value, str) else _dump(plain)


def parse_json(text: str) -> Any:
    """Return the JSON values of a text; None where it is no JSON."""
    if len(text) > MOST_CHARACTERS:
        return None
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    """Raise ValueError for NaN and Infinity, which JSON does not have."""
    raise ValueError(name)


def _make_plain(value: Any) -> Any:
    """Return a value as JSON values; the number 1.0 is 1, and -0 is 0."""
    if isinstance(value, Mapping):
        return {str(key): _make_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(entry) for entry in value]
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value if value is None or isinstance(value, str | int) else str(value)


def _is_bounded(value: Any) -> bool:
    """Return whether a value has as few levels and entries as any arguments have."""
    level, nodes = [value], 0
    for _ in range(MOST_DEPTH):
        nodes += len(level)
        if not level or nodes > MOST_NODES:
            break
        level = [
            child
            for entry in level
            for child in (entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ())
        ]
    return not level


def calls_to_json(calls: Sequence[ToolCall]) -> str:
    """Return calls as canonical JSON: sorted keys, no spaces, the number 1.0 as 1; `read_calls` reads it."""
    return _dump([{"name": call.name, "arguments": _make_plain(call.arguments)} for call in calls])


def _dump(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # No file holds half of a surrogate pair.
    return json.dumps(value, sort_keys=True, separators=(",", ":")) if holds_surrogate(text) else text


def same_call(first: ToolCall, second: ToolCall, tolerance: float = TOLERANCE) -> bool:
    """Return whether two calls are the same: one tool, and arguments that are the same JSON.

    The order of keys, spaces around a text and its Unicode form do not matter, and null is a missing key. Numbers may
    differ by a relative `tolerance`. Up to the default, whole numbers must be equal: long ones are ids.
    """
    return not _compare_calls(first, second, tolerance)


def same_calls(
    first: Sequence[ToolCall], second: Sequence[ToolCall], *, ordered: bool, tolerance: float = TOLERANCE
) -> bool:
    """Return whether two replies make the same calls, in the same order (`ordered`) or in any."""
    if len(first) != len(second):
        return False
    if ordered:
        return all(same_call(*pair, tolerance) for pair in zip(first, second, strict=True))
    return not any(_unmatched(first, second, tolerance))


def difference(
    first: Sequence[ToolCall], second: Sequence[ToolCall], *, ordered: bool = True, tolerance: float = TOLERANCE
) -> str:
    """Return one sentence on the first difference of the second calls from the first; empty where there is none."""
    if same_calls(first, second, ordered=ordered, tolerance=tolerance):
        return ""
    if not first or not second:
        return f"It calls {_list_tools(second)} instead of {_list_tools(first)}."
    if not ordered:
        first, second = _unmatched(first, second, tolerance)
    for number, (one, other) in enumerate(zip(first, second, strict=False), start=1):
        if problem := _compare_calls(one, other, tolerance):
            return f"{f'Call {number}' if ordered else 'A call'}: {problem}."
    rest, word = (second[len(first) :], "more") if len(second) > len(first) else (first[len(second) :], "fewer")
    return f"{'One call' if len(rest) == 1 else f'{len(rest)} calls'} {word}: {_list_tools(rest)}."


def _list_tools(calls: Sequence[ToolCall]) -> str:
    return _shorten(", ".join(call.name for call in calls)) if calls else "no tool"


def _unmatched(
    first: Sequence[ToolCall], second: Sequence[ToolCall], tolerance: float
) -> tuple[list[ToolCall], list[ToolCall]]:
    """Return the calls of both sides that have no partner on the other side."""
    keys = [[_dump([call.name, _normalise(_make_plain(call.arguments))]) for call in side] for side in (first, second)]
    equal = Counter(keys[0]) & Counter(keys[1])
    ones, others = (_take_rest(side, own, equal) for side, own in zip((first, second), keys, strict=True))
    if not ones or not others or len(ones) + len(others) > MOST_CALLS:
        return ones, others
    # Within a tolerance a call may be the same as two that differ: the pairs are a matching.
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    table = csr_array(np.array([[same_call(one, other, tolerance) for other in others] for one in ones]))
    partner = maximum_bipartite_matching(table, perm_type="column")
    taken = set(partner.tolist())
    return (
        [one for one, other in zip(ones, partner, strict=True) if other < 0],
        [other for place, other in enumerate(others) if place not in taken],
    )


def _take_rest(calls: Sequence[ToolCall], keys: Sequence[str], equal: Counter[str]) -> list[ToolCall]:
    """Return the calls beyond those that are equal on both sides."""
    left, rest = Counter(equal), []
    for call, key in zip(calls, keys, strict=True):
        if left[key]:
            left[key] -= 1
        else:
            rest.append(call)
    return rest


def _normalise(value: Any) -> Any:
    """Return a value in the form in which equal ones are equal texts, but for the tolerance of numbers."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value).strip()
    if isinstance(value, list):
        return [_normalise(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _normalise(entry) for key, entry in value.items() if entry is not None}
    return value


def _compare_calls(first: ToolCall, second: ToolCall, tolerance: float) -> str:
    """Return how the second call differs, without a full stop; empty where it does not."""
    if first.name != second.name:
        return f"{_shorten(second.name)} instead of {_shorten(first.name)}"
    one, other = (_normalise(_make_plain(call.arguments)) for call in (first, second))
    problem = _compare(one, other, "", tolerance)
    return problem and f"{_shorten(first.name)}, {problem}"


def _compare(first: Any, second: Any, path: str, tolerance: float) -> str:
    """Return the first difference of JSON values, with its path; empty where there is none."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in [*first, *(key for key in second if key not in first)]:
            inner = f"{path}.{key}" if path else key
            if problem := _compare(first.get(key), second.get(key), inner, tolerance):
                return problem
        return ""
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = enumerate(zip(first, second, strict=True))
        problems = (_compare(one, other, f"{path}[{place}]", tolerance) for place, (one, other) in pairs)
        return next(filter(None, problems), "")
    if _is_same_value(first, second, tolerance):
        return ""
    what = f"argument {_shorten(path)}" if path else "arguments"
    verb = "is" if path else "are"
    if second is None:
        return f"{what} {verb} missing"
    return f"{what} {verb} {_show(second)}" + ("" if first is None else f" instead of {_show(first)}")


def _is_same_value(first: Any, second: Any, tolerance: float) -> bool:
    """Return whether two JSON values without values inside, or of two kinds, are the same."""
    numbers = [value for value in (first, second) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < 2:
        return type(first) is type(second) and bool(first == second)
    if tolerance <= TOLERANCE and all(isinstance(number, int) for number in numbers):
        return bool(first == second)
    try:
        return math.isclose(first, second, rel_tol=tolerance)
    except OverflowError:
        return bool(first == second)


def _show(value: Any) -> str:
    return _shorten(_dump(value))


def _shorten(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
