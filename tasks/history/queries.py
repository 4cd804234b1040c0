"""What is asked of a history, in SQL: the only module that imports DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from contrapose.tasks.core.history_records import History, PastRun
from contrapose.tasks.history.schema import from_row
from contrapose.tasks.history.series import changes

MOST = 100
"""Runs that a report is given: more are no chart that anybody reads."""

CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
"""DuckDB sees the one table that it is given: no file, no network, no extension."""

WHERE = """
    WHERE ($suite IS NULL OR suite = $suite) AND ($model IS NULL OR model = $model)
      AND ($verdict IS NULL OR verdict = $verdict)
      AND (len($tests) = 0 OR list_has_any(list_transform(tests, lambda each: each.test_type), $tests))
"""
LATEST = f"""
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY suite, model ORDER BY started DESC, run_id DESC) AS place
        FROM runs {WHERE}
    ) WHERE $last IS NULL OR place <= $last
    ORDER BY started, run_id
"""  # noqa: S608 (what is put together are two constants)


def runs(
    rows: pa.Table,
    *,
    suite: str | None = None,
    model: str | None = None,
    tests: Sequence[str] = (),
    verdict: str | None = None,
    last: int | None = None,
) -> list[PastRun]:
    """Runs of a history, the oldest first.

    Args:
        rows: of the history.
        suite: its name; None: any.
        model: its id; None: any.
        tests: names; only runs with one of these, and only these of their tests; none: any.
        verdict: of the run; None: any.
        last: at most so many of each suite and model, the newest.
    """
    import duckdb

    values = {"suite": suite, "model": model, "verdict": verdict, "tests": list(tests), "last": last}
    with duckdb.connect(config=dict(CLOSED)) as connection:
        connection.register("runs", rows)
        rows_found = connection.execute(LATEST, values)
        names = [column[0] for column in rows_found.description or ()]
        chosen = [from_row(_without_place(dict(zip(names, row, strict=True)))) for row in rows_found.fetchall()]
    return [_with(run, tests) for run in chosen] if tests else chosen


def history(rows: pa.Table, run: PastRun) -> History:
    """What was before a run, among runs of the same suite.

    Args:
        rows: of the history, without this run.
        run: this run.
    """
    own = runs(rows, suite=run["suite"], model=run["model"], last=1)
    green = runs(rows, suite=run["suite"], model=run["model"], verdict="pass", last=1)
    before = next(iter(green or own), None)
    others = sorted(runs(rows, suite=run["suite"], last=MOST), key=lambda past: past["started"])
    return History(
        runs=(*others[-(MOST - 1) :], run),
        green=next(iter(green), None),
        previous=next(iter(own), None),
        changes=changes(before, run) if before else (),
    )


def _without_place(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "place"}


def _with(run: PastRun, tests: Sequence[str]) -> PastRun:
    return {**run, "tests": [test for test in run["tests"] if test["test_type"] in tests]}
