"""Read answer options in all forms in which data sets store them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, NamedTuple

from contrapose.tasks.load.rows import (
    CellError,
    is_missing,
    name_kind,
    parse_literal,
    quote,
    require_label,
    require_text,
)
from contrapose.tasks.probes.base import letters

MOST = 26
MARK = re.compile(
    r"\s*(?:\((?P<round>[A-Za-z]|\d{1,2})\)[.:]?|\[(?P<square>[A-Za-z]|\d{1,2})\][.:]?|（(?P<wide>[A-Za-z]|\d{1,2})）"
    r"|(?P<bare>[A-Za-z]|\d{1,2})(?:[.):](?=\s|$)|[、．：）]))\s*"
)
"""How an option's letter or number is written: "A. ", "b) ", "C: ", "(D) ", "[1] ", "A、"."""
INLINE = re.compile(r"(?:^|(?<=[\s;,]))(?=[(\[（]?(?:[A-Za-z]|\d{1,2})[.):、．：）\]])")
"""The places where a mark may begin in a text."""
HEADING = re.compile(r"(?:^|(?<=\s))(?:options|answer choices|choices|answers)\s*:?\s*$", re.IGNORECASE)
"""What may stand over options in a text."""
TRUE, FALSE = (1, 1.0, True, "1"), (0, 0.0, False, "0")


class OptionCells(list[Any]):
    """Cells of several columns that hold one option each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The texts of options, and their labels in the source."""

    texts: tuple[str, ...]
    """Without letters, in the source's order."""
    labels: tuple[str, ...]
    """What an answer may call them."""
    labelled: bool = False
    """Whether the source itself gave the labels; else they are A, B, C, …"""
    right: tuple[str, ...] = ()
    """Texts that the source itself marks as right."""


class MarkedOptions(NamedTuple):
    """A text that is split at the marks of its options."""

    before: str
    """What stands before the first mark."""
    marks: tuple[str, ...]
    """A, B, C or 1, 2, 3, as they are written; empty if they are not in order."""
    texts: tuple[str, ...]


def read_options(value: Any) -> Options | None:
    """Return options from a list, an object, a text with a list or with marked options, or cells with one option each.

    None if there are none; the last of several cells may be empty. Raises CellError if it is none of these, has fewer
    than 2 or more than 26 options, or one is blank.
    """
    if isinstance(value, OptionCells):
        filled = [place for place, cell in enumerate(value, start=1) if not is_missing(cell)]
        value = ["" if is_missing(cell) else cell for cell in value[: max(filled, default=0)]]
    value = parse_literal(value)
    if is_missing(value):
        return None
    if isinstance(value, str):
        marked = _split_at_marks(require_text(value))
        if marked.before or not marked.marks:
            raise CellError(
                f"{quote(value)} is one text without marks",
                expected='a list as JSON, such as ["hot", "cold"], or one text with the marks A. , B. , C. , …',
            )
        return _check_options(marked.texts, marked.marks, labelled=True)
    if isinstance(value, Mapping):
        return _read_mapping(value)
    if not isinstance(value, list | tuple):
        raise CellError(f"{quote(value)} is {name_kind(value)}", expected="a list of texts")
    if all(isinstance(item, Mapping) for item in value):
        names = ("text", "value", "content", "answer"), ("label", "key", "letter", "id")
        return _read_labelled(
            *([next((item[key] for key in keys if key in item), None) for item in value] for keys in names)
        )
    texts = [_read_option_text(item) for item in value]
    matches = [match for option in texts if (match := MARK.match(option))]
    marks = [_find_mark(match) for match in matches]
    bare = [option[match.end() :].strip() for option, match in zip(texts, matches, strict=False)]
    if len(matches) == len(texts) > 1 and marks in _list_mark_sequences(len(texts)) and all(bare):
        return _check_options(bare, marks, labelled=True)
    return _check_options(texts, letters(len(texts)))


def split_off_options(value: str) -> tuple[str, Options | None]:
    """Return a text's question, and the marked options after it, or None if there are none."""
    marked = _split_at_marks(value)
    if len(marked.marks) < 2 or not all(marked.texts):
        return value, None
    return marked.before, _check_options(marked.texts, marked.marks, labelled=True)


def _split_at_marks(value: str) -> MarkedOptions:
    """Split a text at the marks of its options; the part before the first mark is the question."""
    value = value.replace("\r\n", "\n")
    best = MarkedOptions(value, (), ())
    starts = [match.start() for match in INLINE.finditer(value)]
    for sequence in _list_mark_sequences(MOST):
        cuts: list[tuple[int, int]] = []
        for start in starts:
            match = MARK.match(value, start)
            if match and (not cuts or start >= cuts[-1][1]) and _find_mark(match) == sequence[len(cuts)]:
                cuts.append((start, match.end()))
                if len(cuts) == MOST:
                    break
        if len(cuts) > max(1, len(best.marks)):
            ends = [*(start for start, _ in cuts[1:]), len(value)]
            parts = (value[begin:end].strip().rstrip(";,").rstrip() for (_, begin), end in zip(cuts, ends, strict=True))
            before = HEADING.sub("", value[: cuts[0][0]]).strip()
            best = MarkedOptions(before, tuple(sequence[: len(cuts)]), tuple(parts))
    return best


def _find_mark(match: re.Match[str]) -> str:
    """Return the letter or number of a mark."""
    return next(mark for mark in match.groups() if mark)


def _list_mark_sequences(count: int) -> list[list[str]]:
    """Return the possible sequences of marks: capital letters, small ones, numbers from 1, numbers from 0."""
    alphabet = list(ascii_uppercase[:count])
    numbers = [str(number) for number in range(count + 1)]
    return [alphabet, [letter.lower() for letter in alphabet], numbers[1:], numbers[:-1]]


def _read_option_text(value: Any) -> str:
    """Return the text of a single option."""
    if isinstance(value, str) and not value.strip():
        raise CellError("an option is blank", expected="a text for each letter")
    return require_label(value).strip()


def _read_mapping(value: Mapping[str, Any]) -> Options:
    """Read options from an object: by letter, as two parallel lists, or each with true or false."""
    if "text" in value and "label" in value:
        return _read_labelled(value["text"], value["label"])
    keys = [str(key).strip() for key in value]
    if "choices" in value and "labels" in value:
        texts, truths = value["choices"], value["labels"]
        if not isinstance(texts, list | tuple) or not isinstance(truths, list | tuple) or len(texts) != len(truths):
            expected = '{"choices": […], "labels": […]}, equally long'
            raise CellError(f"{quote(texts)} is no set of options", expected=expected)
    elif [key.upper() for key in keys] in (sequence[: len(keys)] for sequence in _list_mark_sequences(len(keys))):
        return _check_options([_read_option_text(item) for item in value.values()], keys, labelled=True)
    elif value and all(item in (*TRUE, *FALSE) for item in value.values()):
        texts, truths = keys, list(value.values())
    else:
        raise CellError(
            f"{quote(value)} is no set of options", expected='{"A": …, "B": …} or {"text": […], "label": […]}'
        )
    options = [_read_option_text(part) for part in texts]
    right = tuple(option for option, truth in zip(options, truths, strict=True) if truth in TRUE)
    return _check_options(options, letters(len(options)), right=right)


def _read_labelled(texts: Any, labels: Any) -> Options:
    """Read options from a list of texts and a list of their labels."""
    if not isinstance(texts, list | tuple) or not isinstance(labels, list | tuple) or len(texts) != len(labels):
        raise CellError(f"{quote(texts)} is no set of options", expected='{"label": […], "text": […]}, equally long')
    if len(set(map(str, labels))) != len(labels):
        raise CellError(f"labels {quote(labels)}", expected="labels that differ")
    return _check_options(
        [_read_option_text(part) for part in texts], [require_label(part).strip() for part in labels], labelled=True
    )


def _check_options(
    texts: Sequence[str], labels: Sequence[str], *, labelled: bool = False, right: tuple[str, ...] = ()
) -> Options:
    """Return options, or raise CellError if there are too few, too many or blank ones."""
    if not 2 <= len(texts) <= MOST:
        raise CellError(f"{len(texts)} {'option' if len(texts) == 1 else 'options'}", expected=f"2 to {MOST} options")
    if "" in texts:
        raise CellError("an option is blank", expected="a text for each letter")
    return Options(texts=tuple(texts), labels=tuple(labels), labelled=labelled, right=right)


MOST_ITEMS = 200
"""In all its orders, a list is asked as often as it has items."""
NUMBERED = re.compile(
    r"\s*(?:(?P<word>[^\W\d_]+)[ \t]+)?[\[(]?(?P<mark>\d{1,3}|[A-Z])(?:[\])][.:]?|[.):]|(?=\r?\n))(?:\s+|$)"
)
"""How a place is written before an item: "1. ", "2) ", "[3] ", "Passage 4: ", "B. "."""
BULLET = re.compile(r"\s*[-*•–][ \t]+")


def read_items(value: Any) -> tuple[str, ...]:
    """Return the items of a list, a JSON list, or a text with one a line, without numbers or bullets before all items.

    Raises CellError if they are fewer than 2 or more than 200, blank, repeated or no texts.
    """
    if value is None:
        raise CellError("null", expected="a list of texts")
    if isinstance(value, str):
        value = _split_text(require_text(value))
    if not isinstance(value, list | tuple):
        raise CellError(f"{quote(value)} is no list", expected="a list of texts")
    items: list[str] = []
    for item in value:
        if isinstance(item, str) and not item.strip():
            raise CellError("an item is blank", expected="a text for each item")
        items.append(require_text(item).strip())
    matches = [match for item in items if (match := NUMBERED.match(item))]
    kinds = {(match["word"], match["mark"].isdigit()) for match in matches}
    in_order = all(_has_number(match, number) for number, match in enumerate(matches, start=1))
    if len(matches) == len(items) and len(kinds) == 1 and in_order:
        items = [item[match.end() :].strip() for item, match in zip(items, matches, strict=True)]
    elif all(BULLET.match(item) for item in items):
        items = [BULLET.sub("", item, count=1).strip() for item in items]
    if not 2 <= len(items) <= MOST_ITEMS:
        raise CellError(f"{len(items)} {'item' if len(items) == 1 else 'items'}", expected=f"2 to {MOST_ITEMS} items")
    if "" in items:
        raise CellError("an item is blank", expected="a text for each item")
    twice = next((item for item in items if items.count(item) > 1), None)
    if twice is not None:
        raise CellError(f"item {quote(twice)} is there twice", expected="items that differ")
    return tuple(items)


def read_place(value: Any, *, among: int) -> int | None:
    """Return the place of an item (1 for the first), or None for null, or raise CellError."""
    if value is None:
        return None
    number = int(value) if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,4}\s*", value) else value
    is_whole = isinstance(number, int) or (isinstance(number, float) and number.is_integer())
    if not is_whole or isinstance(number, bool) or not 1 <= number <= among:
        raise CellError(f"{quote(value)} is the place of no item", expected=f"1 for the first of them to {among}")
    return int(number)


def _split_text(value: str) -> Any:
    """Split a JSON list or the lines of a text into items; numbered items may have several lines."""
    if value.lstrip().startswith("[") and NUMBERED.match(value) is None:
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise CellError(
                f"{quote(value)} is not JSON", expected="a list of texts as JSON, or an item a line"
            ) from error
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
    """Return whether a mark belongs to the item with this number: 2 or B for the second."""
    return match is not None and match["mark"] in (str(number), ascii_uppercase[number - 1 : number])
