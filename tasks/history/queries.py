"""Queries of a history: which runs it holds, and what was before a run."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.core.history_records import History, PastRun
from contrapose.tasks.history.dataset import from_row
from contrapose.tasks.history.series import changes

MOST = 100
"""Runs that a report is given: more are no chart that anybody reads."""


def runs(
    rows: pa.Table,
    *,
    suite: str | None = None,
    model: str | None = None,
    tests: Sequence[str] = (),
    verdict: str | None = None,
    last: int | None = None,
) -> list[PastRun]:
    """Return runs of a history, the oldest first: of any suite, model and verdict where these are None.

    With `tests` only runs with one of these, and only these of their tests; with `last` at most so many of each suite
    and model, the newest.
    """
    for name, value in (("suite", suite), ("model", model), ("verdict", verdict)):
        rows = rows if value is None else rows.filter(pc.equal(rows[name], value))
    if tests:
        asked = [any(test["test_type"] in tests for test in own) for own in rows["tests"].to_pylist()]
        rows = rows.filter(pa.array(asked, pa.bool_()))
    rows = rows.sort_by([("started", "ascending"), ("run_id", "ascending")])
    if last is not None:
        newest = rows.select(["suite", "model"]).to_pandas().groupby(["suite", "model"]).tail(last)
        rows = rows.take(pa.array(newest.index, pa.int64()))
    chosen = [from_row(row) for row in rows.to_pylist()]
    if not tests:
        return chosen
    return [{**run, "tests": [test for test in run["tests"] if test["test_type"] in tests]} for run in chosen]


def history(rows: pa.Table, run: PastRun) -> History:
    """Return the runs before a run: those of its suite in the rows of a history, which are without this run."""
    suite, model = run["suite"], run["model"]
    own = runs(rows, suite=suite, model=model, last=1)
    green = runs(rows, suite=suite, model=model, verdict="pass", last=1)
    others = runs(rows, suite=suite, last=MOST)
    before = next(iter(green or own), None)
    return History(
        runs=(*others[-(MOST - 1) :], run),
        green=next(iter(green), None),
        previous=next(iter(own), None),
        changes=changes(before, run) if before else (),
    )
