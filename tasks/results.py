"""Result rows: the columns of results.parquet, named as in the design documents."""

from __future__ import annotations

import math

import pyarrow as pa

from contrapose.tasks.probes.base import ColumnType, Probe, lettered
from contrapose.tasks.records import Score, Trial

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
        pa.field("control", pa.bool_()),
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


def schema_for(probe: Probe) -> pa.Schema:
    """The common columns, then the probe's own."""
    return pa.schema([*COMMON, *(pa.field(name, TYPES[kind]) for name, kind in probe.columns.items())])


def figure_columns(schema: pa.Schema) -> list[str]:
    """The columns that figures of one test are computed from: neither texts nor names."""
    return [name for name in schema.names if name not in TEXTS | NAMES]


def result_row(trial: Trial, score: Score, *, probe: Probe, model: str) -> dict[str, object]:
    """One row of results; a value that is no finite number is stored as missing, never as NaN."""
    case = trial.case
    common: dict[str, object] = {
        "test_type": case.probe,
        "category": probe.category,
        "sample_id": case.sample_id,
        "case_id": case.id,
        "original": case.original,
        "test_case": case.perturbed,
        "options": lettered(case.options),
        "expected_result": score.expected_result if score.expected_result is not None else trial.expected.text,
        "actual_result": score.actual_result if score.actual_result is not None else trial.actual.text,
        "eval_score": score.value,
        "pass": score.passed,
        "reason": score.reason,
        "scorer": case.scorer,
        "model": model,
        "probe_version": case.version,
        "control": case.control,
        "confidence": case.confidence,
        "slice": case.slice,
        "cluster": case.cluster,
        "error": trial.expected.error or trial.actual.error,
    }
    return {name: _finite(value) for name, value in (common | dict(score.columns)).items()}


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
