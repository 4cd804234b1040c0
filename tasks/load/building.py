"""A row made into a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.load.cells import label, optional_label, text
from contrapose.tasks.load.columns import PAIR, candidates, cell
from contrapose.tasks.load.options import Options, read_options, resolve
from contrapose.tasks.load.rows import Problem, Row, Unfit, shown
from contrapose.tasks.records import Sample, SummaryPair, TextSample

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """Makes the samples of one source."""

    data: DataSettings
    """The source and its columns."""
    sample_type: type[Sample]
    """What its rows become."""
    stem: str
    """Begins the ids of rows that have none: `<stem>-0001` for row 1."""

    def build(self, row: Row) -> Sample | Problem:
        """The sample of a row, or what is wrong with it first."""
        if row.problem is not None:
            return row.problem
        try:
            return self._pair(row) if self.sample_type is SummaryPair else self._text(row)
        except Unfit as error:
            return error.problem

    def _pair(self, row: Row) -> SummaryPair:
        article, correct, incorrect = (self._required(row, name) for name in PAIR)
        return SummaryPair(
            id=self._id(row),
            article_sentence=article,
            correct_sentence=correct,
            incorrect_sentence=incorrect,
            slice=self._optional(row, "slice", optional_label),
            cluster=self._optional(row, "cluster", optional_label),
        )

    def _text(self, row: Row) -> TextSample:
        options = self._optional(row, "options", _options)
        return TextSample(
            id=self._id(row),
            text=self._required(row, "text"),
            options=options.texts if options else (),
            answer=self._optional(row, "answer", lambda value: _answer(value, options)),
            slice=self._optional(row, "slice", optional_label),
            cluster=self._optional(row, "cluster", optional_label),
        )

    def _id(self, row: Row) -> str:
        return self._optional(row, "id", label) or f"{self.stem}-{row.number:04d}"

    def _required(self, row: Row, name: str) -> str:
        found = self._optional(row, name, text)
        if found is None:
            column = candidates(name, self.data)[-1]
            raise Unfit(f"column {shown(column)} is missing", expected="every row to have it", column=column)
        return found

    def _optional(self, row: Row, name: str, read: Callable[[Any], Value]) -> Value | None:
        """What `read` makes of a field; None when the row has no column for it."""
        found = cell(name, row.values, self.data)
        if found is None:
            return None
        try:
            return read(found.value)
        except Unfit as error:
            where = f"column {shown(found.column)}: {error.problem.found}"
            raise Unfit(where, expected=error.problem.expected, column=found.column) from error


def _options(value: Any) -> Options | None:
    return None if value is None else read_options(value)


def _answer(value: Any, options: Options | None) -> str | None:
    if value is None:
        return None
    return resolve(value, options) if options else text(value).strip()
