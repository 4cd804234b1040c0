"""One test in report.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from contrapose.tasks.outcome import Outcome
from contrapose.tasks.probes.panels import Sheet
from contrapose.tasks.report.base import Report, Results
from contrapose.tasks.report.evidence import (
    dependent,
    effect,
    ended,
    figures,
    guessing,
    langtest,
    missing,
    sliced,
)
from contrapose.tasks.report.fitting import Block
from contrapose.tasks.report.markdown_text import escape, table
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.readers import known_errors, reader_of, steps, trust, unread
from contrapose.tasks.report.rows import Row, name_of, of_test, outcomes, read_rows, tested
from contrapose.tasks.report.wording import noise, reasons, sums, unscored

EXAMPLES = 5
"""Failing rows shown of each test."""

MOST_NAMES = 50
"""Names listed one by one; all of them are in summary.json."""

FIRST, REASONS, DETAILS, LAST = range(4)
"""Ranks: what is left out last where a comment does not hold it all, and so on."""


def blocks_of(outcome: Outcome, report: Report, show: Show) -> Iterator[Block]:
    """Why, and folded the figures and the failing examples."""
    rows = of_test(report.results.figures, outcome["test_type"])
    name = escape(name_of(outcome["test_type"]))
    yield Block(REASONS, f"### {name}\n\n{escape(show(outcome['reason']))}")
    told = [
        *_told(outcome, report, show),
        *(_ended(langtest(outcome)) if report.show_langtest else ()),
    ]
    tables = ["  \n".join(escape(text) for text in told)]
    if outcome["figures"]:
        named = [(show(name.replace("_", " ")), value) for name, value in figures(outcome)]
        tables.append(table(("figure", "value (95 % interval)"), named[:MOST_NAMES], numbers=(1,)))
    if outcome["slices"]:
        named = [(show(each["name"]), sliced(each)) for each in outcome["slices"]]
        tables.append(table(("slice", "pass rate"), named[:MOST_NAMES], numbers=(1,)))
        more = len(named) - MOST_NAMES
        tables += [f"and {more:,} more slices"] if more > 0 else []
    yield Block(DETAILS, _folded(f"Counts and figures of {name}", tables))
    if examples := list(_examples(rows, report.results, show)):
        failed = int((outcomes(tested(rows)) == "fail").sum())
        yield Block(LAST, _folded(f"{len(examples)} of {failed:,} failing examples of {name}", examples))


def _folded(title: str, parts: Sequence[str]) -> str:
    # A blank line after the tag lets the Markdown inside be read as Markdown.
    return "\n\n".join([f"<details>\n<summary>{title}</summary>", *parts, "</details>"])


def _told(outcome: Outcome, report: Report, show: Show) -> Iterator[str]:
    yield from _ended(guessing(outcome).capitalize())
    yield from _ended(dependent(outcome))
    if outcome["control"]:
        yield noise(outcome["control"]).capitalize() + "."
    for found in outcome["effects"]:
        yield show(effect(outcome, found).capitalize()) + "."
    yield sums(outcome) + "."
    yield from _ended(missing(outcome))
    yield from _ended(unread(outcome))
    yield from _ended(steps(outcome))
    yield from map(ended, known_errors(outcome))
    yield from filter(None, map(ended, trust(outcome, reader=name_of(reader_of(report.summary)))))
    if outcome["skip_reasons"]:
        yield f"Skipped: {show(reasons(outcome['skip_reasons']))}."
    if outcome["unscored_reasons"]:
        yield f"Not scored: {show(unscored(outcome))}."
    if outcome["refused"]:
        named = ", ".join(name_of(name) for name in outcome["refused"][:MOST_NAMES])
        more = len(outcome["refused"]) - MOST_NAMES
        yield f"Refused rows: {named}" + (f" and {more:,} more." if more > 0 else ".")
    panels = report.panels.get(outcome["test_type"], ())
    yield from (show(panel.sentence) for panel in panels if not isinstance(panel, Sheet) and panel.sentence)


def _ended(told: str) -> Iterator[str]:
    """A sentence; nothing where there is nothing to tell."""
    if told:
        yield ended(told)


def _examples(figures: pd.DataFrame, results: Results, show: Show) -> Iterator[str]:
    rows = tested(figures)
    failed = rows[outcomes(rows) == "fail"]
    if not failed.empty:
        yield from map(_example, read_rows(results.at(list(failed.index[:EXAMPLES])), show))


def _example(row: Row) -> str:
    score = f"(score {row.score}) " if row.score else ""
    both = [("before", row.original, row.before), ("after", row.changed, row.after)]
    return f"**{escape(row.id)}** {escape(score + row.reason)}\n\n{table(('', 'prompt', 'reply'), both)}"
