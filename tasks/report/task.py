"""Task: report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

from contrapose.tasks.outcome import Summary
from contrapose.tasks.policy import room_task
from contrapose.tasks.report.artifacts import artifact_key, verdict_row
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.link import report_url
from contrapose.tasks.report.markdown import render
from contrapose.tasks.report.publish import write_files, write_folder
from contrapose.tasks.report.stored import StoredResults, skipped_examples
from contrapose.tasks.tables import Table


@room_task("report", sources=(), run_name="report {folder}", persist=False)
def publish(
    folder: str,
    summary: Summary,
    cases: list[Table],
    results: list[Table],
    manifest: dict[str, Any],
    show_toxic: bool,
    show_langtest: bool,
) -> str:
    """Write the run folder, then the Prefect artifacts.

    Args:
        folder: of the run; it must not exist yet.
        summary: verdicts and counts.
        cases: of every test.
        results: of every test.
        manifest: all that is needed to repeat the run.
        show_toxic: show toxic words in reports instead of masking them.
        show_langtest: tell in reports what LangTest would have said.

    Returns:
        The folder.
    """
    stored = StoredResults(results)
    report = Report(
        summary=summary,
        results=stored,
        skipped=skipped_examples(cases),
        show_toxic=show_toxic,
        show_langtest=show_langtest,
    )
    write_folder(Path(folder), partial(write_files, report=report, cases=cases, results=stored, manifest=manifest))
    _create_artifacts(report, folder)
    return folder


def _create_artifacts(report: Report, folder: str) -> None:
    summary = report.summary
    key = artifact_key(summary["suite"], summary["model"]["id"])
    create_table_artifact(
        key=f"{key}-verdicts",
        table=[verdict_row(outcome, model=summary["model"]["id"]) for outcome in summary["tests"]],
        description=f"{summary['verdict']}: {summary['reason']}",
    )
    create_markdown_artifact(key=f"{key}-report", markdown=f"{render(report).decode()}\n\nRun folder: `{folder}`\n")
    if link := report_url(folder):
        create_link_artifact(key=f"{key}-link", link=link, link_text="report.html", description="The whole report.")
