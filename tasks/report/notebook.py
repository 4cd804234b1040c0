"""The outcome of a run or of a comparison in a notebook: a small table that is readable on light and on dark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contrapose.tasks.core.comparison import ComparedRate, Comparison, Contest, Standing
from contrapose.tasks.core.outcome import GateSummary, Outcome, Summary
from contrapose.tasks.report import comparison_markdown as markdown
from contrapose.tasks.report.evidence import ended, further_gates, looked
from contrapose.tasks.report.templates import template
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import asked, because, ends, interval, percent, saved_by, span

COLOURS: Mapping[str, str] = {
    **dict.fromkeys(("pass", "better", "not worse"), "#17693f"),
    **dict.fromkeys(("fail", "worse"), "#a8261d"),
    **dict.fromkeys(("inconclusive", "cannot tell"), "#7d5200"),
    "incomplete": "#6b3a86",
}
"""Behind white letters, whatever the page is: text and lines take the notebook's own colour."""
HEAD = ("test", "rate", "95 % CI", "gate", "chance", "scored", "verdict")
COMPARED = ("test", "model", "rank", "pass rate, %", "difference, points", "p (Holm)", "verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookLine:
    """A line of the table; every text is fit to be seen."""

    cells: Sequence[str]
    """One for each column but the last."""
    verdict: str
    """In the last column; empty for none."""
    further: bool = False
    """Whether it belongs to the line above."""


def run_html(summary: Summary, *, folder: str, show_toxic: bool) -> str:
    """Verdict, reason, a line for each rate with a gate, warnings, and where the report is.

    Args:
        summary: of the run.
        folder: as people may look for it.
        show_toxic: leave toxic words as they are.
    """
    show = shower(show_toxic=show_toxic)
    model, suite = summary["model"]["id"], summary["suite"]
    usage = asked(summary["usage"], saved=saved_by(summary))
    return _page(
        show,
        verdict=summary["verdict"],
        reason=because(summary),
        title=f"{model} on {suite}",
        head=HEAD,
        lines=[line for outcome in summary["tests"] for line in _of_test(outcome)],
        notes=[
            " ".join((f"{outcome['test_type']}: {outcome['reason']}", *map(ended, looked(outcome))))
            for outcome in summary["tests"]
        ],
        warnings=summary["warnings"],
        foot=f"{usage}; {span(summary['seconds'])}. Report: {folder}/report.html",
    )


def _of_test(outcome: Outcome) -> Iterator[NotebookLine]:
    cells = (
        outcome["test_type"],
        percent(outcome["pass_rate"]),
        interval(outcome),
        percent(outcome["min_pass_rate"]),
        percent(outcome["chance"]),
        f"{outcome['scored']:,}/{outcome['cases']:,}",
    )
    yield NotebookLine(cells=cells, verdict=outcome["verdict"])
    yield from (_of_gate(gate) for gate in further_gates(outcome))


def _of_gate(gate: GateSummary) -> NotebookLine:
    cells = (
        gate["name"].replace("_", " "),
        percent(gate["rate"]),
        ends(gate["interval"]),
        percent(gate["wanted"]),
        percent(gate["chance"]),
        f"{gate['rows'] - gate['open']:,}/{gate['rows']:,}",
    )
    return NotebookLine(cells=cells, verdict="", further=True)


def comparison_html(comparison: Comparison, *, folder: str, show_toxic: bool) -> str:
    """Verdict, reason, a line for each test and model, and where the comparison is; otherwise as `run_html`."""
    return _page(
        shower(show_toxic=show_toxic),
        verdict=comparison["verdict"],
        reason=comparison["reason"],
        title=f"held against {comparison['baseline']}, margin {markdown.allowed(comparison)}",
        head=COMPARED,
        lines=[_of_model(test, standing) for test in comparison["tests"] for standing in test["standings"]],
        notes=[
            f"{test['test_type']}, {pair['first']}: {pair['reason']}"
            for test in comparison["tests"]
            for pair in test["pairs"]
            if pair["reason"]
        ],
        warnings=comparison["warnings"],
        foot=f"Comparison: {folder}/comparison.md",
    )


def _of_model(test: Contest, standing: Standing) -> NotebookLine:
    pair = markdown.against(test, standing["name"])
    difference = pair["difference"] if pair else None
    figures = (markdown.differing(difference), markdown.chance(difference)) if pair else ("baseline", "")
    cells = (
        test["test_type"],
        standing["name"],
        str(standing["rank"]),
        markdown.rated(standing["rate"]),
        *figures,
    )
    return NotebookLine(cells=cells, verdict=(pair["verdict"] or "") if pair else "")


def compared_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """A comparison as rows for programs: one for each test and model, by rank."""
    return [_row(test, standing) for test in comparison["tests"] for standing in test["standings"]]


def _row(test: Contest, standing: Standing) -> dict[str, Any]:
    pair = markdown.against(test, standing["name"])
    difference = pair["difference"] if pair else None
    low, high = _ends(standing["rate"])
    least, most = (difference and difference["interval"]) or (None, None)
    return {
        "test": test["test_type"],
        "model": standing["name"],
        "rank": standing["rank"],
        "asked": standing["asked"],
        "scored": standing["scored"],
        "rate": standing["rate"] and standing["rate"]["value"],
        "rate_low": low,
        "rate_high": high,
        "difference": difference and difference["value"],
        "difference_low": least,
        "difference_high": most,
        "p": difference and difference["adjusted"],
        "verdict": pair and pair["verdict"],
        "reason": pair and pair["reason"],
    }


def _ends(rate: ComparedRate | None) -> tuple[float | None, float | None]:
    return (None, None) if rate is None or rate["interval"] is None else rate["interval"]


def _page(
    show: Show,
    *,
    verdict: str,
    reason: str,
    title: str,
    head: Sequence[str],
    lines: Sequence[NotebookLine],
    notes: Sequence[str],
    warnings: Sequence[str],
    foot: str,
) -> str:
    """The table with every text of unknown origin fit to be seen; the template escapes it."""
    shown = [
        NotebookLine(cells=[show(cell) for cell in line.cells], verdict=line.verdict, further=line.further)
        for line in lines
    ]
    return template("contrapose.tasks.report", "notebook.html.j2").render(
        verdict=verdict,
        reason=show(f"{reason[:1].upper()}{reason[1:]}"),
        title=show(title),
        head=head,
        lines=shown,
        notes=[show(note) for note in notes],
        warnings=[show(warning) for warning in warnings],
        foot=show(foot),
        colours=COLOURS,
    )
