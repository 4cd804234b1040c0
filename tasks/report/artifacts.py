"""Contents of the Prefect artifacts, under keys that make a history."""

from __future__ import annotations

import re

from contrapose.tasks.core.criteria import criteria_of
from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.markdown import render
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.text.cleaning import escape
from contrapose.tasks.text.masking import make_shower
from contrapose.tasks.text.wording import criteria_text


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
        "criteria": criteria_text(criteria_of(outcome)),
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
