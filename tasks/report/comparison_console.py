"""A comparison in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contrapose.tasks.core.comparison import Comparison, judged
from contrapose.tasks.report.comparison_markdown import (
    against,
    allowed,
    cases_words,
    difference_words,
    rate_words,
    unpaired_words,
)
from contrapose.tasks.report.console import plain_table, plain_text, text_line, verdict_text
from contrapose.tasks.text.wording import number


def print_comparison(comparison: Comparison, *, console: Console) -> None:
    """Print verdict, leaderboard, a table for each test, what was left out, and which runs these are.

    Colours are left to the console.
    """
    line = partial(text_line, console=console, show_toxic=True)
    console.print()
    console.print(verdict_text(comparison["verdict"]), line(comparison["reason"]), sep="  ")
    places = [
        (Text(str(place["rank"])), line(place["name"]), Text(number(place["mean_rank"])))
        for place in comparison["leaderboard"]
    ]
    tables = [("Over all tests", _table(("rank", "model", "mean rank"), places))]
    for test in comparison["tests"]:
        rows = []
        for standing in test["standings"]:
            pair = against(test, standing["name"])
            rows.append(
                (
                    Text(str(standing["rank"])),
                    line(standing["name"]),
                    plain_text(rate_words(standing["rate"])),
                    plain_text(difference_words(pair["difference"])) if pair else Text(""),
                    Text("baseline") if pair is None else verdict_text(str(pair["verdict"])),
                )
            )
        head = ("rank", "model", "pass rate, %", "difference, points", "verdict")
        tables.append((f"{test['test_type']}: {cases_words(test)}", _table(head, rows)))
    for title, table in tables:
        console.print()
        console.print(line(title))
        console.print(table)
    console.print()
    pairs = [(f"{pair['first']} in {test}", pair) for test, pair in judged(comparison["tests"])]
    notes = [f"{name}: {pair['reason']}" for name, pair in pairs if pair["verdict"] == "cannot tell"]
    notes += [f"{name}: {note}" for name, pair in pairs if (note := unpaired_words(pair))]
    notes += [f"Warning: {warning}" for warning in comparison["warnings"]]
    margin = f"a loss of {allowed(comparison)} is not worse. In brackets: 95 %."
    for note in (*notes, f"Differences are to {comparison['baseline']}; {margin}"):
        console.print(line(note))
    for model in comparison["models"]:
        console.print(line(f"{model['name']}: {model['folder']}"), soft_wrap=True)


def _table(head: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    table = plain_table()
    for title in head:
        justify = "left" if title in ("model", "verdict") else "right"
        table.add_column(title, justify=justify, overflow="fold", no_wrap=title != "model", max_width=24)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    return table
