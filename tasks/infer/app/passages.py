"""What an application retrieved for a reply: where it stands in what came back, and how much of it is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from contrapose.tasks.infer.app.worker import MOST_PASSAGES, bounded, passage_texts
from contrapose.tasks.infer.base import NO_PASSAGES
from contrapose.tasks.text.cleaning import storable

EVERY = "*"
"""The step of a path that stands for every item of a list."""
MOST_STEPS = 20
LONGEST_PATH = 200
NO_STEP = re.compile(r"\A\Z|\A\s|\s\Z|\A\$\Z|[\[\]*]")
"""What is no name: nothing, blanks around it, or a sign of the notations of other tools."""
PASSAGE_PATH = (
    f"names and places parted by points, with {EVERY} for every item of a list, such as documents.{EVERY}.text, and "
    "not the place of the reply"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The passages of one reply."""

    kept: tuple[str, ...] | None = None
    """In their order, so many and so long as are kept; None where it is not known what was retrieved."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """What people should know of them, by its kind."""


def steps_of(path: object) -> tuple[str, ...]:
    """The steps of a path, such as `documents.*.text`; none where it is no path.

    A step is a name, the place of an item in a list, from 0, or `*`, which stands for every item.
    """
    if not isinstance(path, str) or not 0 < len(path) <= LONGEST_PATH:
        return ()
    steps = tuple(path.split("."))
    sound = all(step == EVERY or not NO_STEP.search(step) for step in steps)
    return steps if sound and len(steps) <= MOST_STEPS else ()


def passages_in(content: bytes, steps: Sequence[str]) -> Retrieved:
    """The passages in what came back.

    Args:
        content: JSON; anything else has none.
        steps: to the passages; empty where none are asked for.
    """
    if not steps:
        return Retrieved()
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return without_passages("what came back is no JSON")
    return passages_at(value, steps)


def passages_at(value: Any, steps: Sequence[str]) -> Retrieved:
    """The passages at the end of some steps in a value as JSON has it: a list, or with `*` what stands there of all."""
    try:
        texts = passage_texts(_at(value, steps, path=".".join(steps)))
    except ValueError as error:
        return without_passages(str(error))
    return kept_passages(bounded(texts), size=len(texts))


def passages_of(row: Mapping[str, Any], column: str) -> Retrieved:
    """The passages in a row: a list in a column, as JSON where it is a text, or at a path that begins with a column."""
    name, _, path = (column, "", "") if column in row else column.partition(".")
    value = row.get(name)
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return Retrieved() if value is None else passages_at(value, steps_of(path))


def leads_to_passages(row: Mapping[str, Any], path: str) -> bool:
    """Whether a path begins with a column of a row."""
    return bool(steps_of(path)) and path.partition(".")[0] in row


def kept_passages(texts: Sequence[str], *, size: int) -> Retrieved:
    """Passages as they are stored: without control characters and lone surrogates.

    Args:
        texts: bounded ones.
        size: how many there were.
    """
    remarks = {}
    if size > MOST_PASSAGES:
        text = f"Some replies came with more than {MOST_PASSAGES} passages, such as {size:,}"
        remarks["many passages"] = f"{text}: the first {MOST_PASSAGES} of each are kept and compared."
    return Retrieved(kept=tuple(map(storable, texts)), remarks=remarks)


def without_passages(why: str) -> Retrieved:
    """Those of a reply that came without what it should have come with."""
    return Retrieved(remarks={"passages": f"{NO_PASSAGES}: {why}."})


def _at(value: Any, steps: Sequence[str], *, path: str) -> Any:
    """What stands at the end of the steps; behind a `*` a list of what stands at the end of the others."""
    for place, step in enumerate(steps):
        if step == EVERY:
            if not isinstance(value, list):
                raise ValueError(f"{type(value).__name__} at {path}, where * wants a list")
            rest = steps[place + 1 :]
            inner = [_at(item, rest, path=path) for item in value]
            return [text for items in inner for text in items] if EVERY in rest else inner
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise ValueError(f"nothing at {path}")
    return value
