"""A comparison in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contrapose.tasks.core.comparison import Comparison, Contest, Standing, judged
from contrapose.tasks.report.comparison_markdown import against, allowed, asked, differing, rated, unpaired
from contrapose.tasks.report.console import plain_table, plain_text, text_line, verdict_text
from contrapose.tasks.text.wording import number

_line = partial(text_line, show_toxic=True)


def print_comparison(comparison: Comparison, *, console: Console) -> None:
    """Print verdict, leaderboard, a table for each test, what was left out, and which runs these are.

    Colours are left to the console.
    """
    console.print()
    console.print(verdict_text(comparison["verdict"]), _line(comparison["reason"], console), sep="  ")
    for title, table in _tables(comparison, console):
        console.print()
        console.print(_line(title, console))
        console.print(table)
    console.print()
    for line in _notes(comparison):
        console.print(_line(line, console))
    for model in comparison["models"]:
        console.print(_line(f"{model['name']}: {model['folder']}", console), soft_wrap=True)


def _tables(comparison: Comparison, console: Console) -> Iterator[tuple[str, Table]]:
    places = [
        (Text(str(place["rank"])), _line(place["name"], console), Text(number(place["mean_rank"])))
        for place in comparison["leaderboard"]
    ]
    yield "Over all tests", _table(("rank", "model", "mean rank"), places)
    head = ("rank", "model", "pass rate, %", "difference, points", "verdict")
    for test in comparison["tests"]:
        rows = [_cells(test, standing, console) for standing in test["standings"]]
        yield f"{test['test_type']}: {asked(test)}", _table(head, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    table = plain_table()
    for title in head:
        words = title in ("model", "verdict")
        table.add_column(
            title, justify="left" if words else "right", overflow="fold", no_wrap=title != "model", max_width=24
        )
    for row in rows:
        table.add_row(*row)
    return table


def _cells(test: Contest, standing: Standing, console: Console) -> tuple[Text, ...]:
    pair = against(test, standing["name"])
    return (
        Text(str(standing["rank"])),
        _line(standing["name"], console),
        plain_text(rated(standing["rate"])),
        plain_text(differing(pair["difference"])) if pair else Text(""),
        Text("baseline") if pair is None else verdict_text(str(pair["verdict"])),
    )


def _notes(comparison: Comparison) -> Iterator[str]:
    for test, pair in judged(comparison["tests"]):
        if pair["verdict"] == "cannot tell":
            yield f"{pair['first']} in {test}: {pair['reason']}"
    for test, pair in judged(comparison["tests"]):
        if note := unpaired(pair):
            yield f"{pair['first']} in {test}: {note}"
    yield from (f"Warning: {warning}" for warning in comparison["warnings"])
    yield (
        f"Differences are to {comparison['baseline']}; a loss of {allowed(comparison)} is not worse. In brackets: 95 %."
    )
