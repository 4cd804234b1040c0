"""Rows of a data source as they were read, and what a single cell holds."""

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
"""What stands for a character in a text of Python."""
WORDS = {"True": "true", "False": "false", "None": "null", "nan": "null"}
CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row, or what is wrong with it."""

    number: int
    """1-based, as a person counts in that file: the line of a JSONL file, the record of a JSON list,
    a Parquet file or a dataset, the row of a CSV file or sheet with its header as row 1."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Column name to value."""
    problem: Problem | None = None
    """Why the row could not be read; `values` is empty then."""
    notes: tuple[str, ...] = ()
    """What people should know about how the source is read; the first row has them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one row or cell, in the words of an error."""

    observed: str
    """What was met, with its value; reads on after "row 7: "."""
    expected: str
    """What would have been right."""
    column: str | None = None
    """Where it was met; None where it is the whole row."""
    remedy: str = "Correct that row"
    """What to do about it, without the full stop."""
    also: tuple[Problem, ...] = ()
    """What else is wrong with the same row."""


@dataclass(frozen=True, slots=True)
class Omission:
    """Why a row that is in order has no sample, such as a pair whose judges call it a tie."""

    reason: str
    """Follows a count of rows: `3 rows: a tie`."""


class Unfit(Exception):  # noqa: N818 - it never leaves this room; what users see is a DataError
    """A cell that cannot be used."""

    def __init__(self, observed: str, *, expected: str) -> None:
        """Take the words of the error to come."""
        super().__init__(observed)
        self.problem = Problem(observed, expected)


def shown(value: object) -> str:
    """A value as an error quotes it: one line, at most 80 characters, control characters escaped."""
    whole = repr(value[: SHOWN + 1] if isinstance(value, str) else value)
    return whole if len(whole) <= SHOWN else whole[: SHOWN - 1] + "…"


def listed(names: Sequence[object], *, most: int = 12) -> str:
    """Names as an error lists them, with a count of those left out."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(shown(name) for name in names[:most]) or "none") + rest


def escaped(text: str, *, most: int = 300) -> str:
    """Text without quotes around it, such as a path: control characters escaped, cut when very long."""
    safe = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text[:most])
    return "".join(safe) + ("…" if len(text) > most else "")


def text(value: Any) -> str:
    """A text as it stands.

    Raises:
        Unfit: it is null, blank, no text, too long, or holds what cannot be stored or sent.
    """
    if value is None:
        raise Unfit("null", expected="a text")
    if not isinstance(value, str):
        raise Unfit(f"{shown(value)} is {kind_of(value)}", expected="a text")
    if not value.strip():
        raise Unfit(f"{shown(value)} is blank", expected="a text")
    _refuse_unusable(value)
    return value


def label(value: Any) -> str:
    """A text, or a number as text: what ids, clusters, slices and options may be.

    Raises:
        Unfit: it is neither.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return text(str(value) if isinstance(value, bool | int | float) else value)


def optional_label(value: Any) -> str | None:
    """A label, or None for null.

    Raises:
        Unfit: it is something else.
    """
    return None if value is None else label(value)


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing: null, not a number, a blank text, or an empty list."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return not value.strip() if isinstance(value, str) else isinstance(value, list | tuple | dict) and not value


def structured(value: Any) -> Any:
    """The list or object that a text holds as JSON, Python or numpy write it; any other value as it is.

    Raises:
        Unfit: the text begins and ends as a list or object of quoted texts does, and cannot be read.
    """
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS:
        return value
    content = value.strip()
    if content[:1] + content[-1:] not in ("[]", "{}", "()"):
        return value
    for read in (str, _as_json):
        try:
            return json.loads(read(content))
        except (ValueError, OverflowError, RecursionError):
            continue
    return value


def _as_json(content: str) -> str:
    """A list or an object as Python and numpy write it, as JSON; numpy puts no commas between texts.

    It is never evaluated: each part is one that JSON has, and is written as such.

    Raises:
        ValueError: it holds anything else.
    """
    parts: list[str] = []
    arrays, at = [], 0
    while at < len(content):
        match = LITERAL.match(content, at)
        if match is None:
            raise ValueError("no list or object of texts and numbers")
        at, kind, part = match.end(), match.lastgroup, (match[match.lastgroup or 0])
        opens = kind in ("text", "number", "word", "left")
        if kind == "right" and parts[-1:] == [","] and parts[-2:-1] not in (["["], ["{"]):
            parts.pop()  # "(1,)"
        if opens and parts and parts[-1] not in (",", ":", "[", "{", ""):
            parts.append(",")
        if kind == "left":
            arrays.append(part == "array(")
            part = {"(": "[", "array(": ""}.get(part, part)
        elif kind == "right":
            part = "" if arrays and arrays.pop() else part.replace(")", "]")
        elif kind == "text":
            part = json.dumps(ESCAPE.sub(_character, part[1:-1]))
        elif kind == "word":
            part = WORDS[part]
        elif part == ":" and not parts[-1].startswith('"'):
            parts[-1] = json.dumps(parts[-1])
        elif kind == "number":
            part = part.rstrip(".")
        parts.append(part)
    return "".join(parts)


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    return chr(int(code, 16)) if code else CONTROLS.get(escape[4], escape[4])


def lookup(values: Mapping[str, Any], path: str) -> Any:
    """The value of a column, or of a key below one, such as `question.stem`; None where there is none."""
    if path in values:
        return values[path]
    head, dot, rest = path.partition(".")
    while dot:
        inner = values.get(head)
        if isinstance(inner, Mapping):
            return lookup(inner, rest)
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None


def kind_of(value: Any) -> str:
    """What a value is, for an error: `a number`, `a list`."""
    names = {bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")


def _refuse_unusable(value: str) -> None:
    if len(value) > MOST_CHARACTERS:
        raise Unfit(f"{len(value):,} characters", expected=f"at most {MOST_CHARACTERS:,} characters")
    if "\0" in value:
        raise Unfit(f"{_around(value, value.index(chr(0)))} holds a NUL byte", expected="a text without it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        observed = f"{_around(value, error.start)} holds half a surrogate pair"
        raise Unfit(observed, expected="complete characters") from error


def _around(value: str, place: int) -> str:
    """The part of a text where the trouble is."""
    return shown(value[max(0, place - 20) : place + 20])
