"""Prefect task: report."""

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
from contrapose.tasks.report.charts import image_url
from contrapose.tasks.report.markdown import render
from contrapose.tasks.report.publish import (
    StoredResults,
    messages_before,
    raw_replies,
    report_url,
    sent_prompts,
    skipped_examples,
    write_files,
    write_folder,
)
from contrapose.tasks.report.rows import name_of
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
    """Write the run folder, as `free_folder` gave it, then the Prefect artifacts.

    The manifest is all that is needed to repeat the run; what the other inputs are is told by `Report`.

    Returns:
        What went wrong with the artifacts, in a line.
    """
    stored = StoredResults(results)
    report = Report(
        summary=summary,
        results=stored,
        skipped=skipped_examples(cases),
        prompts=partial(sent_prompts, cases),
        before_prompts=messages_before(manifest["config"]),
        show_toxic=show_toxic,
        show_langtest=show_langtest,
        history=history,
        calls=calls,
        checked=tuple(checked),
        replies=partial(raw_replies, trials),
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
    """Log a published run into MLflow, and return what went wrong, in a line; none where it was logged."""
    with local_copy(Place(folder), mlflow.FILES) as files:
        return mlflow.track(files, summary, experiment=experiment)


def _create_artifacts(report: Report, folder: str) -> None:
    summary = report.summary
    key = artifact_key(summary["suite"], summary["model"]["id"])
    said = headline(summary)
    rows = [verdict_row(outcome, model=summary["model"]["id"]) for outcome in summary["tests"]]
    create_table_artifact(key=f"{key}-verdicts", table=rows, description=said)
    create_markdown_artifact(key=f"{key}-report", markdown=artifact_text(report, folder), description=said)
    if picture := image_url(summary):
        create_image_artifact(key=f"{key}-chart", image_url=picture, description=said)
    where = f"The complete report, in {escape(folder)}"
    create_link_artifact(key=f"{key}-link", link=report_url(folder), link_text="report.html", description=where)


def verdict_row(outcome: Outcome, *, model: str) -> dict[str, str | int | float | None]:
    """Return one test as plain Python values: the Prefect UI breaks on anything else."""
    low, high = outcome["interval"] or (None, None)
    control, stopping = outcome["control"], outcome.get("stopping")
    shares = {"pass_rate": outcome["pass_rate"], "low_95": low, "high_95": high}
    shares |= {"min_pass_rate": outcome["min_pass_rate"], "chance": outcome["chance"]}
    shares |= {"noise": control["noise"]} if control else {}
    return {
        "test": name_of(outcome["test_type"]),
        "model": name_of(model),
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


def artifact_text(report: Report, folder: str) -> str:
    """Return the report in Markdown, and where the complete one is."""
    return f"{render(report).decode()}\n\nRun folder: {escape(folder)}\n"


def headline(summary: Summary) -> str:
    """Return the verdict on the run in a line of Markdown, for the UI reads a description as such."""
    return escape(make_shower(show_toxic=False)(summary["reason"]))


def artifact_key(suite: str, model: str) -> str:
    """Return a key of lower case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", f"contrapose-{suite}-{model}".lower()).strip("-")
