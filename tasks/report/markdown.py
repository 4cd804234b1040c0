"""report.md: the outcome, fit for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.report import positions, rotations
from contrapose.tasks.report.base import Report, Results
from contrapose.tasks.report.evidence import dependent, effect, figures, langtest, missing, sliced
from contrapose.tasks.report.markdown_text import escape, table
from contrapose.tasks.report.masking import Show, shower
from contrapose.tasks.report.rows import Row, name_of, outcomes, read_rows, tested
from contrapose.tasks.report.wording import (
    because,
    interval,
    moment,
    noise,
    percent,
    reasons,
    span,
    spent,
    sums,
)

MARKS = {"pass": "✅", "fail": "❌", "inconclusive": "❔", "incomplete": "⚠️"}

EXAMPLES = 5
"""Failing rows shown of each test."""

MOST_NAMES = 50
"""Refused samples named one by one; all of them are in summary.json."""

LONGEST = 300
"""Characters of one text: a comment holds 65,536 in all."""


def render(report: Report) -> bytes:
    """Verdict, a line per test, then each test with its figures, refused rows and failing examples.

    Every text is escaped: no markup, link, image or mention of a user comes out of it.
    """
    show = shower(show_toxic=report.show_toxic, longest=LONGEST)
    parts = [*_head(report, show), _tests(report.summary["tests"])]
    for outcome in report.summary["tests"]:
        parts += _test(outcome, report, show)
    warnings = [f"- {escape(show(text))}" for text in report.summary["warnings"]]
    parts += ["### Warnings", "\n".join(warnings)] if warnings else []
    return ("\n\n".join([*parts, _foot(report)]) + "\n").encode()


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
    rows = [
        (
            name_of(outcome["test_type"]),
            percent(outcome["pass_rate"]),
            interval(outcome),
            percent(outcome["min_pass_rate"]),
            percent(outcome["chance"]),
            f"{outcome['scored']:,} / {outcome['cases']:,}",
            f"{MARKS.get(outcome['verdict'], '')} {outcome['verdict']}",
        )
        for outcome in tests
    ]
    return table(head, rows, numbers=range(1, 6))


def _test(outcome: Outcome, report: Report, show: Show) -> Iterator[str]:
    rows = _of(report.results.figures, outcome["test_type"])
    yield f"### {escape(name_of(outcome['test_type']))}"
    told = [*_told(outcome, rows, show), *(_ended(langtest(outcome)) if report.show_langtest else ())]
    yield "  \n".join(escape(text) for text in told)
    if outcome["figures"]:
        named = ((show(name.replace("_", " ")), value) for name, value in figures(outcome))
        yield table(("figure", "value (95 % interval)"), named, numbers=(1,))
    if outcome["slices"]:
        named = ((show(each["name"]), sliced(each)) for each in outcome["slices"])
        yield table(("slice", "pass rate"), named, numbers=(1,))
    yield from _examples(rows, report.results, show)


def _told(outcome: Outcome, results: pd.DataFrame, show: Show) -> Iterator[str]:
    yield show(outcome["reason"])
    yield from _ended(dependent(outcome))
    if outcome["control"]:
        yield noise(outcome["control"]).capitalize() + "."
    for found in outcome["effects"]:
        yield effect(found).capitalize() + "."
    yield sums(outcome) + "."
    yield from _ended(missing(outcome))
    if outcome["skip_reasons"]:
        yield f"Skipped: {show(reasons(outcome['skip_reasons']))}."
    if outcome["refused"]:
        named = ", ".join(name_of(name) for name in outcome["refused"][:MOST_NAMES])
        more = len(outcome["refused"]) - MOST_NAMES
        yield f"Refused rows: {named}" + (f" and {more:,} more." if more > 0 else ".")
    if pairs := positions.positions(results):
        yield positions.reading(pairs)
    if orders := rotations.rotations(results):
        yield rotations.reading(orders)


def _ended(told: str) -> Iterator[str]:
    """A sentence with its full stop; nothing where there is nothing to tell."""
    if told:
        yield f"{told}."


def _examples(figures: pd.DataFrame, results: Results, show: Show) -> Iterator[str]:
    rows = tested(figures)
    failed = rows[outcomes(rows) == "fail"]
    if failed.empty:
        return
    shown = min(len(failed), EXAMPLES)
    # A blank line after the tag lets the Markdown inside be read as Markdown.
    yield f"<details>\n<summary>{shown} of {len(failed):,} failing examples</summary>"
    for row in read_rows(results.at(list(failed.index[:EXAMPLES])), show):
        yield from _example(row)
    yield "</details>"


def _example(row: Row) -> Iterator[str]:
    score = f"(score {row.score}) " if row.score else ""
    yield f"**{escape(row.id)}** {escape(score + row.reason)}"
    yield table(("", "prompt", "reply"), [("before", row.original, row.before), ("after", row.changed, row.after)])


def _foot(report: Report) -> str:
    toxic = "Toxic words are shown." if report.show_toxic else "Toxic words are masked."
    return escape(f"{toxic} Raw texts are in results.parquet. Contrapose {name_of(report.summary['contrapose'])}.")


def _of(results: pd.DataFrame, test: str) -> pd.DataFrame:
    return results[results["test_type"] == test] if "test_type" in results else results
