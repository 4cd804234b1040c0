"""Prefect tasks: the gates of samples, cases, completions and results."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence

import pyarrow as pa

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.core.validation import Checked, Kind, Suite
from contrapose.tasks.tables.table import Table, batches
from contrapose.tasks.validate.expectations import SMALL
from contrapose.tasks.validate.gates import sift, store_broken_rows
from contrapose.tasks.validate.kinds import Handed, collect_handed, expect_rows, is_asked

PROBE = {"probes": "{plan.test}"}
"""The code of the test's probe is found by its name."""
CHECKED_BY = ("great-expectations",)
"""Package that checks tables against suites."""
PART = 20_000
"""Rows that are checked at once."""


@room_task("validate samples", by_name=PROBE, rests_on=CHECKED_BY, run_name="validate {plan.test} samples")
def validate_samples(plan: Plan, samples: Table, rows: int, own: list[Suite]) -> Checked:
    """Check the samples of a test, drawn from so many rows of their source, against their suites."""
    return _check("samples", [samples], plan, handed=expect_rows(plan, rows), own=own)


@room_task("validate cases", by_name=PROBE, rests_on=CHECKED_BY, run_name="validate {plan.test} cases")
def validate_cases(plan: Plan, cases: Table, samples: Table, own: list[Suite]) -> Checked:
    """Check the cases of a test against their suites, and against the samples that they were made from."""
    ids = collect_handed(plan, (part["id"] for part in batches(samples, columns=["id"])))
    return _check("cases", [cases], plan, handed=ids, own=own)


@room_task("validate completions", by_name=PROBE, rests_on=CHECKED_BY, run_name="validate {plan.test} completions")
def validate_completions(plan: Plan, trials: list[Table], cases: Table, own: list[Suite]) -> Checked:
    """Check the completions of a test, two for each trial, against their suites and the cases that were asked."""
    return _check("completions", trials, plan, handed=collect_handed(plan, _asked_ids(cases)), own=own)


@room_task("validate results", by_name=PROBE, rests_on=CHECKED_BY, run_name="validate {plan.test} results")
def validate_results(plan: Plan, results: Table, cases: Table, own: list[Suite]) -> Checked:
    """Check the results of a test against their suites, and against the cases that were asked."""
    return _check("results", [results], plan, handed=collect_handed(plan, _asked_ids(cases)), own=own)


def _asked_ids(cases: Table) -> Iterator[pa.ChunkedArray]:
    """Ids of the cases that were put to the model."""
    for part in batches(cases, columns=["id", "skip_reason"]):
        yield part.filter(is_asked(part))["id"]


def _check(kind: Kind, tables: Sequence[Table], plan: Plan, *, handed: Handed, own: list[Suite]) -> Checked:
    def parts() -> Iterator[pa.Table]:
        return (part for table in tables for part in batches(table, rows=PART))

    sifted = sift(kind, parts(), plan, handed=handed, own=own)
    if sifted.rows > SMALL:
        # What the library leaves in cycles holds all that was at hand, and is no longer young.
        gc.collect()
    broken = store_broken_rows(kind, parts(), sifted)
    return Checked(test=plan.test, table=kind, rows=sifted.rows, findings=sifted.findings, broken=broken)
