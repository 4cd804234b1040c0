"""One pass over a source: every row is made into a sample, and what is wrong is gathered."""

from __future__ import annotations

from dataclasses import dataclass, field

from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.errors import DataError
from contrapose.tasks.load.building import Builder
from contrapose.tasks.load.columns import check_shape
from contrapose.tasks.load.naming import format_of, stem_of
from contrapose.tasks.load.opening import failure
from contrapose.tasks.load.rows import Problem, escaped, shown
from contrapose.tasks.records import Sample
from contrapose.tasks.registry import find

SHOWN_ROWS = 5
"""Bad rows that one error describes; the others it counts."""


@dataclass(slots=True)
class Reading:
    """What a pass has found so far."""

    samples: list[Sample] = field(default_factory=list)
    """Of the rows that fit, in the order of the source."""
    columns: dict[str, None] = field(default_factory=dict)
    """Every column that a row had, in the order of their appearance."""
    rows_of: dict[str, int] = field(default_factory=dict)
    """Row number of each sample id."""
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    """Row number and problem of the first bad rows."""
    bad: int = 0
    """How many rows do not fit."""

    def take(self, built: Sample | Problem, number: int) -> None:
        """Keep a sample with a new id; note and count everything else."""
        if not isinstance(built, Problem):
            first = self.rows_of.setdefault(built.id, number)
            if first == number:
                self.samples.append(built)
                return
            built = Problem(f"id {shown(built.id)} is that of row {first} too", "an id of its own for each row")
        self.bad += 1
        if len(self.problems) < SHOWN_ROWS:
            self.problems.append((number, built))


def read_all(data: DataSettings, sample_type: type[Sample]) -> Reading:
    """Every row of a source as a sample.

    Raises:
        DataError: there are no rows, a column is missing, or rows cannot be used.
    """
    reading = Reading()
    builder = Builder(data=data, sample_type=sample_type, stem=stem_of(data))
    for row in find("sources", format_of(data))(data):
        reading.columns.update(dict.fromkeys(row.values))
        reading.take(builder.build(row), row.number)
    _refuse_unusable(reading, data, sample_type)
    return reading


def _refuse_unusable(reading: Reading, data: DataSettings, sample_type: type[Sample]) -> None:
    if not reading.samples and not reading.bad:
        raise failure(data.source, "there are no rows", expected="at least one row", remedy="Add some.")
    # Without any column no row could be parsed, and the rows' own problems tell more.
    if reading.columns:
        check_shape(list(reading.columns), sample_type, data)
    if reading.bad == 1:
        raise _one_bad_row(*reading.problems[0], data)
    if reading.bad:
        raise _bad_rows(reading, data)


def _one_bad_row(number: int, problem: Problem, data: DataSettings) -> DataError:
    where = f"{escaped(data.source)}, row {number}"
    return DataError(problem.found, expected=problem.expected, remedy="Correct that row.", where=where)


def _bad_rows(reading: Reading, data: DataSettings) -> DataError:
    told = "; ".join(f"row {number}: {problem.found}" for number, problem in reading.problems)
    rest = reading.bad - len(reading.problems)
    return DataError(
        f"{reading.bad} rows cannot be used: {told}" + (f"; …and {rest} more" if rest else ""),
        expected=" and ".join(dict.fromkeys(problem.expected for _, problem in reading.problems)),
        remedy="Correct these rows.",
        where=escaped(data.source),
    )
