"""What is asked of a history, in SQL: the only module that imports DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from contrapose.tasks.core.history_records import History, PastRun
from contrapose.tasks.history.dataset import from_row
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
      AND (len($tests) = 0 OR list_has_any(list_transform(tests, lambda test: test.test_type), $tests))
"""
LATEST = f"""
    SELECT * FROM runs {WHERE}
    QUALIFY $last IS NULL OR row_number() OVER (PARTITION BY suite, model ORDER BY started DESC, run_id DESC) <= $last
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
    """Return runs of a history, the oldest first: of any suite, model and verdict where these are None.

    With `tests` only runs with one of these, and only these of their tests; with `last` at most so many of each suite
    and model, the newest.
    """
    wanted = {"suite": suite, "model": model, "verdict": verdict, "tests": list(tests), "last": last}
    (chosen,) = _select(rows, wanted)
    if not tests:
        return chosen
    return [{**run, "tests": [test for test in run["tests"] if test["test_type"] in tests]} for run in chosen]


def _select(rows: pa.Table, *queries: Mapping[str, Any]) -> list[list[PastRun]]:
    """Return the runs of each query, asked of a database that sees the rows of a history, and nothing else."""
    if not rows.num_rows:
        return [[] for _ in queries]
    import duckdb

    with duckdb.connect(config=dict(CLOSED)) as connection:
        connection.register("runs", rows)
        values = ({"suite": None, "model": None, "verdict": None, "tests": [], "last": None, **own} for own in queries)
        tables = [connection.sql(LATEST, params=own).to_arrow_table() for own in values]
    return [[from_row(row) for row in table.to_pylist()] for table in tables]


def history(rows: pa.Table, run: PastRun) -> History:
    """Return the runs before a run: those of its suite in the rows of a history, which are without this run."""
    line = {"suite": run["suite"], "model": run["model"], "last": 1}
    queries = line, {**line, "verdict": "pass"}, {"suite": run["suite"], "last": MOST}
    own, green, others = _select(rows, *queries)
    before = next(iter(green or own), None)
    others = sorted(others, key=lambda past: past["started"])
    return History(
        runs=(*others[-(MOST - 1) :], run),
        green=next(iter(green), None),
        previous=next(iter(own), None),
        changes=changes(before, run) if before else (),
    )
