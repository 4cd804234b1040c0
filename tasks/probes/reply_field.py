"""A field of JSON in a reply: the last object that holds it says what it is, or nothing does."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

LONGEST_REPLY = 200_000
"""Characters of a reply in which a field is looked for; of a longer one nothing is read."""
LONGEST_PATH = 200
"""Characters of the path of a field."""
MOST_STEPS = 10
"""Names in such a path."""

_BEGINS = re.compile(r"""\{(?=\s*["'}])""")
"""Where an object begins; a brace before anything else belongs to the text."""
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
"""What tells where an object ends that is not JSON after all: braces, but for those in its texts."""


class _Object(NamedTuple):
    """What was taken for an object."""

    value: Mapping[str, Any] | None
    """Its fields; None where it is broken, or cut off."""
    start: int
    end: int


def check_field(path: str) -> None:
    """Refuse a path that leads nowhere.

    Raises:
        ValueError: what is wrong, and what was expected.
    """
    steps = path.split(".")
    if len(path) > LONGEST_PATH or len(steps) > MOST_STEPS:
        observed = f"a path of {len(path):,} characters and {len(steps):,} names"
        raise ValueError(f"{observed}; expected at most {LONGEST_PATH} and {MOST_STEPS}")
    if not all(step.strip() for step in steps):
        raise ValueError(f"path {path!r} with an empty name; expected names of fields, parted by points")


def field_in(reply: str, path: str) -> str | None:
    """What a field of the reply says: a text, a number as it is written, or `true` and `false`.

    Where several objects hold the field, the last one counts: a reply may quote the form that it was asked for. None
    where no object holds it, the last object is broken or names the field twice, the field holds anything else, or
    objects with nothing between them, as in a list, disagree.

    Args:
        reply: JSON, in a fence or not, with or without a text around it.
        path: names of fields, parted by points: `result.winner`.
    """
    if len(reply) > LONGEST_REPLY:
        return None
    said: str | None = None
    end = -1
    for part in _objects(reply):
        values = [None] if part.value is None else list(_values(part.value, path.split(".")))
        if not values:
            continue
        joined = end >= 0 and not re.search(r"\w", reply[end : part.start])
        said = None if joined and values[0] != said else values[0]
        end = part.end
    return said


def _objects(text: str) -> Iterator[_Object]:
    """Objects that stand in no other one, in order; each sign is read twice at most."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_without_doubles, parse_int=str, parse_float=str, parse_constant=str, strict=False
    )
    place = 0
    while (begins := _BEGINS.search(text, place)) is not None:
        start = begins.start()
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, place = None, _end(text, start)
        yield _Object(value, start, place)


def _end(text: str, start: int) -> int:
    """Where a broken object ends by its braces; the end of the text where they are open."""
    depth = 0
    for part in _PARTS.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if depth == 0:
            return part.end()
    return len(text)


def _without_doubles(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which a name that stands twice says nothing."""
    often = Counter(name for name, _ in pairs)
    return {name: value if often[name] == 1 else None for name, value in pairs}


def _values(value: Any, steps: Sequence[str]) -> Iterator[str | None]:
    """What stands at a path; nothing where the path leads nowhere, None where it is no word."""
    for step in steps:
        if not isinstance(value, Mapping) or step not in value:
            return
        value = value[step]
    if isinstance(value, bool):
        yield "true" if value else "false"
    else:
        yield value if isinstance(value, str) else None
