"""report.md: the outcome, fit for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contrapose.tasks.outcome import GateSummary, Outcome
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.fitting import Block, fitting
from contrapose.tasks.report.markdown_tests import FIRST, MOST_NAMES, REASONS, blocks_of
from contrapose.tasks.report.markdown_text import escape, table
from contrapose.tasks.report.masking import Show, shower
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.report.since import since
from contrapose.tasks.report.source_rows import in_part, left_out, taken_by
from contrapose.tasks.report.wording import because, ends, interval, moment, percent, span, spent

MARKS = {"pass": "✅", "fail": "❌", "inconclusive": "❔", "incomplete": "⚠️"}

LONGEST = 300
"""Characters of one text."""


def render(report: Report) -> bytes:
    """Verdict, a line per test, what changed, then each test: why, and folded its figures and failing examples.

    Every text is escaped: no markup, link, image or mention of a user comes out of it.
    """
    show = shower(show_toxic=report.show_toxic, longest=LONGEST)
    blocks = [Block(FIRST, text) for text in (*_head(report, show), _tests(report.summary["tests"]))]
    blocks += [Block(REASONS, text) for text in _since(report, show)]
    for outcome in report.summary["tests"]:
        blocks += blocks_of(outcome, report, show)
    blocks += [Block(REASONS, text) for text in _left_out(report.summary["tests"], show)]
    blocks += [Block(REASONS, text) for text in _warnings(report.summary["warnings"], show)]
    return f"{fitting([*blocks, Block(FIRST, _foot(report))])}\n".encode()


def _head(report: Report, show: Show) -> Iterator[str]:
    summary = report.summary
    mark = MARKS.get(summary["verdict"], "")
    yield f"**{mark} {escape(summary['verdict'].capitalize())}** {escape(show(because(summary)))}"
    told = (
        summary["model"]["id"],
        f"suite {summary['suite']}",
        moment(summary["started"]),
        span(summary["seconds"]),
    )
    yield "## Contrapose report"
    yield " · ".join(escape(name_of(text)) for text in told)
    yield escape(f"{spent(summary['usage'])}.")


def _tests(tests: list[Outcome]) -> str:
    head = ("test", "pass rate", "95 % interval", "gate", "chance", "scored / cases", "verdict")
    rows = [row for outcome in tests for row in (_test(outcome), *map(_gate, outcome["gates"][1:]))]
    return table(head, rows, numbers=range(1, 6))


def _test(outcome: Outcome) -> tuple[str, ...]:
    return (
        name_of(outcome["test_type"]),
        percent(outcome["pass_rate"]),
        interval(outcome),
        percent(outcome["min_pass_rate"]),
        percent(outcome["chance"]),
        f"{outcome['scored']:,} / {outcome['cases']:,}",
        _verdict(outcome),
    )


def _gate(gate: GateSummary) -> tuple[str, ...]:
    """A further rate of the test above it."""
    return (
        f"↳ {gate['name'].replace('_', ' ')}",
        percent(gate["rate"]),
        ends(gate["interval"]),
        percent(gate["wanted"]),
        percent(gate["chance"]),
        f"{gate['rows'] - gate['open']:,} / {gate['rows']:,}",
        "",
    )


def _verdict(outcome: Outcome) -> str:
    part = f" on {taken_by(outcome)}" if in_part(outcome) else ""
    return f"{MARKS.get(outcome['verdict'], '')} {outcome['verdict']}{part}"


def _since(report: Report, show: Show) -> Iterator[str]:
    found = since(report.summary, report.history, show)
    if found is None:
        return
    yield f"### {escape(found.title)}\n\n{escape(found.told)}"
    steps = ((step.name, step.before, step.after, step.change) for step in found.steps)
    yield table(("test", "then", "now", "change"), steps, numbers=(1, 2, 3))
    differences = [(each.facet, each.name, each.before, each.after) for each in found.differences]
    if not differences:
        yield escape(found.nothing)
        return
    yield table(("what", "which", "then", "now"), differences[:MOST_NAMES])
    if len(differences) > MOST_NAMES:
        yield f"and {len(differences) - MOST_NAMES:,} more"


def _left_out(tests: Sequence[Outcome], show: Show) -> Iterator[str]:
    for found in left_out(tests):
        listed = [f"- {escape(show(text))}" for text in found.lines()]
        yield "\n".join(["### Rows left out", "", f"{escape(show(found.title))}.", "", *listed])


def _warnings(warnings: Sequence[str], show: Show) -> Iterator[str]:
    if warnings:
        listed = [f"- {escape(show(text))}" for text in warnings[:MOST_NAMES]]
        listed += [f"- and {len(warnings) - MOST_NAMES:,} more"] if len(warnings) > MOST_NAMES else []
        yield "\n".join(["### Warnings", "", *listed])


def _foot(report: Report) -> str:
    toxic = "Toxic words are shown." if report.show_toxic else "Toxic words are masked."
    return escape(f"{toxic} Raw texts are in results.parquet. Contrapose {name_of(report.summary['contrapose'])}.")
