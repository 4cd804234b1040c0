"""Templates of nothing but texts, names and conditions, filled in without Jinja; our own prompts are such, in files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import product
from typing import NamedTuple

TEXT = ("text", "context", "options", "letters", "ask")
"""Names of a prompt about a text."""
PAIR = ("article", "instruction", "reference", "first", "second", "question")
"""Names of a prompt about two answers."""
LIST = ("introduction", "items", "text", "context", "options")
"""Names of a prompt about a list."""
MOST_CONDITIONS = 4
"""Names on which a template may depend to be filled in this way: there is a form for every combination."""

_TAG = re.compile(r"\{\{ ?(\w+) ?\}\}|\{% ?if (\w+) ?%\}|(\{% ?else ?%\})|(\{% ?endif ?%\})")
_OTHER = re.compile(r"\{[{%#]|\r")
"""What a text outside of these tags has that only Jinja reads."""


class PlainTemplate(NamedTuple):
    """A template that is filled in as a format."""

    conditions: tuple[str, ...]
    """Names that it asks for."""
    forms: Mapping[tuple[bool, ...], str]
    """What stands there, by which of them are not empty."""

    def fill(self, values: Mapping[str, str]) -> str:
        """The text for some values: what Jinja would make of them.

        Args:
            values: of the names in it; one that is only asked for may be missing.

        Raises:
            KeyError: a name that stands there has no value.
        """
        # This runs for every prompt of a run.
        return self.forms[tuple([values.get(name, "") != "" for name in self.conditions])] % values


class _Tag(NamedTuple):
    """A tag, and the text before it."""

    before: str
    name: str | None
    condition: str | None
    turns: str | None
    ends: str | None


@lru_cache(maxsize=64)
def plain(template: str) -> PlainTemplate | None:
    """A template as a format; None where it takes more than that."""
    # As Jinja has it, the line break that ends a file is none of the text.
    text = template.removesuffix("\n")
    tags, end = _tags(text)
    outside = (*(tag.before for tag in tags), text[end:])
    names = {name for tag in tags for name in (tag.name, tag.condition) if name}
    if not names <= {*TEXT, *PAIR, *LIST} or any(_OTHER.search(part) for part in outside) or not _is_nested(tags):
        return None
    if any(part.endswith("{") for part in outside[:-1]):
        return None
    conditions = tuple(dict.fromkeys(tag.condition for tag in tags if tag.condition))
    if len(conditions) > MOST_CONDITIONS:
        return None
    truths = product((False, True), repeat=len(conditions))
    forms = {truth: _form(tags, text[end:], dict(zip(conditions, truth, strict=True))) for truth in truths}
    return PlainTemplate(conditions, forms)


def _tags(text: str) -> tuple[list[_Tag], int]:
    """The tags of a template in order, and where the last one ends."""
    tags, end = [], 0
    for match in _TAG.finditer(text):
        tags.append(_Tag(text[end : match.start()], *match.groups()))
        end = match.end()
    return tags, end


def _is_nested(tags: Sequence[_Tag]) -> bool:
    """Whether every condition has its end, and one other way at most."""
    turned: list[bool] = []
    for tag in tags:
        if tag.condition:
            turned.append(False)
        elif tag.turns:
            if not turned or turned[-1]:
                return False
            turned[-1] = True
        elif tag.ends:
            if not turned:
                return False
            turned.pop()
    return not turned


def _form(tags: Sequence[_Tag], rest: str, holds: Mapping[str, bool]) -> str:
    """What stands there where some names are empty and others are not."""
    shown: list[bool] = [True]
    branches: list[bool] = []
    parts: list[str] = []
    for tag in tags:
        if shown[-1]:
            parts += (_literal(tag.before), f"%({tag.name})s" if tag.name else "")
        if tag.condition:
            branches.append(shown[-1])
            shown.append(shown[-1] and holds[tag.condition])
        elif tag.turns:
            shown[-1] = branches[-1] and not shown[-1]
        elif tag.ends:
            branches.pop()
            shown.pop()
    return "".join((*parts, _literal(rest)))


def _literal(text: str) -> str:
    return text.replace("%", "%%")


@lru_cache(maxsize=8)
def default_prompt(name: str) -> PlainTemplate:
    """Our own prompt of that name: `text`, about a text with or without options, or that of the test of that name.

    Raises:
        ValueError: its file holds more than texts, names and conditions.
    """
    content = files("contrapose.data").joinpath("prompts", f"{name}.j2").read_text(encoding="utf-8")
    template = plain(content)
    if template is None:
        raise ValueError(f"data/prompts/{name}.j2 is no plain template")
    return template
