"""Single cells of a table: texts, labels, and lists that a text holds."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from contrapose.tasks.core.bounds import MOST_CHARACTERS
from contrapose.tasks.load.rows import Unfit, shown

ARRAY = re.compile(r"\barray\(|, dtype=\w+\)|(?<=\])\)(?=[,}\]])")
"""What numpy writes around a list within a dictionary."""
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
"""A text in a list as Python and numpy write it."""


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
    for read in (json.loads, _numpy_list, ast.literal_eval):
        try:
            parsed = read(content)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(parsed, list | dict | tuple):
            return parsed
    return value


def _numpy_list(content: str) -> Any:
    """A list without commas, as numpy prints its arrays.

    Raises:
        ValueError: it is none.
    """
    if content.startswith("{"):
        return ast.literal_eval(ARRAY.sub("", content))
    inside = content[1:-1]
    if QUOTED.sub("", inside).strip() or not inside.strip() or content[0] != "[":
        raise ValueError("no list of quoted texts without commas")
    return [ast.literal_eval(match[0]) for match in QUOTED.finditer(inside)]


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
