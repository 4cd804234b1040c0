"""Read a data source: detect its format, build samples from its rows, and collect errors."""

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
from contrapose.tasks.core.errors import DataError, join_errors
from contrapose.tasks.core.outcome import LeftOut, LeftOutRow
from contrapose.tasks.core.records import AnswerPair, Sample
from contrapose.tasks.core.registry import find, names
from contrapose.tasks.load import bundled
from contrapose.tasks.load.building import SampleBuilder
from contrapose.tasks.load.describing import HEAD, describe_table, refuse_table_without_question
from contrapose.tasks.load.description import TableDescription
from contrapose.tasks.load.opening import folder_error, refuse_wide, source_error
from contrapose.tasks.load.rows import Omission, Problem, Row, escape, quote

KEPT_ROWS = 20
"""Bad rows whose problems are kept, for an error or a report; the others are counted."""
HUGGING_FACE = "hf/"


@dataclass(slots=True, kw_only=True)
class SourceReading:
    """A pass over a source, and the facts found so far; it keeps no samples."""

    data: DataSettings
    sample_type: type[Sample]
    uses_answers: bool = True
    description: TableDescription | None = None
    """Which column holds what; known once the first rows are read."""
    columns: dict[str, None] = field(default_factory=dict)
    """Every column that a row had, in the order of their appearance."""
    notes: tuple[str, ...] = ()
    """What people should know about how the source is read."""
    omitted: Counter[str] = field(default_factory=Counter)
    """Rows that are in order and have no sample, by the reason."""
    unlabelled: int = 0
    """Pairs of answers of which nobody has said which one is better."""
    good: int = 0
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    """Row number and problem of the first bad rows."""
    bad: int = 0
    rows_of: dict[int, int] = field(default_factory=dict)
    """Row number of each sample id, by the hash of the id."""
    asked: array[int] = field(default_factory=lambda: array("q"))
    """Hash of what each sample asks."""

    def samples(self, *, most: int | None = None) -> Iterator[Sample]:
        """Yield the samples of at most `most` rows in order; raise all problems with rows after the last one.

        Raises DataError if there are no rows, a column is missing, or rows cannot be used: any of them, or, where
        bad ones are left out, all of them.
        """
        rows: Iterator[Row] = islice(find("sources", detect_format(self.data))(self.data), most)
        head = list(islice(rows, HEAD))
        self.notes = head[0].notes if head else ()
        refuse_wide(len({name for row in head for name in row.values}), self.data.source)
        readable = [row for row in head if row.problem is None]
        self.description = describe_table(readable, self.data, self.sample_type)
        if readable:
            refuse_table_without_question(self.description, readable, self.data, uses_answers=self.uses_answers)
        builder = SampleBuilder(
            description=self.description,
            stem=shorten_source_name(self.data),
            uses_answers=self.uses_answers,
            slice_by=self.data.slice_by,
            turn=self.data.turn,
        )
        for row in chain(head, rows):
            self.columns.update(dict.fromkeys(row.values))
            refuse_wide(len(self.columns), self.data.source)
            for built in builder.build(row):
                sample = built if isinstance(built, Problem | Omission) else self._check_id(built, row.number)
                if isinstance(sample, Omission):
                    self.omitted[sample.reason] += 1
                elif isinstance(sample, Problem):
                    self.bad += 1
                    if len(self.problems) < KEPT_ROWS:
                        self.problems.append((row.number, sample))
                else:
                    self.good += 1
                    self.unlabelled += isinstance(sample, AnswerPair) and sample.winner is None
                    yield sample
        if not self.good and not self.bad:
            why = ", ".join(f"{count} rows: {reason}" for reason, count in self.omitted.items()) or "there are no rows"
            raise source_error(
                self.data.source,
                why,
                expected="at least one row",
                remedy="Add rows to it, or name other data with --data.",
            )
        if self.bad and not (self.good and self.data.skip_bad_rows):
            raise self._bad_rows_error()

    def _check_id(self, sample: Sample, number: int) -> Sample | Problem:
        """Return a sample, or a problem if an earlier row has the same id."""
        first = self.rows_of.setdefault(hash(sample.id), number)
        if first != number:
            return Problem(f"id {quote(sample.id)} is that of row {first} too", "an id of its own for each row")
        self.asked.append(hash(replace(sample, id="", slice=None, cluster=None)))
        return sample

    def warnings(self) -> list[str]:
        """Return the warnings about the source; they are complete after the last sample."""
        description = self.description
        warnings = [*self.notes, *(description.warnings if description else ())]
        if description is not None and not self.uses_answers:
            warnings += description.problems
        warnings += [f"{count:,} rows are left out: {reason}" for reason, count in self.omitted.items()]
        if self.unlabelled:
            many = (
                "no row says"
                if self.unlabelled == self.good
                else f"{self.unlabelled:,} of {self.good:,} rows do not say"
            )
            warnings.append(f"{many} which answer is better: position counts there, and agreement with people does not")
        if repeats := len(self.asked) - len(np.unique(np.array(self.asked, dtype=np.int64))):
            warnings.append(f"{repeats:,} of {self.good:,} rows ask what another row asks")
        return [f"{escape(self.data.source)}: {warning}" for warning in warnings]

    def left_out(self) -> LeftOut | None:
        """Return the rows that could not be used, or None if all could."""
        if not self.bad:
            return None
        rows = [
            LeftOutRow(row=number, column=problem.column, why=f"{problem.observed}; expected {problem.expected}")
            for number, problem in self.problems
        ]
        return LeftOut(count=self.bad, rows=rows)

    def _bad_rows_error(self) -> DataError:
        """Return an error with every stored problem of bad rows, after their count if there are several."""
        source = escape(self.data.source)
        option = "leave out what cannot be used with --skip-bad-rows (skip_bad_rows: true in a suite)"
        otherwise = f", or {option}." if self.good else "."
        errors = [
            DataError(
                problem.observed,
                expected=problem.expected,
                remedy=f"{problem.remedy}{otherwise if self.bad == 1 else '.'}",
                where=f"{source}, row {number}",
            )
            for number, first in self.problems
            for problem in (first, *first.also)
        ]
        if self.bad == 1:
            return join_errors(errors)
        count = DataError(
            f"{self.bad} rows cannot be used",
            expected=f"all {self.good + self.bad} to be usable",
            remedy=f"Correct these rows{otherwise}",
            where=source,
        )
        return join_errors([count, *errors], uncounted=self.bad - len(self.problems))


def detect_format(data: DataSettings) -> str:
    """Return the name in `SOURCES` that reads a source, or raise DataError."""
    if data.format is not None:
        return data.format
    if data.source.startswith(HUGGING_FACE):
        return "hf"
    suffix = PurePosixPath(_find_file_name(data.source)).suffix.removeprefix(".").lower()
    if not suffix and not set(data.source) & {"/", "\\"}:
        return "bundled"
    formats = [name for name in names("sources") if name not in ("bundled", "hf")]
    if suffix in formats:
        return suffix
    if Path(data.source).expanduser().is_dir():
        raise folder_error(data.source)
    close = difflib.get_close_matches(suffix, formats, n=1)
    hint = f" Did you mean .{close[0]}?" if close else ""
    raise DataError(
        f"unknown suffix {quote('.' + suffix)}" if suffix else "the name has no suffix",
        expected=f"a file that ends in .{', .'.join(formats)}, or one of the bundled names "
        f"{', '.join(bundled.list_bundled_sets())}",
        remedy=f"Rename the file, or set format.{hint}",
        where=escape(data.source),
    )


def shorten_source_name(data: DataSettings) -> str:
    """Return a short name for a source: `openbookqa_test` of `data/openbookqa_test.jsonl`."""
    name = _find_file_name(data.source)
    return (name if detect_format(data) == "hf" else PurePosixPath(name).stem) or "row"


def _find_file_name(source: str) -> str:
    """Return the last part of a path or URL, without a query and without the ending of its compression."""
    outer = source.partition("::")[0]
    path = urlsplit(outer).path if outer.startswith(("http://", "https://")) else outer
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".gz")
