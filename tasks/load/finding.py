"""Finds the columns that hold options, answers and pairs of answers, by names and values of a table's first rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from contrapose.tasks.load.answers import accepted_values, index_of, is_letter, is_text_of
from contrapose.tasks.load.conversations import first_of_turns, is_conversation
from contrapose.tasks.load.description import (
    CHOSEN,
    FAMILY,
    NAMES,
    PAIR,
    Cells,
    FieldSource,
    field_value,
    is_row_like,
    plain_name,
)
from contrapose.tasks.load.options import Options, options_in, options_within, read_options
from contrapose.tasks.load.rows import Row, Unfit, is_missing

HALF = 0.5
"""Share of a column's values that must be read as what it is taken for."""
MOSTLY = 0.9
"""The same where a column is taken apart."""
PLACES = ("abcdefghij", "0123456789", "123456789")
"""How columns that hold an option each are counted."""
DECISIONS = ("winner", "preference", "preferred", "vote", "verdict")
"""Columns that say which of two answers is better, and never which of two options is right."""
DEPTH = 2
"""Levels of objects whose keys are looked at."""
MOST_KEYS = 30
"""Keys of an object; one with more holds data under its keys."""


@dataclass(frozen=True, kw_only=True)
class TableHead:
    """The first rows that could be read."""

    rows: Sequence[Row]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every column, in the order of its first appearance."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.values))

    @cached_property
    def values(self) -> Mapping[str, list[Any]]:
        """What every column holds, and every key below an object (`question.stem`); missing values are left out."""
        values: dict[str, list[Any]] = {}
        for row in self.rows:
            for name, value in row.values.items():
                _add(values, name, value, depth=0)
        return values

    @cached_property
    def named(self) -> Mapping[str, str]:
        """Plain names of columns, and of keys below objects that stand for a row, to their paths."""
        named: dict[str, str] = {}
        columns = frozenset(self.columns)
        for path in sorted(self.values, key=lambda path: path.count(".") if path not in columns else 0):
            parent, _, key = path.rpartition(".")
            if path in columns or is_row_like(parent):
                named.setdefault(plain_name(path if path in columns else key), path)
        return named

    def share(self, path: str, test: Callable[[Any], bool]) -> float:
        """The share of a column's values that pass a test; 0 where it has none."""
        values = self.values.get(path, [])
        return sum(map(test, values)) / len(values) if values else 0.0

    def is_text(self, path: str) -> bool:
        """Whether most rows have a text in a column."""
        return (
            2 * len(self.values[path]) >= len(self.rows)
            and self.share(path, lambda value: isinstance(value, str)) >= MOSTLY
        )

    def is_question(self, path: str) -> bool:
        """Whether a column holds texts, conversations or lists of turns."""
        return self.is_text(path) or self.share(path, _is_asked) >= MOSTLY

    def is_passage(self, path: str) -> bool:
        """Whether a column holds texts, lists or objects; some rows may have none."""
        return self.share(path, lambda value: isinstance(value, str | list | dict)) >= MOSTLY

    def is_scalar(self, path: str) -> bool:
        """Whether a column holds texts, numbers or truth values."""
        return self.share(path, lambda value: isinstance(value, str | int | float)) >= MOSTLY

    def names_rows(self, path: str) -> bool:
        """Whether a column has a value of its own for each row; in one that is called id, few mistakes are told."""
        values = self.values[path]
        single = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
        distinct = len(set(map(str, values)))
        if not single or not values or len(values) < MOSTLY * len(self.rows):
            return False
        return 2 * distinct > len(values) if path.strip().lower() == "id" else distinct == len(values)

    def is_structured(self, path: str) -> bool:
        """Whether a column holds lists or objects."""
        return self.share(path, lambda value: isinstance(value, list | dict)) >= 0.5

    def mean_words(self, path: str) -> float:
        """The mean number of words of a column of texts."""
        values = self.values[path]
        return sum(len(str(value).split()) for value in values) / len(values) if values else 0.0


def _add(values: dict[str, list[Any]], path: str, value: Any, *, depth: int) -> None:
    held = values.setdefault(path, [])
    if not is_missing(value):
        held.append(value)
    if isinstance(value, Mapping) and depth < DEPTH and len(value) <= MOST_KEYS:
        for key, inner in value.items():
            _add(values, f"{path}.{key}", inner, depth=depth + 1)


def _is_asked(value: Any) -> bool:
    return is_conversation(value) or first_of_turns(value) is not None


def find_options(head: TableHead, *, text: str | None) -> FieldSource | None:
    """The columns that hold options: one, one for each option, or the text itself behind the question."""
    for plain in NAMES["options"]:
        path = head.named.get(plain)
        if path and head.share(path, _are_options) >= HALF:
            return FieldSource(columns=(path,), reason=f"called {plain}, and a list of options")
    family = _family(head)
    if family:
        return FieldSource(columns=family, reason="an option in each")
    answers = head.named.get("answers", "")
    if answers and "label" in head.named and head.share(answers, _is_list_of_texts) >= MOSTLY:
        return FieldSource(columns=(answers,), reason="a list of answers beside a label")
    paths = (head.named[plain] for plain in NAMES["options"] if plain in head.named)
    named = next((path for path in paths if head.values.get(path)), None)
    if named and not head.share(named, _is_single_word):
        # What is wrong with it is said row by row.
        return FieldSource(columns=(named,), reason="called options")
    if text and head.share(text, _ends_in_options) >= MOSTLY:
        return FieldSource(columns=(text,), reason="marked in the text")
    return None


def _family(head: TableHead) -> tuple[str, ...]:
    """Columns that hold the options A, B, C or 1, 2, 3 and so on, two at least; in the order of their letters."""
    families: dict[str, dict[str, str]] = {}
    for plain, path in head.named.items():
        if match := FAMILY.fullmatch(plain):
            families.setdefault(match["stem"] or "", {})[match["place"]] = path
    for stem, members in families.items():
        # Accepted answers have columns of their own as well, where no other column says which option is right.
        if stem.startswith("ans") and not _other_answer(head, members.values()):
            continue
        for sequence in PLACES:
            count = next((number for number, place in enumerate(sequence) if place not in members), len(sequence))
            columns = tuple(members[place] for place in sequence[:count])
            if count > 1 and all(map(head.is_scalar, columns)):
                return columns
    return ()


def _other_answer(head: TableHead, columns: Collection[str]) -> bool:
    return any(plain in head.named and head.named[plain] not in columns for plain in NAMES["answer"])


def find_answer(head: TableHead, *, taken: Collection[str], options: FieldSource | None) -> FieldSource | None:
    """The column whose values are answers: with options the one that means most of them."""
    usable = [
        (plain, head.named[plain])
        for plain in NAMES["answer"]
        if plain in head.named and head.named[plain] not in taken
    ]
    if options:
        meant = {path: _share_meant(head, path, options) for _, path in usable}
        best = max(usable, key=lambda pair: meant[pair[1]], default=None)
        if best and meant[best[1]] >= HALF:
            return FieldSource(columns=(best[1],), reason=f"called {best[0]}, and means an option")
        usable = [pair for pair in usable if pair[0].startswith(("answer", "correct"))]
    for plain, path in usable:
        if head.share(path, _is_answer) >= HALF and not _is_class(head, plain, path):
            return FieldSource(columns=(path,), reason=f"called {plain}")
    names = (f"answer{mark}{number}" for mark in ("", "_") for number in "0123456789")
    numbered = tuple(head.named[name] for name in names if name in head.named and head.named[name] not in taken)
    return FieldSource(columns=numbered, reason="an accepted answer in each") if numbered else None


def _is_class(head: TableHead, plain: str, path: str) -> bool:
    """Whether a column of labels or scores holds numbers that answer no question."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in head.values[path])
    return numbers and plain in ("label", "target", "correct", "gold", "key", "output", "response")


def find_pair(head: TableHead) -> Mapping[str, FieldSource]:
    """Two answers and which is preferred, where no column is called the better one."""
    if "better" in head.named or "chosen" in head.named:
        return {}
    for stem in dict.fromkeys(match["stem"] for plain in head.named if (match := PAIR.fullmatch(plain))):
        # A mere label of answers says which of several options is right.
        deciding = DECISIONS if stem.startswith("ans") else NAMES["winner"]
        winner = next((head.named[plain] for plain in deciding if plain in head.named), None)
        for places in ("abc", "123"):
            paths = [head.named.get(f"{stem}_{place}", head.named.get(f"{stem}{place}")) for place in places]
            pair = [path for path in (*paths[:2], winner) if path]
            if len(pair) == 3 and paths[2] is None:
                named = zip(CHOSEN, pair, strict=False)
                return {name: FieldSource(columns=(path,), reason="two answers and a choice") for name, path in named}
    return {}


def answers_beside_options(
    rows: Iterable[Row], answer: FieldSource, options: FieldSource | None
) -> Iterator[tuple[Any, Options | None]]:
    """The answers of every row that has one, and the row's options."""
    for row in rows:
        value = field_value("answer", answer.columns, row.values)
        if not is_missing(value):
            yield value, None if options is None else options_of(field_value("options", options.columns, row.values))


def first_index(pairs: Iterable[tuple[Any, Options | None]]) -> tuple[int | None, bool]:
    """Where answers that are numbers begin to count, and whether they leave that open.

    A 0 anywhere says 0, a number of all options anywhere says 1. Numbers that are texts of their options in every row
    are no indexes.
    """
    numbers = [
        (index, len(options.texts), is_text_of(single, options))
        for value, options in pairs
        for single in singles(value)
        if options and (index := index_of(single)) is not None and index >= 0
    ]
    if not numbers or all(is_text for _, _, is_text in numbers):
        return None, False
    if any(index == 0 for index, _, _ in numbers):
        return 0, False
    return (1, False) if any(index == count for index, count, _ in numbers) else (None, True)


def options_of(value: Any) -> Options | None:
    """Options of a cell or of several; None where they cannot be read."""
    try:
        read = options_in(value) if isinstance(value, Cells) else read_options(value)
    except Unfit:
        read = None
    return options_within(value)[1] if read is None and isinstance(value, str) else read


def singles(value: Any) -> list[Any]:
    """The single answers of a cell; none where it cannot be read."""
    try:
        return accepted_values(value)
    except Unfit:
        return []


def _share_meant(head: TableHead, path: str, options: FieldSource) -> float:
    """The share of the answers in a column that mean an option of their row, as a text, a letter or an index."""
    pairs = answers_beside_options(head.rows, FieldSource(columns=(path,), reason=""), options)
    meant = [_may_mean(value, own) for value, own in pairs if own]
    return sum(meant) / len(meant) if meant else 0.0


def _may_mean(value: Any, options: Options) -> bool:
    answers = singles(value)
    return bool(answers) and all(
        isinstance(single, str | int | float) and _means_one(single, options) for single in answers
    )


def _means_one(single: Any, options: Options) -> bool:
    index = index_of(single)
    if is_letter(single) or isinstance(single, bool) or is_text_of(single, options) or index == -1:
        return True
    said = str(single).casefold()
    return (index is not None and 0 <= index <= len(options.texts)) or any(
        option.casefold() in said for option in options.texts
    )


def _are_options(value: Any) -> bool:
    try:
        return read_options(value) is not None
    except Unfit:
        return False


def _is_single_word(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value.split()) == 1 and "|" not in value)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(item, str) for item in value)


def _ends_in_options(value: Any) -> bool:
    """Whether a text asks something and then lists options with their marks."""
    if not isinstance(value, str) or is_conversation(value):
        return False
    try:
        asked, options = options_within(value)
    except Unfit:
        return False
    return bool(asked) and options is not None


def _is_answer(value: Any) -> bool:
    answers = singles(value)
    return bool(answers) and all(isinstance(single, str | int | float) for single in answers)
