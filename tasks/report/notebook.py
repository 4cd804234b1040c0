"""Render the outcome of a run or a comparison as a small HTML table for notebooks, light or dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contrapose.tasks.core.comparison import Comparison
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.report import comparison_markdown as markdown
from contrapose.tasks.report.evidence import describe_looks, make_rate_cells, make_sentences
from contrapose.tasks.report.templates import load_template
from contrapose.tasks.text.masking import make_shower
from contrapose.tasks.text.wording import count_saved_questions, format_span, reason_text, usage_text

COLOURS: Mapping[str, str] = {
    **dict.fromkeys(("pass", "better", "not worse"), "#17693f"),
    **dict.fromkeys(("fail", "worse"), "#a8261d"),
    **dict.fromkeys(("inconclusive", "cannot tell"), "#7d5200"),
    "incomplete": "#6b3a86",
}
"""Behind white letters, whatever the page is: text and lines take the notebook's own colour."""


def render_run_table(summary: Summary, *, folder: str, show_toxic: bool) -> str:
    """Return the HTML of a run: verdict, reason, a row for each rate with a gate, warnings, report location."""
    usage = usage_text(summary["usage"], saved=count_saved_questions(summary))
    return _render(
        show_toxic,
        verdict=summary["verdict"],
        reason=reason_text(summary),
        title=f"{summary['model']['id']} on {summary['suite']}",
        head=("test", "rate", "95 % CI", "gate", "chance", "scored", "verdict"),
        lines=[
            (*cells[:5], f"{cells.scored:,}/{cells.cases:,}", cells.verdict)
            for outcome in summary["tests"]
            for cells in make_rate_cells(outcome)
        ],
        notes=[
            " ".join((f"{outcome['test_type']}: {outcome['reason']}", *make_sentences(describe_looks(outcome))))
            for outcome in summary["tests"]
        ],
        warnings=summary["warnings"],
        inset=True,
        foot=f"{usage}; {format_span(summary['seconds'])}. Report: {folder}/report.html",
    )


def render_comparison(comparison: Comparison, *, folder: str, show_toxic: bool) -> str:
    """Return the HTML of a comparison: verdict, reason, a row for each test and model, and its location."""
    lines, notes = [], []
    for test in comparison["tests"]:
        for standing in test["standings"]:
            pair = markdown.find_baseline_pair(test, standing["name"])
            difference = pair["difference"] if pair else None
            rate = markdown.format_rate(standing["rate"])
            figures = markdown.format_difference(difference), markdown.format_p(difference)
            verdict = (pair["verdict"] or "") if pair else ""
            shown = figures if pair else ("baseline", "")
            lines.append((test["test_type"], standing["name"], str(standing["rank"]), rate, *shown, verdict))
        notes += [f"{test['test_type']}, {pair['first']}: {pair['reason']}" for pair in test["pairs"] if pair["reason"]]
    return _render(
        show_toxic,
        verdict=comparison["verdict"],
        reason=comparison["reason"],
        title=f"compared with {comparison['baseline']}, margin {markdown.format_margin(comparison)}",
        head=("test", "model", "rank", "pass rate, %", "difference, points", "p (Holm)", "verdict"),
        lines=lines,
        notes=notes,
        warnings=comparison["warnings"],
        inset=False,
        foot=f"Comparison: {folder}/comparison.md",
    )


def list_comparison(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a comparison as rows for a data frame: one for each test and model, by rank."""
    rows = []
    for test in comparison["tests"]:
        for standing in test["standings"]:
            pair, rate = markdown.find_baseline_pair(test, standing["name"]), standing["rate"]
            difference = pair["difference"] if pair else None
            low, high = (rate and rate["interval"]) or (None, None)
            least, most = (difference and difference["interval"]) or (None, None)
            rows.append(
                {
                    "test": test["test_type"],
                    "model": standing["name"],
                    "rank": standing["rank"],
                    "asked": standing["asked"],
                    "scored": standing["scored"],
                    "rate": rate and rate["value"],
                    "rate_low": low,
                    "rate_high": high,
                    "difference": difference and difference["value"],
                    "difference_low": least,
                    "difference_high": most,
                    "p": difference and difference["adjusted"],
                    "verdict": pair and pair["verdict"],
                    "reason": pair and pair["reason"],
                }
            )
    return rows


def _render(show_toxic: bool, *, reason: str, lines: Sequence[tuple[str, ...]], **texts: Any) -> str:
    """Render the table with every text of unknown origin safe to show; the template escapes it."""
    show = make_shower(show_toxic=show_toxic)
    for name in ("title", "foot"):
        texts[name] = show(texts[name])
    for name in ("notes", "warnings"):
        texts[name] = [show(text) for text in texts[name]]
    return load_template("contrapose.tasks.report", "notebook.html.j2").render(
        reason=show(f"{reason[:1].upper()}{reason[1:]}"),
        lines=[([show(cell) for cell in cells], verdict) for *cells, verdict in lines],
        colours=COLOURS,
        **texts,
    )
