"""validation.json and validation.html: every expectation, and whether the tables of a run keep to it."""

from __future__ import annotations

from contrapose.tasks.report.base import Report
from contrapose.tasks.report.validation.page import ValidationHead, as_json, page


def render(report: Report) -> bytes:
    """The page for people: one file that needs nothing else, without a script."""
    return page(_head(report), report.checked, show_toxic=report.show_toxic)


def render_json(report: Report) -> bytes:
    """The same for machines; values are raw, toxic words too."""
    return as_json(_head(report), report.checked)


def _head(report: Report) -> ValidationHead:
    summary = report.summary
    return ValidationHead(
        run_id=summary["run_id"],
        model=summary["model"]["id"],
        suite=summary["suite"],
        started=summary["started"],
    )
