"""Prefect tasks that write the run folder and artifacts, and log the run into MLflow."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from prefect.artifacts import (
    create_image_artifact,
    create_link_artifact,
    create_markdown_artifact,
    create_table_artifact,
)

from contrapose.tasks.core.criteria import list_criteria
from contrapose.tasks.core.history_records import History
from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.core.places import Place, local_copy
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.core.records import Calls
from contrapose.tasks.core.validation import Checked
from contrapose.tasks.report import mlflow
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.charts import make_image_url
from contrapose.tasks.report.markdown import render
from contrapose.tasks.report.publish import (
    StoredResults,
    collect_replies,
    list_messages,
    make_report_url,
    sample_skipped,
    write_files,
    write_folder,
    yield_sent,
)
from contrapose.tasks.report.rows import cut_name
from contrapose.tasks.tables.table import Table
from contrapose.tasks.text.cleaning import escape
from contrapose.tasks.text.masking import make_shower
from contrapose.tasks.text.wording import criteria_text


@room_task("report", run_name="report {folder}", persist=False)
def publish(
    folder: str,
    summary: Summary,
    cases: list[Table],
    results: list[Table],
    manifest: dict[str, Any],
    show_toxic: bool,
    show_langtest: bool,
    history: History,
    calls: Calls,
    checked: list[Checked],
    trials: list[Table],
) -> list[str]:
    """Write the run folder, as `find_free_folder` gave it, then the Prefect artifacts.

    The manifest holds all that is needed to repeat the run; `Report` explains the other arguments.

    Returns:
        What went wrong with the artifacts, in a line.
    """
    stored = StoredResults(results)
    report = Report(
        summary=summary,
        results=stored,
        skipped=sample_skipped(cases),
        prompts=partial(yield_sent, cases),
        before_prompts=list_messages(manifest["config"]),
        show_toxic=show_toxic,
        show_langtest=show_langtest,
        history=history,
        calls=calls,
        checked=tuple(checked),
        replies=partial(collect_replies, trials),
    )
    write = partial(write_files, report=report, cases=cases, results=stored, manifest=manifest)
    write_folder(Place(folder), write, last="manifest.json")
    try:
        _create_artifacts(report, folder)
    except Exception as error:
        # Prefect's client has asked again by now, and raises errors of many kinds. The run is finished.
        why = f"Prefect did not take all artifacts ({type(error).__name__}); the folder of the run is complete."
        return [f"{why} The log of Prefect's server says why; `contrapose doctor` checks the server."]
    return []


@room_task("log into MLflow", run_name="log into {experiment}", persist=False)
def track(folder: str, summary: Summary, experiment: str) -> list[str]:
    """Log a published run into MLflow, and return one line on what went wrong, or none."""
    with local_copy(Place(folder), mlflow.FILES) as files:
        return mlflow.track(files, summary, experiment=experiment)


def _create_artifacts(report: Report, folder: str) -> None:
    summary = report.summary
    key = make_artifact_key(summary["suite"], summary["model"]["id"])
    said = format_headline(summary)
    rows = [make_verdict_row(outcome, model=summary["model"]["id"]) for outcome in summary["tests"]]
    create_table_artifact(key=f"{key}-verdicts", table=rows, description=said)
    create_markdown_artifact(key=f"{key}-report", markdown=render_artifact(report, folder), description=said)
    if picture := make_image_url(summary):
        create_image_artifact(key=f"{key}-chart", image_url=picture, description=said)
    where = f"The complete report, in {escape(folder)}"
    create_link_artifact(key=f"{key}-link", link=make_report_url(folder), link_text="report.html", description=where)


def make_verdict_row(outcome: Outcome, *, model: str) -> dict[str, str | int | float | None]:
    """Return a table row about one test in plain Python values, because the Prefect UI accepts nothing else."""
    low, high = outcome["interval"] or (None, None)
    control, stopping = outcome["control"], outcome.get("stopping")
    shares = {"pass_rate": outcome["pass_rate"], "low_95": low, "high_95": high}
    shares |= {"min_pass_rate": outcome["min_pass_rate"], "chance": outcome["chance"]}
    shares |= {"noise": control["noise"]} if control else {}
    return {
        "test": cut_name(outcome["test_type"]),
        "model": cut_name(model),
        "verdict": outcome["verdict"],
        "criteria": criteria_text(list_criteria(outcome)),
        **{
            name: share if share is None or name == "min_pass_rate" else round(share, 4)
            for name, share in shares.items()
        },
        "scored": outcome["scored"],
        "cases": outcome["cases"],
        **({"of": stopping["cases"], "looks": stopping["looks"], "saved": stopping["saved"]} if stopping else {}),
        "errors": outcome["errors"],
        "reason": make_shower(show_toxic=False)(outcome["reason"]),
    }


def render_artifact(report: Report, folder: str) -> str:
    """Return the report in Markdown with the location of the complete report."""
    return f"{render(report).decode()}\n\nRun folder: {escape(folder)}\n"


def format_headline(summary: Summary) -> str:
    """Return the run's verdict as one line of Markdown, for the description in the Prefect UI."""
    return escape(make_shower(show_toxic=False)(summary["reason"]))


def make_artifact_key(suite: str, model: str) -> str:
    """Return the artifact key of a suite and a model: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", f"contrapose-{suite}-{model}".lower()).strip("-")
