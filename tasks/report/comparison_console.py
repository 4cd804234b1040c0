"""A comparison in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contrapose.tasks.core.comparison import Comparison, Contest, Standing, judged
from contrapose.tasks.report.comparison_markdown import (
    against,
    allowed,
    asked,
    because,
    differing,
    rated,
    unpaired,
)
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.wording import number

STYLES = {
    "better": "bold green",
    "not worse": "bold green",
    "cannot tell": "bold yellow",
    "worse": "bold red",
}


def print_comparison(comparison: Comparison, *, console: Console) -> None:
    """Print verdict, leaderboard, a table for each test, what was left out, and which runs these are.

    Args:
        comparison: of two or more models.
        console: where to print; colours are left to it.
    """
    console.print()
    console.print(_verdict(comparison["verdict"]), _line(because(comparison), console), sep="  ")
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
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
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
        _plain(rated(standing["rate"])),
        _plain(differing(pair["difference"])) if pair else Text(""),
        Text("baseline") if pair is None else _verdict(str(pair["verdict"])),
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


def _verdict(verdict: str) -> Text:
    return Text(verdict.upper(), style=STYLES[verdict])


def _plain(text: str) -> Text:
    return Text(text.replace("–", "-"))


def _line(text: str, console: Console) -> Text:
    return _encodable(one_line(text), console)


def _encodable(text: str, console: Console) -> Text:
    # A terminal that cannot write a character must not end the run.
    encoding = console.encoding
    return Text(text.encode(encoding, "backslashreplace").decode(encoding))
