"""Task: report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from contrapose.tasks.outcome import Summary
from contrapose.tasks.policy import room_task
from contrapose.tasks.report.artifacts import artifact_key, verdict_row
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.markdown import render
from contrapose.tasks.report.publish import files_of, write_folder
from contrapose.tasks.tables import Table, read_arrow

SKIPPED = ["test_type", "sample_id", "original", "skip_reason"]


@room_task("report", sources=(), run_name="report {folder}", persist=False)
def publish(
    folder: str,
    summary: Summary,
    cases: list[Table],
    results: list[Table],
    manifest: dict[str, Any],
    show_toxic: bool,
) -> str:
    """Write the run folder, then the Prefect artifacts.

    Args:
        folder: of the run; it must not exist yet.
        summary: verdicts and counts.
        cases: of every test.
        results: of every test.
        manifest: all that is needed to repeat the run.
        show_toxic: show toxic words in reports instead of masking them.

    Returns:
        The folder.
    """
    all_cases = pa.concat_tables([read_arrow(table) for table in cases])
    all_results = pa.concat_tables([read_arrow(table) for table in results], promote_options="default")
    report = Report(
        summary=summary,
        results=all_results.to_pandas(),
        skipped=_skipped(all_cases),
        show_toxic=show_toxic,
    )
    write_folder(Path(folder), files_of(report, cases=all_cases, results=all_results, manifest=manifest))
    _create_artifacts(report, folder)
    return folder


def _skipped(cases: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = cases.select(["probe", *SKIPPED[1:]]).to_pandas().rename(columns={"probe": "test_type"})
    return frame[frame["skip_reason"].notna()].reset_index(drop=True)


def _create_artifacts(report: Report, folder: str) -> None:
    summary = report.summary
    key = artifact_key(summary["suite"], summary["model"]["id"])
    create_table_artifact(
        key=f"{key}-verdicts",
        table=[verdict_row(outcome, model=summary["model"]["id"]) for outcome in summary["tests"]],
        description=f"{summary['verdict']}: {summary['reason']}",
    )
    create_markdown_artifact(key=f"{key}-report", markdown=f"{render(report).decode()}\n\nRun folder: `{folder}`\n")
