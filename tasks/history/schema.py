"""One run as one row: the columns of a history file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

import pyarrow as pa

from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.core.outcome import SEVERITY

VERSION = 1
"""Raised when a column changes its meaning; a new column needs none, since readers take what they know."""

MARK = b"contrapose.history"
"""Key of the version in a file's metadata: a file without it is none of ours."""


def _field(name: str, kind: pa.DataType, description: str) -> pa.Field:
    return pa.field(name, kind, metadata={"description": description})


STOPPING = pa.struct(
    [
        _field("cases", pa.int64(), "Cases that would have been judged had none been decided early."),
        _field("judged", pa.int64(), "Cases that were."),
        _field("looks", pa.int64(), "How often the evidence was held against the gate."),
        _field("shares", pa.list_(pa.float64()), "Of all these cases, how many were judged at each look."),
        _field("saved", pa.int64(), "Questions that were not asked, since the test was decided without them."),
        _field("beside", pa.list_(pa.string()), "Runs that were asked side by side; empty where it was asked alone."),
    ]
)
TESTS = pa.list_(
    pa.struct(
        [
            _field("test_type", pa.string(), "Name of the test."),
            _field("verdict", pa.string(), "pass, fail, inconclusive or incomplete."),
            _field(
                "pass_rate", pa.float64(), "Passed share of the scored cases, 0 to 1; missing where none was scored."
            ),
            _field("low", pa.float64(), "Lower end of its 95 % interval."),
            _field("high", pa.float64(), "Upper end of its 95 % interval."),
            _field("min_pass_rate", pa.float64(), "The gate, 0 to 1."),
            _field("scored", pa.int64(), "Cases that were scored."),
            _field("stopping", STOPPING, "How far it was asked; missing where it was not to stop early."),
        ]
    )
)
SCHEMA = pa.schema(
    [
        _field("run_id", pa.string(), "Name of the run's folder."),
        _field("suite", pa.string(), "Name of the configuration."),
        _field("model", pa.string(), "Id of the model."),
        _field("started", pa.string(), "ISO 8601, in UTC."),
        _field("verdict", pa.string(), "The worst of the tests' verdicts."),
        _field("tests", TESTS, "One for each test, in order."),
        _field("made_of", pa.string(), "JSON: by model, data, prompt, scorer and library, names and their values."),
    ],
    metadata={MARK: str(VERSION).encode()},
)


def to_table(run: PastRun) -> pa.Table:
    """A run as a table of one row."""
    tests = [
        {name: value for name, value in test.items() if name != "interval"}
        | dict(zip(("low", "high"), test["interval"] or (None, None), strict=True))
        for test in run["tests"]
    ]
    made_of = json.dumps(run["made_of"], sort_keys=True)
    return pa.Table.from_pylist([{**run, "tests": tests, "made_of": made_of}], schema=SCHEMA)


def from_row(row: Mapping[str, Any]) -> PastRun:
    """Return the run of a row."""
    tests = []
    for test in row["tests"]:
        ends = test["low"], test["high"]
        kept = {name: test[name] for name in ("test_type", "verdict", "pass_rate", "min_pass_rate", "scored")}
        kept["interval"] = None if None in ends else ends
        tests.append(kept if test["stopping"] is None else {**kept, "stopping": test["stopping"]})
    return cast(PastRun, {**row, "tests": tests, "made_of": json.loads(row["made_of"])})


def verified_rows(table: pa.Table) -> pa.Table:
    """Return a file's rows with the columns of today, missing ones empty.

    Raises:
        ValueError: it was not written by a run, or a value cannot be what its column holds.
    """
    if MARK not in (table.schema.metadata or {}):
        raise ValueError("not written by a run")
    if not table.schema.equals(SCHEMA):
        known = table.select([name for name in SCHEMA.names if name in table.column_names])
        table = pa.concat_tables([SCHEMA.empty_table(), known], promote_options="permissive").cast(SCHEMA)
    if not all(map(_is_possible, table.to_pylist())):
        raise ValueError("a value is missing, or cannot be")
    return table


def _is_possible(row: Mapping[str, Any]) -> bool:
    """Return whether nothing is missing that a run always has, and every value is one that it can have."""
    if any(value is None for value in row.values()):
        return False
    for test in row["tests"]:
        if test is None or None in (test["test_type"], test["scored"]) or test["verdict"] not in SEVERITY:
            return False
        shares = (test[name] for name in ("pass_rate", "low", "high", "min_pass_rate"))
        if not all(share is None or 0 <= share <= 1 for share in shares):
            return False
        if stop := test["stopping"]:
            if None in stop.values() or not 0 <= stop["judged"] <= stop["cases"]:
                return False
            if stop["looks"] <= 0 or stop["saved"] < 0:
                return False
    facets = json.loads(row["made_of"])
    return (
        row["verdict"] in SEVERITY
        and isinstance(facets, dict)
        and all(isinstance(facts, dict) for facts in facets.values())
        and all(isinstance(value, str) for facts in facets.values() for value in facts.values())
    )
