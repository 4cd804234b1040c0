"""What the Prefect artifacts hold, under keys that make a history."""

from __future__ import annotations

import re

from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.markdown import render
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.text.cleaning import escape
from contrapose.tasks.text.masking import shower


def verdict_row(outcome: Outcome, *, model: str) -> dict[str, str | int | float | None]:
    """One test as plain Python values: the Prefect UI breaks on anything else."""
    low, high = outcome["interval"] or (None, None)
    control, stopping = outcome["control"], outcome.get("stopping")
    return {
        "test": name_of(outcome["test_type"]),
        "model": name_of(model),
        "verdict": outcome["verdict"],
        "pass_rate": _rounded(outcome["pass_rate"]),
        "low_95": _rounded(low),
        "high_95": _rounded(high),
        "min_pass_rate": outcome["min_pass_rate"],
        "chance": _rounded(outcome["chance"]),
        **({"noise": _rounded(control["noise"])} if control else {}),
        "scored": outcome["scored"],
        "cases": outcome["cases"],
        **({"of": stopping["cases"], "looks": stopping["looks"], "saved": stopping["saved"]} if stopping else {}),
        "errors": outcome["errors"],
        "reason": shower(show_toxic=False)(outcome["reason"]),
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def artifact_text(report: Report, folder: str) -> str:
    """The report in Markdown, and where the whole of it lies."""
    return f"{render(report).decode()}\n\nRun folder: {escape(folder)}\n"


def headline(summary: Summary) -> str:
    """The verdict on the run in a line of Markdown, for the UI reads a description as such."""
    return escape(shower(show_toxic=False)(summary["reason"]))


def artifact_key(suite: str, model: str) -> str:
    """Lower case letters, digits and dashes only."""
    return re.sub(r"[^a-z0-9]+", "-", f"contrapose-{suite}-{model}".lower()).strip("-")
