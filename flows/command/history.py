"""What `contrapose history` tells."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.history.dataset import place
from contrapose.tasks.history.queries import runs
from contrapose.tasks.history.reading import recorded
from contrapose.tasks.history.series import Series, SincePrevious, series, since_green
from contrapose.tasks.report.csv import inert

RATED = (
    *("suite", "model", "test_type", "run_id", "started", "verdict"),
    *("pass_rate", "low", "high", "min_pass_rate", "scored", "changed"),
)
"""Columns of the history."""

CHANGED = ("suite", "model", "run_id", "since", "since_verdict", "facet", "name", "before", "after")
"""Columns of its changes."""


def past_runs(
    chosen: str | None,
    output: str,
    *,
    suite: str | None = None,
    model: str | None = None,
    tests: Sequence[str] = (),
    last: int | None = None,
) -> tuple[list[PastRun], str]:
    """Runs of a history, the oldest first, and a warning about files that are none; empty where all are.

    Raises:
        ConfigError: the history cannot be read, or holds no such run.
    """
    where = place(chosen, output)
    if last is not None and last < 0:
        raise ConfigError(f"{last}", expected="0 or more", remedy="Write 0 for all runs.", where="--last")
    found = recorded(where)
    if not len(found.rows):
        raise ConfigError(
            found.warning or "no run is recorded there",
            expected="the history of at least one run",
            remedy="Name its folder or URL with --history; every run that is published adds itself.",
            where=where,
        )
    told = runs(found.rows, suite=suite, model=model, tests=tests, last=last or None)
    if not told:
        wanted = " and ".join(filter(None, [suite, model, *tests]))
        raise ConfigError(
            f"no run of {wanted}",
            expected=", ".join(sorted({f"{run['suite']} on {run['model']}" for run in runs(found.rows)})[:10]),
            remedy="Choose another suite, model or test.",
            where=where,
        )
    return told, found.warning


def as_data(found: Sequence[PastRun], *, changes: bool, style: str) -> str:
    """Runs for programs: a flat row for each test of each run, or for each change.

    Args:
        found: the oldest first.
        changes: tell what changed since the last run that passed, instead of pass rates.
        style: json or csv, which no spreadsheet takes for formulas.
    """
    rows = list(_change_rows(since_green(found)) if changes else _rows(series(found)))
    return json.dumps(rows, indent=2) if style == "json" else _csv(rows, CHANGED if changes else RATED)


def _rows(found: Sequence[Series]) -> Iterator[dict[str, Any]]:
    for each in found:
        for run, test, changed in ((point.run, point.test, point.changed) for point in each.points):
            low, high = test["interval"] or (None, None)
            own = (each.suite, each.model, each.test, run["run_id"], run["started"], test["verdict"])
            rate = (test["pass_rate"], low, high, test["min_pass_rate"], test["scored"])
            yield dict(zip(RATED, (*own, *rate, list(changed)), strict=True))


def _change_rows(found: Sequence[SincePrevious]) -> Iterator[dict[str, Any]]:
    for run, base, changes in ((each.run, each.base, each.changes) for each in found):
        for change in changes:
            own = (run["suite"], run["model"], run["run_id"])
            then = (base["run_id"], base["verdict"]) if base else ("", "")
            what = (change["facet"], change["name"], change["before"], change["after"])
            yield dict(zip(CHANGED, (*own, *then, *what), strict=True))


def _csv(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    sink = io.StringIO()
    writer = csv.DictWriter(sink, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return sink.getvalue().removesuffix("\n")


def _cell(value: Any) -> Any:
    text = " ".join(value) if isinstance(value, list) else value
    return inert(text) if isinstance(text, str) else text
