"""Answer options in the shapes in which people store them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from contrapose.tasks.load.rows import Unfit, is_missing, kind_of, label, shown, structured, text
from contrapose.tasks.probes.base import letters

MOST = 26
SHAPES = 'a list as JSON, such as ["hot", "cold"], or one text with the marks A. , B. , C. , …'
"""What a cell that holds options looks like."""
MARK = re.compile(
    r"\s*(?:\((?P<round>[A-Za-z]|\d{1,2})\)[.:]?|\[(?P<square>[A-Za-z]|\d{1,2})\][.:]?|（(?P<wide>[A-Za-z]|\d{1,2})）"
    r"|(?P<bare>[A-Za-z]|\d{1,2})(?:[.):](?=\s|$)|[、．：）]))\s*"
)
"""How an option's letter or number is written: "A. ", "b) ", "C: ", "(D) ", "[1] ", "A、"."""
INLINE = re.compile(r"(?:^|(?<=[\s;,]))(?=[(\[（]?(?:[A-Za-z]|\d{1,2})[.):、．：）\]])")
"""Where a mark may begin within a text."""
HEADING = re.compile(r"(?:^|(?<=\s))(?:options|answer choices|choices|answers)\s*:?\s*$", re.IGNORECASE)
"""What may stand over options in a text."""
TRUE, FALSE = (1, 1.0, True, "1"), (0, 0.0, False, "0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Option texts, and what the source calls them."""

    texts: tuple[str, ...]
    """Without letters, in the source's order."""
    labels: tuple[str, ...]
    """What an answer may call them."""
    labelled: bool = False
    """Whether the source itself gave the labels; else they are A, B, C, …"""
    right: tuple[str, ...] = ()
    """Texts that the source itself marks as right."""


def read_options(value: Any) -> Options | None:
    """Options from a list, an object, or a text that holds one of them or marks each option; None where there are none.

    Raises:
        Unfit: it is none of these, has fewer than 2 or more than 26 options, or one is blank.
    """
    value = structured(value)
    if is_missing(value):
        return None
    if isinstance(value, str):
        return _marked_text(text(value))
    if isinstance(value, Mapping):
        return _from_mapping(value)
    if not isinstance(value, list | tuple):
        raise Unfit(f"{shown(value)} is {kind_of(value)}", expected="a list of texts")
    if all(isinstance(item, Mapping) for item in value):
        return _from_records(value)
    texts = [_option(item) for item in value]
    marked = without_marks(texts)
    return _checked(marked.texts, marked.marks, labelled=True) if marked else _checked(texts, letters(len(texts)))


def options_in(cells: Sequence[Any]) -> Options | None:
    """Options that have a column each; the last cells may be empty.

    Raises:
        Unfit: as `read_options`.
    """
    filled = list(cells)
    while filled and is_missing(filled[-1]):
        filled.pop()
    return read_options(["" if is_missing(cell) else cell for cell in filled]) if filled else None


class MarkedOptions(NamedTuple):
    """Options of which each has its mark."""

    before: str
    """What stands before the first mark."""
    marks: tuple[str, ...]
    """A, B, C or 1, 2, 3, as they are written; empty where the marks do not run on."""
    texts: tuple[str, ...]
    """The options without them."""


def without_marks(texts: Sequence[str]) -> MarkedOptions | None:
    """Options parted from the letters or numbers before them; None when these do not run A, B, C or 1, 2, 3."""
    matches = [match for option in texts if (match := MARK.match(option))]
    if len(matches) < max(2, len(texts)):
        return None
    marks = [_mark(match) for match in matches]
    bare = tuple(option[match.end() :].strip() for option, match in zip(texts, matches, strict=True))
    return MarkedOptions("", tuple(marks), bare) if marks in _sequences(len(texts)) and all(bare) else None


def split_marked(value: str) -> MarkedOptions:
    """A text taken apart at the marks of the options in it; it may begin with what is asked about them."""
    best = MarkedOptions(value, (), ())
    starts = [match.start() for match in INLINE.finditer(value)]
    for sequence in _sequences(MOST):
        cuts: list[tuple[int, int]] = []
        for start in starts:
            match = MARK.match(value, start)
            if match and (not cuts or start >= cuts[-1][1]) and _mark(match) == sequence[len(cuts)]:
                cuts.append((start, match.end()))
                if len(cuts) == MOST:
                    break
        if len(cuts) > max(1, len(best.marks)):
            ends = [*(start for start, _ in cuts[1:]), len(value)]
            parts = (value[begin:end].strip().rstrip(";,").rstrip() for (_, begin), end in zip(cuts, ends, strict=True))
            best = MarkedOptions(
                HEADING.sub("", value[: cuts[0][0]]).strip(), tuple(sequence[: len(cuts)]), tuple(parts)
            )
    return best


def options_within(value: str) -> tuple[str, Options | None]:
    """What a text asks, and the options that stand behind it, each with its mark; None where there are none."""
    marked = split_marked(value.replace("\r\n", "\n"))
    if len(marked.marks) < 2 or not all(marked.texts):
        return value, None
    return marked.before, _checked(marked.texts, marked.marks, labelled=True)


def _marked_text(value: str) -> Options:
    marked = split_marked(value.replace("\r\n", "\n"))
    if marked.before or not marked.marks:
        raise Unfit(f"{shown(value)} is one text without marks", expected=SHAPES)
    return _checked(marked.texts, marked.marks, labelled=True)


def _mark(match: re.Match[str]) -> str:
    return next(mark for mark in match.groups() if mark)


def _sequences(count: int) -> list[list[str]]:
    """Marks in their order: capital letters, small ones, numbers from 1, and from 0."""
    alphabet = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")[:count]
    numbers = [str(number) for number in range(count + 1)]
    return [alphabet, [letter.lower() for letter in alphabet], numbers[1:], numbers[:-1]]


def _option(value: Any) -> str:
    if isinstance(value, str) and not value.strip():
        raise Unfit("an option is blank", expected="a text for each letter")
    return label(value).strip()


def _from_mapping(value: Mapping[str, Any]) -> Options:
    """Options by their letters, as two lists beside each other, or each with whether it is right."""
    if "text" in value and "label" in value:
        return _labelled(value["text"], value["label"])
    if "choices" in value and "labels" in value:
        return _with_truths(value["choices"], value["labels"])
    keys = [str(key).strip() for key in value]
    if [key.upper() for key in keys] in (sequence[: len(keys)] for sequence in _sequences(len(keys))):
        return _checked([_option(item) for item in value.values()], keys, labelled=True)
    if value and all(item in (*TRUE, *FALSE) for item in value.values()):
        return _with_truths(keys, list(value.values()))
    raise Unfit(f"{shown(value)} is no set of options", expected='{"A": …, "B": …} or {"text": […], "label": […]}')


def _from_records(value: Sequence[Mapping[str, Any]]) -> Options:
    """Options that are objects with a letter and a text each."""
    texts = [next((item[key] for key in ("text", "value", "content", "answer") if key in item), None) for item in value]
    labels = [next((item[key] for key in ("label", "key", "letter", "id") if key in item), None) for item in value]
    return _labelled(texts, labels)


def _labelled(texts: Any, labels: Any) -> Options:
    if not isinstance(texts, list | tuple) or not isinstance(labels, list | tuple) or len(texts) != len(labels):
        raise Unfit(f"{shown(texts)} is no set of options", expected='{"label": […], "text": […]}, equally long')
    if len(set(map(str, labels))) != len(labels):
        raise Unfit(f"labels {shown(labels)}", expected="labels that differ")
    return _checked([_option(part) for part in texts], [label(part).strip() for part in labels], labelled=True)


def _with_truths(texts: Any, truths: Any) -> Options:
    if not isinstance(texts, list | tuple) or not isinstance(truths, list | tuple) or len(texts) != len(truths):
        raise Unfit(f"{shown(texts)} is no set of options", expected='{"choices": […], "labels": […]}, equally long')
    options = [_option(part) for part in texts]
    right = tuple(option for option, truth in zip(options, truths, strict=True) if truth in TRUE)
    return _checked(options, letters(len(options)), right=right)


def _checked(
    texts: Sequence[str], labels: Sequence[str], *, labelled: bool = False, right: tuple[str, ...] = ()
) -> Options:
    if not 2 <= len(texts) <= MOST:
        raise Unfit(f"{len(texts)} {'option' if len(texts) == 1 else 'options'}", expected=f"2 to {MOST} options")
    if "" in texts:
        raise Unfit("an option is blank", expected="a text for each letter")
    return Options(texts=tuple(texts), labels=tuple(labels), labelled=labelled, right=right)
