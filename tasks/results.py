"""Result rows: the columns of results.parquet, named as in the design documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.probes.base import ColumnType, Probe, lettered
from contrapose.tasks.records import Case, Score, Trial

COMMON = pa.schema(
    [
        pa.field("test_type", pa.string()),
        pa.field("category", pa.string()),
        pa.field("sample_id", pa.string()),
        pa.field("case_id", pa.string()),
        pa.field("original", pa.string()),
        pa.field("test_case", pa.string()),
        pa.field("options", pa.string()),
        pa.field("expected_result", pa.string()),
        pa.field("actual_result", pa.string()),
        pa.field("eval_score", pa.float64()),
        pa.field("pass", pa.bool_()),
        pa.field("reason", pa.string()),
        pa.field("scorer", pa.string()),
        pa.field("model", pa.string()),
        pa.field("probe_version", pa.string()),
        pa.field("undecided", pa.bool_()),
        pa.field("chance", pa.float64()),
        pa.field("control", pa.bool_()),
        pa.field("repeat", pa.int64()),
        pa.field("confidence", pa.string()),
        pa.field("slice", pa.string()),
        pa.field("cluster", pa.string()),
        pa.field("error", pa.string()),
    ]
)
TYPES: dict[ColumnType, pa.DataType] = {
    "string": pa.string(),
    "float": pa.float64(),
    "int": pa.int64(),
    "bool": pa.bool_(),
}


TEXTS = frozenset(
    {
        *("original", "test_case", "options", "expected_result", "actual_result", "reason"),
        *("article_sentence", "correct_sentence", "incorrect_sentence", "choice", "rotated_choice", "injected"),
    }
)
"""Columns for people to read: they make up most of a row, and no figure is computed from them."""

NAMES = frozenset({"test_type", "category", "case_id", "model", "probe_version"})
"""Columns that name a row or its test: no figure of one test is computed from them either."""


def settled(results: pd.DataFrame) -> pd.Series:
    """Which rows say whether their case passed: they are scored, and their replies leave nothing open.

    Args:
        results: with the columns `pass`, `error` and, but for runs of older versions, `undecided`.
    """
    known = results["pass"].notna() & results["error"].isna()
    return known & ~results["undecided"].eq(True) if "undecided" in results else known


def schema_for(probe: Probe) -> pa.Schema:
    """The common columns, then the probe's own."""
    return pa.schema([*COMMON, *(pa.field(name, TYPES[kind]) for name, kind in probe.columns.items())])


def figure_columns(schema: pa.Schema) -> list[str]:
    """The columns that figures of one test are computed from: neither texts nor names."""
    return [name for name in schema.names if name not in TEXTS | NAMES]


def result_table(trials: Sequence[Trial], scores: Sequence[Score], *, probe: Probe, model: str) -> pa.Table:
    """One row for each trial; a value that is no finite number is stored as missing, never as NaN.

    Args:
        trials: of one test.
        scores: theirs, in the same order.
        probe: the test's; it names the columns after the common ones.
        model: id of the model.
    """
    own = [score.columns for score in scores]
    columns = _of_cases([trial.case for trial in trials]) | _of_answers(trials, scores)
    columns |= {"category": [probe.category] * len(trials), "model": [model] * len(trials)}
    columns |= {name: [values.get(name) for values in own] for name in probe.columns}
    schema = schema_for(probe)
    return pa.Table.from_arrays([_array(columns[field.name], field.type) for field in schema], schema=schema)


def _of_cases(cases: Sequence[Case]) -> dict[str, list[Any]]:
    return {
        "test_type": [case.probe for case in cases],
        "sample_id": [case.sample_id for case in cases],
        "case_id": [case.id for case in cases],
        "original": [case.original for case in cases],
        "test_case": [case.perturbed for case in cases],
        "options": [lettered(case.options) for case in cases],
        "scorer": [case.scorer for case in cases],
        "probe_version": [case.version for case in cases],
        "control": [case.control for case in cases],
        "repeat": [case.repeat for case in cases],
        "confidence": [case.confidence for case in cases],
        "slice": [case.slice for case in cases],
        "cluster": [case.cluster for case in cases],
    }


def _of_answers(trials: Sequence[Trial], scores: Sequence[Score]) -> dict[str, list[Any]]:
    shown = [(score.expected_result, score.actual_result) for score in scores]
    return {
        "expected_result": [
            trial.expected.text if text is None else text for trial, (text, _) in zip(trials, shown, strict=True)
        ],
        "actual_result": [
            trial.actual.text if text is None else text for trial, (_, text) in zip(trials, shown, strict=True)
        ],
        "eval_score": [score.value for score in scores],
        "pass": [score.passed for score in scores],
        "undecided": [score.undecided for score in scores],
        "chance": [
            trial.case.chance if score.chance is None else score.chance
            for trial, score in zip(trials, scores, strict=True)
        ],
        "reason": [score.reason for score in scores],
        "error": [trial.expected.error or trial.actual.error for trial in trials],
    }


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_integer(kind):
        values = [None if isinstance(value, float) and not math.isfinite(value) else value for value in values]
    found = pa.array(values, kind, from_pandas=True)
    return pc.if_else(pc.is_finite(found), found, None) if pa.types.is_floating(kind) else found
