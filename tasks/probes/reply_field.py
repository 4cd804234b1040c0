"""A field of JSON in a reply: the last object that holds it says what it is, or nothing does."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LONGEST_REPLY = 200_000
"""Characters of a reply in which a field is looked for; of a longer one nothing is read."""
LONGEST_PATH = 200
"""Characters of the path of a field."""
MOST_STEPS = 10
"""Names in such a path."""

_BEGINS = re.compile(r"""\{(?=\s*["'}])""")
"""Where an object begins; a brace before anything else belongs to the text."""
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
"""Braces, and texts, whose braces do not count: they show where an object ends that is not JSON after all."""


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
    """Return what a field of the reply says: a text, a number as it is written, or `true` and `false`.

    Where several objects hold the field, the last one counts: a reply may quote the form that it was asked for. None
    where no object holds it, the last object is broken or names the field twice, the field holds anything else, or
    objects with nothing between them, as in a list, disagree.

    Args:
        reply: JSON, in a fence or not, with or without a text around it.
        path: names of fields, parted by points: `result.winner`.
    """
    if len(reply) > LONGEST_REPLY:
        return None
    field: str | None = None
    last = -1
    for value, start, end in _objects(reply):
        for step in path.split(".") if value is not None else ():
            if not isinstance(value, Mapping) or step not in value:
                break
            value = value[step]
        else:
            # A broken object has no value.
            content = {True: "true", False: "false"}[value] if isinstance(value, bool) else value
            text = content if isinstance(content, str) else None
            joined = last >= 0 and not re.search(r"\w", reply[last:start])
            field = None if joined and text != field else text
            last = end
    return field


def _objects(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield each outer object with its start and end, None for a broken one; each sign is read twice at most."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_without_doubles, parse_int=str, parse_float=str, parse_constant=str, strict=False
    )
    place = 0
    while (begins := _BEGINS.search(text, place)) is not None:
        start = begins.start()
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            # A broken object ends by its braces, or with the text where they are open.
            value, place, depth = None, len(text), 0
            for part in _PARTS.finditer(text, start):
                depth += {"{": 1, "}": -1}.get(part[0], 0)
                if depth == 0:
                    place = part.end()
                    break
        yield value, start, place


def _without_doubles(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object in which a name that stands twice says nothing."""
    often = Counter(name for name, _ in pairs)
    return {name: value if often[name] == 1 else None for name, value in pairs}
