"""One description of a table: which column holds which of our fields, why, and which columns are not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from contrapose.tasks.core.outcome import ColumnsRead
from contrapose.tasks.core.records import Sample
from contrapose.tasks.load.cells import is_missing, lookup
from contrapose.tasks.load.layouts import Layout, layout_key
from contrapose.tasks.load.rows import Problem, Row, Unfit, escaped


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSource:
    """Where a field comes from."""

    columns: tuple[str, ...]
    """One column, or several that hold an option each or are joined; a key below an object behind a dot."""
    reason: str
    """Why: `set`, the name of a known layout, or what the name and the values say."""


@dataclass(frozen=True, kw_only=True)
class TableDescription:
    """Which column holds which field, and what is made of it."""

    sample_type: type[Sample]
    """What the rows become."""
    fields: Mapping[str, FieldSource]
    """Our field to where it comes from."""
    columns: tuple[str, ...]
    """Every column of the rows that were looked at."""
    layout: Layout | None = None
    """The known data set whose columns these are."""
    first_index: int | None = None
    """0 or 1, where an answer that is an index begins to count; None where no answer is one."""
    problems: tuple[str, ...] = ()
    """Why answers cannot be read, for a test that needs them; a warning for any other."""
    warnings: tuple[str, ...] = ()
    """What people should know although nothing is wrong."""

    @property
    def reshapes(self) -> bool:
        """Whether rows are taken apart before fields are read."""
        return self.layout is not None and self.layout.reshape is not None

    @property
    def reshapes_id(self) -> bool:
        """Whether each sample that is taken out of a row has an id of its own."""
        return self.reshapes and "id" not in self.fields

    @property
    def has_options_in_text(self) -> bool:
        """Whether options stand behind the question in the text itself."""
        source = self.fields.get("options")
        return source is not None and source.columns == self.fields["text"].columns and not self.reshapes

    def _has(self, row: Row, name: str) -> bool:
        """Whether a row has the column of a field, whatever that holds."""
        columns = self.fields[name].columns
        return len(columns) > 1 or columns[0] in row.values or "." in columns[0]

    def with_answers(
        self, first_index: int | None, problems: tuple[str, ...], *, warnings: tuple[str, ...]
    ) -> TableDescription:
        """The same, with how answers are read and what people should know."""
        return replace(self, first_index=first_index, problems=problems, warnings=warnings)

    @cached_property
    def read(self) -> frozenset[str]:
        """Columns that a field comes from, whole or by a key below them."""
        paths = {column for source in self.fields.values() for column in source.columns}
        return frozenset(
            column for column in self.columns if column in paths or any(p.startswith(f"{column}.") for p in paths)
        )

    @property
    def unread(self) -> tuple[str, ...]:
        """Columns that no field comes from."""
        return tuple(column for column in self.columns if column not in self.read)

    def summary(self) -> ColumnsRead:
        """What is read as what, and what is not, as reports keep it."""
        return ColumnsRead(
            layout=self.layout.name if self.layout else None,
            fields={name: list(map(escaped, source.columns)) for name, source in self.fields.items()},
            unread=list(map(escaped, self.unread)),
        )

    def parts(self, row: Row) -> Iterator[Mapping[str, Any] | Problem]:
        """The values of a row by our fields, once for each sample that the row holds."""
        if self.layout is None or self.layout.reshape is None:
            names = [name for name in self.fields if name != "options" or not self.has_options_in_text]
            there = [name for name in names if self._has(row, name)]
            yield {name: field_value(name, self.fields[name].columns, row.values) for name in there}
            return
        values = {layout_key(column): value for column, value in row.values.items()}
        try:
            parts = list(self.layout.reshape(values))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, Unfit):
            yield Problem(f"the row is not made as those of {self.layout.name}", f"rows of {self.layout.name}")
            return
        for part in parts:
            yield {name: value for name, value in part.items() if name in self.fields or name == "winner"}


def field_value(name: str, columns: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """The value of a field: that of its only column, or those of several as the field needs them."""
    if len(columns) == 1:
        return lookup(values, columns[0])
    cells = [lookup(values, column) for column in columns]
    if name == "options":
        return Cells(cells)
    if name == "winner":
        return cells
    there = [cell for cell in cells if not is_missing(cell)]
    if name == "answer":
        # Of a letter and a text the first that is there counts; of several texts each.
        return there if columns[0].rstrip("0123456789") == columns[1].rstrip("0123456789") else (there or [None])[0]
    return there[0] if len(there) == 1 or name == "id" else "\n\n".join(map(str, there)) or None


class Cells(list[Any]):
    """Cells of columns that hold an option each."""
