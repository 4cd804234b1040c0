"""Rows of a data source as they were read, and checks of single cells."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contrapose.tasks.core.bounds import MOST_CHARACTERS

SHOWN = 80
"""Characters of a value that an error shows."""
LITERAL = re.compile(
    r"""\s*(?:(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"""
    r"""|(?P<word>True|False|None|nan)|(?P<left>array\(|[\[{(])|(?P<right>(?:,\s*dtype=\w+)?\)|[\]}])|(?P<mark>[,:]))\s*""",
    re.DOTALL,
)
"""The next part of a list or an object as Python and numpy write it."""
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
"""A character in a text of Python that is written with a backslash."""
WORDS = {"True": "true", "False": "false", "None": "null", "nan": "null"}
CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
KINDS = {bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "an object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a data source, or the problem with it."""

    number: int
    """1-based, as a person counts in that file: the line of a JSONL file, the record of a JSON list,
    a Parquet file or a dataset, the row of a CSV file or sheet with its header as row 1."""
    values: Mapping[str, Any] = field(default_factory=dict)
    problem: Problem | None = None
    """Why the row could not be read; `values` is empty then."""
    notes: tuple[str, ...] = ()
    """What people should know about how the source is read; the first row has them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with one row or cell, in the words of an error."""

    observed: str
    """What was met, with its value; reads on after "row 7: "."""
    expected: str
    column: str | None = None
    """Where it was met; None if it is the complete row."""
    remedy: str = "Correct that row"
    """What to do about it, without the full stop."""
    also: tuple[Problem, ...] = ()
    """What else is wrong with the same row."""


@dataclass(frozen=True, slots=True)
class Omission:
    """The reason why a correct row gives no sample, for example because the judges call a pair a tie."""

    reason: str
    """Follows a count of rows: `3 rows: a tie`."""


class CellError(Exception):
    """A cell cannot be used; the error says why."""

    def __init__(self, observed: str, *, expected: str) -> None:
        """Keep the words for the final error."""
        super().__init__(observed)
        self.problem = Problem(observed, expected)


def quote(value: object) -> str:
    """Return a value as errors quote it: one line, at most 80 characters, control characters escaped."""
    whole = repr(value[: SHOWN + 1] if isinstance(value, str) else value)
    return whole if len(whole) <= SHOWN else whole[: SHOWN - 1] + "…"


def quote_all(names: Sequence[object], *, most: int = 12) -> str:
    """Return names as errors list them, with a count of the omitted ones."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(quote(name) for name in names[:most]) or "none") + rest


def escape(text: str, *, most: int = 300) -> str:
    """Return a text without quotes, such as a path, with control characters escaped, and cut if it is very long."""
    safe = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text[:most])
    return "".join(safe) + ("…" if len(text) > most else "")


def require_text(value: Any) -> str:
    """Return a text unchanged, or raise CellError if it is null, blank, no text, too long, or cannot be stored."""
    if not isinstance(value, str):
        observed = "null" if value is None else f"{quote(value)} is {name_kind(value)}"
        raise CellError(observed, expected="a text")
    if not value.strip():
        raise CellError(f"{quote(value)} is blank", expected="a text")
    if len(value) > MOST_CHARACTERS:
        raise CellError(f"{len(value):,} characters", expected=f"at most {MOST_CHARACTERS:,} characters")

    def around(place: int) -> str:
        return quote(value[max(0, place - 20) : place + 20])

    if "\0" in value:
        raise CellError(f"{around(value.index(chr(0)))} holds a NUL byte", expected="a text without it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        observed = f"{around(error.start)} holds half a surrogate pair"
        raise CellError(observed, expected="complete characters") from error
    return value


def require_label(value: Any) -> str:
    """Return a text, or a number as text, for ids, clusters, slices and options, or raise CellError."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return require_text(str(value) if isinstance(value, bool | int | float) else value)


def read_optional_label(value: Any) -> str | None:
    """Return a label as `require_label`, or None for null."""
    return None if value is None else require_label(value)


def is_missing(value: Any) -> bool:
    """Return whether a cell holds nothing: null, not a number, a blank text, or an empty list."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return not value.strip() if isinstance(value, str) else isinstance(value, list | tuple | dict) and not value


def parse_literal(value: Any) -> Any:
    """Return the list or object that a text holds as JSON, Python or numpy write it; any other value unchanged."""
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS:
        return value
    content = value.strip()
    if content[:1] + content[-1:] not in ("[]", "{}", "()"):
        return value
    for convert in (str, _convert_to_json):
        try:
            return json.loads(convert(content))
        except (ValueError, OverflowError, RecursionError):
            continue
    return value


def _convert_to_json(content: str) -> str:
    """Return a list or an object of Python or numpy as JSON, without evaluating it, or raise ValueError."""

    def unescape(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        return chr(int(code, 16)) if code else CONTROLS.get(match[4], match[4])

    parts: list[str] = []
    arrays, at = [], 0
    while at < len(content):
        match = LITERAL.match(content, at)
        if match is None:
            raise ValueError("no list or object of texts and numbers")
        at, kind, part = match.end(), match.lastgroup, (match[match.lastgroup or 0])
        if kind == "right" and parts[-1:] == [","] and parts[-2:-1] not in (["["], ["{"]):
            parts.pop()  # "(1,)"
        if kind in ("text", "number", "word", "left") and parts and parts[-1] not in (",", ":", "[", "{", ""):
            parts.append(",")  # numpy writes none between texts
        if kind == "left":
            arrays.append(part == "array(")
            part = {"(": "[", "array(": ""}.get(part, part)
        elif kind == "right":
            part = "" if arrays and arrays.pop() else part.replace(")", "]")
        elif kind == "text":
            part = json.dumps(ESCAPE.sub(unescape, part[1:-1]))
        elif kind == "word":
            part = WORDS[part]
        elif part == ":" and not parts[-1].startswith('"'):
            parts[-1] = json.dumps(parts[-1])
        elif kind == "number":
            part = part.rstrip(".")
        parts.append(part)
    return "".join(parts)


def find_value(values: Mapping[str, Any], path: str) -> Any:
    """Return the value of a column, or of a key below one such as `question.stem`, or None if there is none."""
    if path in values:
        return values[path]
    head, dot, rest = path.partition(".")
    while dot:
        inner = values.get(head)
        if isinstance(inner, Mapping):
            return find_value(inner, rest)
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None


def name_kind(value: Any) -> str:
    """Return the kind of a value in words for an error: `a number`, `a list`."""
    return KINDS.get(type(value), f"a {type(value).__name__}")
