"""Find the columns that hold options, answers and pairs of answers, by names and values of a table's first rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from contrapose.tasks.core.tool_calls import read_calls
from contrapose.tasks.load.answers import is_letter, is_text_of, parse_index, read_accepted_values, read_preference
from contrapose.tasks.load.conversations import is_message_list, take_first_turn
from contrapose.tasks.load.description import CHOSEN, FAMILY, NAMES, PAIR, FieldSource, normalise_name, read_field
from contrapose.tasks.load.options import Options, read_options, split_off_options
from contrapose.tasks.load.rows import CellError, Row, is_missing

HALF = 0.5
"""Share of a column's values that must be read as what it is taken for."""
MOSTLY = 0.9
"""The same where a column is taken apart."""
PLACES = ("abcdefghij", "0123456789", "123456789")
"""How columns that hold an option each are counted."""
DECISIONS = ("winner", "preference", "preferred", "better", "vote", "verdict")
"""Columns that say which of two answers is better, and never which of two options is right."""
OBJECTS = frozenset(
    ("question", "prompt", "input", "inputs", "data", "item", "example", "sample", "row", "record", "fields", "doc")
)
"""Objects that stand for a row: their keys are looked at as columns are."""
DEPTH = 2
"""Levels of objects whose keys are looked at."""
MOST_KEYS = 30
"""Keys of an object; one with more holds data under its keys."""


@dataclass(frozen=True, kw_only=True)
class TableHead:
    """The first readable rows of a table."""

    rows: Sequence[Row]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the columns in the order of their first appearance."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.values))

    @cached_property
    def values(self) -> Mapping[str, list[Any]]:
        """Return the values of columns, and of keys below objects (`question.stem`), without missing values."""
        values: dict[str, list[Any]] = {}

        def add(path: str, value: Any, depth: int) -> None:
            held = values.setdefault(path, [])
            if not is_missing(value):
                held.append(value)
            if isinstance(value, Mapping) and depth < DEPTH and len(value) <= MOST_KEYS:
                for key, inner in value.items():
                    add(f"{path}.{key}", inner, depth + 1)

        for row in self.rows:
            for name, value in row.values.items():
                add(name, value, 0)
        return values

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """Return the paths of columns, and of keys below objects that hold a row, by plain name."""
        named: dict[str, str] = {}
        columns = frozenset(self.columns)
        for path in sorted(self.values, key=lambda path: path.count(".") if path not in columns else 0):
            parent, _, key = path.rpartition(".")
            if path in columns or normalise_name(parent.rpartition(".")[2]) in OBJECTS:
                named.setdefault(normalise_name(path if path in columns else key), path)
        return named

    def share(self, path: str, test: Callable[[Any], bool]) -> float:
        """Return the share of a column's values that pass a test, or 0 if it has no values."""
        values = self.values.get(path, [])
        return sum(map(test, values)) / len(values) if values else 0.0

    def holds(self, path: str, kinds: type | tuple[type, ...], *, share: float = MOSTLY) -> bool:
        """Return whether a column holds values of these types."""
        return self.share(path, lambda value: isinstance(value, kinds)) >= share

    def is_text(self, path: str) -> bool:
        """Return whether most rows have a text in a column."""
        return 2 * len(self.values[path]) >= len(self.rows) and self.holds(path, str)

    def is_question(self, path: str) -> bool:
        """Return whether a column holds texts, conversations or lists of turns."""
        return (
            self.is_text(path)
            or self.share(path, lambda value: is_message_list(value) or take_first_turn(value) is not None) >= MOSTLY
        )

    def is_preference(self, path: str) -> bool:
        """Return whether most values of a column name the better of two answers."""
        return self.share(path, lambda value: _read_or_none(read_preference, value) is not None) >= HALF

    def is_id(self, path: str) -> bool:
        """Return whether a column has a different value in each row; a column called id may repeat a few."""
        values = self.values[path]
        single = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
        distinct = len(set(map(str, values)))
        if not single or not values or len(values) < MOSTLY * len(self.rows):
            return False
        return 2 * distinct > len(values) if path.strip().lower() == "id" else distinct == len(values)

    def mean_words(self, path: str) -> float:
        """Return the mean number of words of a column of texts."""
        values = self.values[path]
        return sum(len(str(value).split()) for value in values) / len(values) if values else 0.0


def find_options(head: TableHead, *, text: str | None) -> FieldSource | None:
    """Return the columns that hold options: one column, one for each option, or the text itself after the question."""

    def has_options(value: Any) -> bool:
        return _read_or_none(read_options, value) is not None

    def is_list_of_texts(value: Any) -> bool:
        return isinstance(value, list) and len(value) > 1 and all(isinstance(item, str) for item in value)

    def is_word(value: Any) -> bool:
        text = isinstance(value, str) and len(value.split()) == 1 and "|" not in value
        return text or isinstance(value, int | float)

    def ends_in_options(value: Any) -> bool:
        if not isinstance(value, str) or is_message_list(value):
            return False
        asked, options = _read_or_none(split_off_options, value) or ("", None)
        return bool(asked) and options is not None

    paths = {plain: head.paths[plain] for plain in NAMES["options"] if plain in head.paths}
    for plain, path in paths.items():
        if head.share(path, has_options) >= HALF:
            return FieldSource(columns=(path,), reason=f"called {plain}, and a list of options")
    if family := _find_family(head):
        return FieldSource(columns=family, reason="an option in each")
    answers = head.paths.get("answers", "")
    if answers and "label" in head.paths and head.share(answers, is_list_of_texts) >= MOSTLY:
        return FieldSource(columns=(answers,), reason="a list of answers next to a label")
    called = next((path for path in paths.values() if head.values.get(path)), None)
    if called and not head.share(called, is_word):
        # What is wrong with it is said row by row.
        return FieldSource(columns=(called,), reason="called options")
    if text and head.share(text, ends_in_options) >= MOSTLY:
        return FieldSource(columns=(text,), reason="marked in the text")
    return None


def _find_family(head: TableHead) -> tuple[str, ...]:
    """Return the columns for options A, B, C or 1, 2, 3 (at least two), in the order of their letters."""
    families: dict[str, dict[str, str]] = {}
    for plain, path in head.paths.items():
        if match := FAMILY.fullmatch(plain):
            families.setdefault(match["stem"] or "", {})[match["place"]] = path
    for stem, members in families.items():
        # Accepted answers have columns of their own as well, where no other column says which option is right.
        others = {head.paths[plain] for plain in NAMES["answer"] if plain in head.paths} - {*members.values()}
        if stem.startswith("ans") and not others:
            continue
        for sequence in PLACES:
            count = next((number for number, place in enumerate(sequence) if place not in members), len(sequence))
            columns = tuple(members[place] for place in sequence[:count])
            if count > 1 and all(head.holds(path, (str, int, float)) for path in columns):
                return columns
    return ()


def find_answer(head: TableHead, *, taken: Collection[str], options: FieldSource | None) -> FieldSource | None:
    """Return the column whose values are answers; if there are options, the column that names most of them."""

    def is_answer(value: Any) -> bool:
        if isinstance(value, list | dict) and read_calls(value):
            return True
        answers = split_single_answers(value)
        return bool(answers) and all(isinstance(single, str | int | float) for single in answers)

    def is_class(plain: str, path: str) -> bool:
        # Labels and scores that are numbers answer no question; `right: true` judges an answer.
        values = head.values[path]
        if plain == "right":
            return not all(isinstance(value, str) for value in values)
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        return numbers and plain in ("label", "target", "correct", "gold", "key", "output", "response")

    usable = [
        (plain, head.paths[plain])
        for plain in NAMES["answer"]
        # Next to a column `left` it is a side.
        if plain in head.paths and head.paths[plain] not in taken and not (plain == "right" and "left" in head.paths)
    ]
    if options:
        meant = {path: _compute_share_meant(head, path, options) for _, path in usable}
        best = max(usable, key=lambda pair: meant[pair[1]], default=None)
        if best and meant[best[1]] >= HALF:
            return FieldSource(columns=(best[1],), reason=f"called {best[0]}, and means an option")
        usable = [pair for pair in usable if pair[0].startswith(("answer", "correct"))]
    for plain, path in usable:
        if head.share(path, is_answer) >= HALF and not is_class(plain, path):
            return FieldSource(columns=(path,), reason=f"called {plain}")
    names = (f"answer{mark}{number}" for mark in ("", "_") for number in "0123456789")
    numbered = tuple(head.paths[name] for name in names if name in head.paths and head.paths[name] not in taken)
    return FieldSource(columns=numbered, reason="an accepted answer in each") if numbered else None


def find_pair(head: TableHead) -> Mapping[str, FieldSource]:
    """Return the columns of two answers and of the preference; without it if columns name the better answer."""
    sides = ([head.paths[plain] for plain in NAMES[name] if plain in head.paths] for name in ("better", "worse"))
    if all(any(2 * len(head.values[path]) >= len(head.rows) for path in paths) for paths in sides):
        return {}  # most rows have a column for the better answer and one for the worse one
    for stem in dict.fromkeys(match["stem"] for plain in head.paths if (match := PAIR.fullmatch(plain))):
        named = (head.paths[plain] for plain in NAMES["winner"] if plain in head.paths)
        winner = next(filter(head.is_preference, named), None)
        for places in ("abc", "123"):
            paths = [head.paths.get(f"{stem}_{place}", head.paths.get(f"{stem}{place}")) for place in places]
            pair = [path for path in paths[:2] if path]
            if len(pair) == 2 and paths[2] is None:
                columns = (*pair, winner) if winner else pair
                reason = "two answers and a choice" if winner else "two answers"
                fields = zip(CHOSEN, columns, strict=False)
                return {name: FieldSource(columns=(path,), reason=reason) for name, path in fields}
    return {}


def yield_answers_with_options(
    rows: Iterable[Row], answer: FieldSource, options: FieldSource | None
) -> Iterator[tuple[Any, Options | None]]:
    """Yield the answers of every row that has one, and the row's options."""
    for row in rows:
        value = read_field("answer", answer.columns, row.values)
        if not is_missing(value):
            yield (
                value,
                None if options is None else read_options_or_none(read_field("options", options.columns, row.values)),
            )


def find_first_index(pairs: Iterable[tuple[Any, Options | None]]) -> tuple[int | None, bool]:
    """Return whether answers that are numbers count from 0 or 1, and whether that is unclear.

    A 0 anywhere says 0, a number of all options anywhere says 1. Numbers that are texts of their options in every row
    are no indexes.
    """
    numbers = [
        (index, len(options.texts), is_text_of(single, options))
        for value, options in pairs
        for single in split_single_answers(value)
        if options and (index := parse_index(single)) is not None and index >= 0
    ]
    if not numbers or all(is_text for _, _, is_text in numbers):
        return None, False
    if any(index == 0 for index, _, _ in numbers):
        return 0, False
    return (1, False) if any(index == count for index, count, _ in numbers) else (None, True)


def read_options_or_none(value: Any) -> Options | None:
    """Return the options in a cell, in several, or at the end of a text, or None if they cannot be read."""
    read = _read_or_none(read_options, value)
    return split_off_options(value)[1] if read is None and isinstance(value, str) else read


def split_single_answers(value: Any) -> list[Any]:
    """Return the single answers of a cell, or an empty list if it cannot be read."""
    return _read_or_none(read_accepted_values, value) or []


def _read_or_none(read: Callable[[Any], Any], value: Any) -> Any:
    """Return the result of `read` for a value, or None if the value cannot be used."""
    try:
        return read(value)
    except CellError:
        return None


def _compute_share_meant(head: TableHead, path: str, options: FieldSource) -> float:
    """Return the share of a column's answers that name an option of their row, by text, letter or index."""

    def means_option(single: Any, own: Options) -> bool:
        index = parse_index(single)
        if is_letter(single) or isinstance(single, bool) or is_text_of(single, own) or index == -1:
            return True
        said = str(single).casefold()
        in_range = index is not None and 0 <= index <= len(own.texts)
        return in_range or any(option.casefold() in said for option in own.texts)

    meant = []
    for value, own in yield_answers_with_options(head.rows, FieldSource(columns=(path,), reason=""), options):
        answers = split_single_answers(value)
        if own:
            meant.append(
                bool(answers)
                and all(isinstance(single, str | int | float) and means_option(single, own) for single in answers)
            )
    return sum(meant) / len(meant) if meant else 0.0
