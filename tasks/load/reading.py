"""One pass over a source, told by its name: every row is made into a sample, and what is wrong is gathered."""

from __future__ import annotations

import difflib
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import numpy as np

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError, together
from contrapose.tasks.core.outcome import LeftOut, LeftOutRow
from contrapose.tasks.core.records import Sample
from contrapose.tasks.core.registry import find, names
from contrapose.tasks.load import bundled
from contrapose.tasks.load.building import Builder
from contrapose.tasks.load.describing import HEAD, describe, refuse_unasked
from contrapose.tasks.load.description import TableDescription
from contrapose.tasks.load.opening import failure, folder_given, refuse_wide
from contrapose.tasks.load.rows import Omission, Problem, Row, escaped, shown

KEPT_ROWS = 20
"""Bad rows whose problems are kept, for an error or a report; the others are counted."""

OPTION = "leave out what cannot be used with --skip-bad-rows (skip_bad_rows: true in a suite)"
"""The other remedy, where good rows would be left."""


@dataclass(slots=True, kw_only=True)
class SourceReading:
    """A pass over a source, and what it has found so far; it keeps no samples."""

    data: DataSettings
    """The source and its columns."""
    sample_type: type[Sample]
    """What its rows become."""
    uses_answers: bool = True
    """Whether the test uses right answers."""
    description: TableDescription | None = None
    """Which column holds what; known once the first rows are read."""
    suspects: frozenset[int] | None = None
    """Hashes of ids that occur more than once; None when nothing is known about them yet."""
    columns: dict[str, None] = field(default_factory=dict)
    """Every column that a row had, in the order of their appearance."""
    notes: tuple[str, ...] = ()
    """What people should know about how the source is read."""
    omitted: Counter[str] = field(default_factory=Counter)
    """Rows that are in order and have no sample, by the reason."""
    good: int = 0
    """How many rows fit."""
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    """Row number and problem of the first bad rows."""
    bad: int = 0
    """How many rows do not fit."""
    hashes: array[int] = field(default_factory=lambda: array("q"))
    """Of every sample id: 8 bytes a row, where a set of the ids takes a hundred."""
    asked: array[int] = field(default_factory=lambda: array("q"))
    """The same of what each sample asks."""
    rows_of: dict[str, int] = field(default_factory=dict)
    """Row number of each suspected id."""

    def samples(self, *, most: int | None = None) -> Iterator[Sample]:
        """The samples of a source in its order; what is wrong with its rows is told after the last one.

        Args:
            most: read only so many rows.

        Raises:
            DataError: there are no rows, a column is missing, or rows cannot be used: any of them, or, where bad ones
                are to be left out, all of them.
        """
        rows: Iterator[Row] = islice(find("sources", format_of(self.data))(self.data), most)
        head = list(islice(rows, HEAD))
        self.notes = head[0].notes if head else ()
        refuse_wide(len({name for row in head for name in row.values}), self.data.source)
        readable = [row for row in head if row.problem is None]
        self.description = describe(readable, self.data, self.sample_type)
        if readable:
            refuse_unasked(self.description, readable, self.data, uses_answers=self.uses_answers)
        builder = Builder(
            description=self.description,
            stem=stem_of(self.data),
            uses_answers=self.uses_answers,
            slice_by=self.data.slice_by,
        )
        for row in chain(head, rows):
            self.columns.update(dict.fromkeys(row.values))
            refuse_wide(len(self.columns), self.data.source)
            for built in builder.build(row):
                sample = self._new(built, row.number)
                if isinstance(sample, Problem):
                    self._note(sample, row.number)
                elif isinstance(sample, Omission):
                    self.omitted[sample.reason] += 1
                else:
                    self.good += 1
                    yield sample
        if not self.data.skip_bad_rows:
            self._refuse_repeated(most)
        _refuse_unusable(self)

    def warnings(self) -> list[str]:
        """What people should know although nothing is wrong; known after the last sample."""
        description = self.description
        warnings = [*self.notes, *(description.warnings if description else ())]
        if description is not None and not self.uses_answers:
            warnings += description.problems
        warnings += [f"{count:,} rows are left out: {reason}" for reason, count in self.omitted.items()]
        if repeats := len(self.asked) - len(np.unique(np.array(self.asked, dtype=np.int64))):
            warnings.append(f"{repeats:,} of {self.good:,} rows ask what another row asks")
        return [f"{escaped(self.data.source)}: {warning}" for warning in warnings]

    def _note(self, problem: Problem, number: int) -> None:
        """Count a row that cannot be used, and keep the problem of the first ones."""
        self.bad += 1
        if len(self.problems) < KEPT_ROWS:
            self.problems.append((number, problem))

    def left_out(self) -> LeftOut | None:
        """What could not be used; None where all could."""
        if not self.bad:
            return None
        rows = [
            LeftOutRow(row=number, column=problem.column, why=f"{problem.observed}; expected {problem.expected}")
            for number, problem in self.problems
        ]
        return LeftOut(count=self.bad, rows=rows)

    def repeated(self) -> frozenset[int]:
        """Hashes of ids that look repeated; two ids may share one."""
        values, counts = np.unique(np.array(self.hashes, dtype=np.int64), return_counts=True)
        return frozenset(values[counts > 1].tolist())

    def _new(self, built: Sample | Problem | Omission, number: int) -> Sample | Problem | Omission:
        """The sample, or the problem that its id is that of an earlier row."""
        if isinstance(built, Problem | Omission):
            return built
        code = hash(built.id)
        self.asked.append(hash(replace(built, id="", slice=None, cluster=None)))
        if self.suspects is None:
            self.hashes.append(code)
        elif code in self.suspects and (first := self.rows_of.setdefault(built.id, number)) != number:
            return Problem(f"id {shown(built.id)} is that of row {first} too", "an id of its own for each row")
        return built

    def _refuse_repeated(self, most: int | None) -> None:
        """Read again where ids look repeated, and tell which rows share one."""
        if repeated := self.repeated():
            again = SourceReading(
                data=self.data, sample_type=self.sample_type, uses_answers=self.uses_answers, suspects=repeated
            )
            for _ in again.samples(most=most):
                pass


def _refuse_unusable(reading: SourceReading) -> None:
    if not reading.good and not reading.bad:
        why = ", ".join(f"{count} rows: {reason}" for reason, count in reading.omitted.items()) or "there are no rows"
        raise failure(reading.data.source, why, expected="at least one row", remedy="Add some.")
    if reading.good and reading.data.skip_bad_rows:
        return
    if reading.bad:
        raise _bad_rows(reading)


def _or_skipped(remedy: str, reading: SourceReading) -> str:
    """A remedy, and the other one where rows would be left."""
    return f"{remedy}, or {OPTION}." if reading.good else f"{remedy}."


def _bad_rows(reading: SourceReading) -> DataError:
    """Every problem of every bad row that was kept, and of several the count before them."""
    source = escaped(reading.data.source)
    single = [
        DataError(
            problem.observed,
            expected=problem.expected,
            remedy=_or_skipped(problem.remedy, reading) if reading.bad == 1 else f"{problem.remedy}.",
            where=f"{source}, row {number}",
        )
        for number, first in reading.problems
        for problem in (first, *first.also)
    ]
    if reading.bad == 1:
        return together(single)
    count = DataError(
        f"{reading.bad} rows cannot be used",
        expected=f"all {reading.good + reading.bad} to be usable",
        remedy=_or_skipped("Correct these rows", reading),
        where=source,
    )
    return together([count, *single], uncounted=reading.bad - len(reading.problems))


HUGGING_FACE = "hf/"


def format_of(data: DataSettings) -> str:
    """The name in `SOURCES` that reads this source.

    Raises:
        DataError: neither the settings nor the name tell.
    """
    if data.format is not None:
        return data.format
    if data.source.startswith(HUGGING_FACE):
        return "hf"
    suffix = PurePosixPath(_file_name(data.source)).suffix.removeprefix(".").lower()
    if not suffix and not set(data.source) & {"/", "\\"}:
        return "bundled"
    if suffix in _file_formats():
        return suffix
    if Path(data.source).expanduser().is_dir():
        raise folder_given(data.source)
    formats = _file_formats()
    close = difflib.get_close_matches(suffix, formats, n=1)
    hint = f" Did you mean .{close[0]}?" if close else ""
    raise DataError(
        f"unknown suffix {shown('.' + suffix)}" if suffix else "the name has no suffix",
        expected=f"a file that ends in .{', .'.join(formats)}, or one of the bundled names "
        f"{', '.join(bundled.bundled_names())}",
        remedy=f"Rename the file, or set format.{hint}",
        where=escaped(data.source),
    )


def stem_of(data: DataSettings) -> str:
    """A short name for the source: `openbookqa_test` of `data/openbookqa_test.jsonl`."""
    name = _file_name(data.source)
    return (name if format_of(data) == "hf" else PurePosixPath(name).stem) or "row"


def _file_name(source: str) -> str:
    """Last part of a path or URL, without a query and without the ending of its compression."""
    outer = source.partition("::")[0]
    path = urlsplit(outer).path if outer.startswith(("http://", "https://")) else outer
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".gz")


def _file_formats() -> list[str]:
    return [name for name in names("sources") if name not in ("bundled", "hf")]
