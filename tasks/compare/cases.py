"""Whether two runs made the same cases of the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.compare.reading import read_columns
from contrapose.tasks.compare.runs import FinishedRun
from contrapose.tasks.errors import ComparisonError

COLUMNS = pa.schema([(name, pa.string()) for name in ("id", "sample_id", "skip_reason")])


def refuse_other_cases(runs: Sequence[FinishedRun], test: str) -> None:
    """Refuse runs of which one has a case that the other has not.

    What one of them could not perturb may lack in it, or have other cases in the other: some models are asked in ways
    that others cannot be. Such cases are counted, and no reason to refuse.

    Raises:
        ComparisonError: with the first case that is missing.
    """
    first = _cases(runs[0], test)
    for run in runs[1:]:
        other = _cases(run, test)
        if first["id"].equals(other["id"]):
            continue
        for one, two, missing in ((first, other, (runs[0], run)), (other, first, (run, runs[0]))):
            lacking = _lacking(one, two)
            if len(lacking):
                raise _missing(lacking[0].as_py(), *missing, test=test, count=len(lacking))


def _cases(run: FinishedRun, test: str) -> pa.Table:
    """Id, sample and reason to skip it, of every case of a test that is no control."""
    rows = (pc.field("probe") == test) & ~pc.field("control")
    return read_columns(run.folder / "cases.parquet", COLUMNS, rows=rows)


def _lacking(one: pa.Table, other: pa.Table) -> Any:
    """Ids of the first that the second should have, too."""
    alone = one.filter(pc.invert(pc.is_in(one["id"], other["id"])))
    skipped = other.filter(other["skip_reason"].is_valid())["sample_id"]
    excused = pc.or_(alone["skip_reason"].is_valid(), pc.is_in(alone["sample_id"], skipped))
    known = pc.is_in(alone["sample_id"], other["sample_id"])
    return alone.filter(pc.invert(pc.and_(excused, known)))["id"]


def _missing(case: str, one: FinishedRun, other: FinishedRun, *, test: str, count: int) -> ComparisonError:
    named = f"case {case!r}" + (f" (one of {count})" if count > 1 else "")
    return ComparisonError(
        f"{named} is in {one.folder.name} and not in {other.folder.name}",
        expected="the same cases in runs that are compared",
        remedy="Evaluate both models on the same rows, with the same limit and seed.",
        where=f"{other.folder.name}, {test}",
    )
