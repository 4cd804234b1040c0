"""The first rows of a table, by columns: what describes a table looks at names and values here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from contrapose.tasks.load.cells import is_missing
from contrapose.tasks.load.conversations import first_of_turns, is_conversation
from contrapose.tasks.load.field_names import is_row_like, plain_name
from contrapose.tasks.load.rows import Row

DEPTH = 2
"""Levels of objects whose keys are looked at."""
MOST_KEYS = 30
"""Keys of an object; one with more holds data under its keys."""
MOST = 0.9
"""Share of values that must be of a kind."""


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
        for path in sorted(self.values, key=lambda path: path.count(".") if path not in self.columns else 0):
            parent, _, key = path.rpartition(".")
            if path in self.columns or is_row_like(parent):
                named.setdefault(plain_name(path if path in self.columns else key), path)
        return named

    def share(self, path: str, test: Callable[[Any], bool]) -> float:
        """The share of a column's values that pass a test; 0 where it has none."""
        values = self.values[path]
        return sum(map(test, values)) / len(values) if values else 0.0

    def is_text(self, path: str) -> bool:
        """Whether most rows have a text in a column."""
        return (
            2 * len(self.values[path]) >= len(self.rows)
            and self.share(path, lambda value: isinstance(value, str)) >= MOST
        )

    def is_question(self, path: str) -> bool:
        """Whether a column holds texts, conversations or lists of turns."""
        return self.is_text(path) or self.share(path, _is_asked) >= MOST

    def is_passage(self, path: str) -> bool:
        """Whether a column holds texts, lists or objects; some rows may have none."""
        return self.share(path, lambda value: isinstance(value, str | list | dict)) >= MOST

    def is_scalar(self, path: str) -> bool:
        """Whether a column holds texts, numbers or truth values."""
        return self.share(path, lambda value: isinstance(value, str | int | float)) >= MOST

    def names_rows(self, path: str) -> bool:
        """Whether a column has a value of its own for each row; in one that is called id, few mistakes are told."""
        values = self.values[path]
        single = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
        distinct = len(set(map(str, values)))
        if not single or not values or len(values) < MOST * len(self.rows):
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
