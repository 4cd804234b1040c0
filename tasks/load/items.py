"""A cell that holds a list of items, and the place of one of them."""

from __future__ import annotations

import json
import re
from string import ascii_uppercase
from typing import Any

from contrapose.tasks.load.rows import Unfit, quote, require_text

MOST_ITEMS = 200
"""In all its orders, a list is asked as often as it has items."""
NUMBERED = re.compile(
    r"\s*(?:(?P<word>[^\W\d_]+)[ \t]+)?[\[(]?(?P<mark>\d{1,3}|[A-Z])(?:[\])][.:]?|[.):]|(?=\r?\n))(?:\s+|$)"
)
"""How a place is written before an item: "1. ", "2) ", "[3] ", "Passage 4: ", "B. "."""
BULLET = re.compile(r"\s*[-*•–][ \t]+")


def read_items(value: Any) -> tuple[str, ...]:
    """Return items of a list, a list as JSON, or a text with one a line, without numbers or bullets before all of them.

    Raises Unfit where they are fewer than 2 or more than 200, blank, repeated or no texts.
    """
    if value is None:
        raise Unfit("null", expected="a list of texts")
    if isinstance(value, str):
        value = _split_text(require_text(value))
    if not isinstance(value, list | tuple):
        raise Unfit(f"{quote(value)} is no list", expected="a list of texts")
    items: list[str] = []
    for item in value:
        if isinstance(item, str) and not item.strip():
            raise Unfit("an item is blank", expected="a text for each item")
        items.append(require_text(item).strip())
    matches = [match for item in items if (match := NUMBERED.match(item))]
    kinds = {(match["word"], match["mark"].isdigit()) for match in matches}
    in_order = all(_has_number(match, number) for number, match in enumerate(matches, start=1))
    if len(matches) == len(items) and len(kinds) == 1 and in_order:
        items = [item[match.end() :].strip() for item, match in zip(items, matches, strict=True)]
    elif all(BULLET.match(item) for item in items):
        items = [BULLET.sub("", item, count=1).strip() for item in items]
    if not 2 <= len(items) <= MOST_ITEMS:
        raise Unfit(f"{len(items)} {'item' if len(items) == 1 else 'items'}", expected=f"2 to {MOST_ITEMS} items")
    if "" in items:
        raise Unfit("an item is blank", expected="a text for each item")
    twice = next((item for item in items if items.count(item) > 1), None)
    if twice is not None:
        raise Unfit(f"item {quote(twice)} is there twice", expected="items that differ")
    return tuple(items)


def read_place(value: Any, *, among: int) -> int | None:
    """Return the place of an item, 1 for the first; None for null. Raises Unfit."""
    if value is None:
        return None
    number = int(value) if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,4}\s*", value) else value
    is_whole = isinstance(number, int) or (isinstance(number, float) and number.is_integer())
    if not is_whole or isinstance(number, bool) or not 1 <= number <= among:
        raise Unfit(f"{quote(value)} is the place of no item", expected=f"1 for the first of them to {among}")
    return int(number)


def _split_text(value: str) -> Any:
    """Read a list in JSON, or the lines of a text, each an item; numbered items may have several lines."""
    if value.lstrip().startswith("[") and NUMBERED.match(value) is None:
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise Unfit(f"{quote(value)} is not JSON", expected="a list of texts as JSON, or an item a line") from error
    lines = [line for line in value.splitlines() if line.strip()]
    if not _has_number(NUMBERED.match(lines[0]), 1):
        return lines
    items: list[list[str]] = []
    for line in lines:
        if _has_number(NUMBERED.match(line), len(items) + 1):
            items.append([line])
        else:
            items[-1].append(line)
    return ["\n".join(item) for item in items]


def _has_number(match: re.Match[str] | None, number: int) -> bool:
    """Return whether a mark is that of the item with a number: 2 or B for the second."""
    return match is not None and match["mark"] in (str(number), ascii_uppercase[number - 1 : number])
