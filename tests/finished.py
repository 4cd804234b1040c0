"""Folders of finished runs, as small as a comparison allows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.compare.runs import FinishedRun, read_finished_run
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.places import Place
from contrapose.tasks.tables.results import COMMON, make_schema

TEST = "order_bias"
SETTINGS = {"read_with": "auto", "margin": 0.05}

Row = Mapping[str, Any]


def rows_from(passed: Sequence[bool | None], **columns: Any) -> list[Row]:
    """A row for each outcome, of samples s0, s1, …; None: not scored."""
    return [{"sample_id": f"s{number}", "pass": value, **columns} for number, value in enumerate(passed)]


def write_run(
    folder: Path,
    rows: Sequence[Row],
    *,
    model: str = "mock",
    skipped: Sequence[str] = (),
    config: Mapping[str, Any] | None = None,
    outcome: Mapping[str, Any] | None = None,
    verdict: str = "pass",
) -> Path:
    """Write a run of one test.

    Args:
        folder: of the run; its name is the run's id.
        rows: of results.parquet, each with any of its columns.
        model: that answered.
        skipped: samples that could not be perturbed.
        config: keys of the configuration that differ from the defaults.
        outcome: keys of the test's outcome that differ.
        verdict: of the run.
    """
    folder.mkdir(parents=True)
    chosen = RunConfig.model_validate({"model": model, "tests": {"factuality": {TEST: {}}}, **(config or {})})
    told = {"config": chosen.model_dump(mode="json")}
    test = {
        "test_type": TEST,
        "category": "factuality",
        "probe_version": "1",
        "settings": SETTINGS,
        "data": {"source": "summary_pairs", "sha256": "abc", "rows": len(rows)},
        **(outcome or {}),
    }
    summary = {
        "run_id": folder.name,
        "verdict": verdict,
        "model": {"id": model, "revision": "1"},
        "tests": [test],
    }
    (folder / "manifest.json").write_text(json.dumps(told))
    (folder / "summary.json").write_text(json.dumps(summary))
    _write_tables(folder, [_filled(row) for row in rows], skipped)
    return folder


def run_of(folder: Path, rows: Sequence[Row], **changes: Any) -> FinishedRun:
    """The same, read back."""
    return read_finished_run(str(write_run(folder, rows, **changes)), Place(str(folder.parent)))


def _filled(row: Row) -> dict[str, Any]:
    plain = {"test_type": TEST, "case_id": f"{TEST}/{row['sample_id']}", "control": False, "scorer": "likelihood"}
    return {**dict.fromkeys(COMMON), **plain, **row}


def _write_tables(folder: Path, rows: list[dict[str, Any]], skipped: Sequence[str]) -> None:
    schema = make_schema(COMMON)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / "results.parquet")
    cases = [
        {
            "id": row["case_id"],
            "sample_id": row["sample_id"],
            "probe": row["test_type"],
            "skip_reason": None,
            "control": row["control"],
        }
        for row in rows
    ]
    cases += [
        {"id": f"{TEST}/{name}", "sample_id": name, "probe": TEST, "skip_reason": "empty", "control": False}
        for name in skipped
    ]
    schema = pa.schema([(name, pa.bool_() if name == "control" else pa.string()) for name in cases[0]])
    pq.write_table(pa.Table.from_pylist(cases, schema=schema), folder / "cases.parquet")
