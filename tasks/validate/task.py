"""Tasks: both gates."""

from __future__ import annotations

from contrapose.tasks.policy import room_task
from contrapose.tasks.tables import Table, batches
from contrapose.tasks.validate.gates import refuse_bad_cases, refuse_bad_results

SOURCES = (
    "tasks/validate",
    "tasks/records.py",
    "tasks/results.py",
    "tasks/columnar.py",
    "tasks/tables.py",
    "tasks/probes",
)
PART = 20_000
"""Rows that are checked at once."""


@room_task("validate cases", sources=SOURCES, run_name="validate {test} cases")
def validate_cases(test: str, cases: Table) -> int:
    """Raise GateError unless the cases are sound; returns how many there are."""
    refuse_bad_cases(batches(cases, rows=PART), test=test)
    return cases["rows"]


@room_task("validate results", sources=SOURCES, run_name="validate {test} results")
def validate_results(test: str, results: Table, asked: int) -> int:
    """Raise GateError unless the results are sound and as many as the asked cases; returns how many there are."""
    refuse_bad_results(batches(results, rows=PART), test=test, asked=asked)
    return results["rows"]
