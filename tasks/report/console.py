"""The outcome of a run in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contrapose.tasks.outcome import Outcome, Summary
from contrapose.tasks.report.cleaning import cut, one_line, visible
from contrapose.tasks.report.evidence import dependent, effect, missing
from contrapose.tasks.report.wording import asked, because, interval, noise, percent, reasons, span

STYLES = {
    "pass": "bold green",
    "fail": "bold red",
    "inconclusive": "bold yellow",
    "incomplete": "bold magenta",
}

MOST_NAMES = 20
"""Refused samples named one by one; all of them are in summary.json."""


def verdict_table(summary: Summary) -> Table:
    """One line per test: pass rate with its 95 % interval, gate, chance, scored of all cases, verdict."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("test", overflow="fold", max_width=20)
    table.add_column("rate", justify="right", no_wrap=True)
    table.add_column("95 % CI", justify="right", no_wrap=True)
    table.add_column("gate", justify="right", no_wrap=True)
    table.add_column("chance", justify="right", no_wrap=True)
    table.add_column("scored", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for outcome in summary["tests"]:
        table.add_row(*_cells(outcome))
    return table


def print_summary(summary: Summary, *, console: Console, folder: str) -> None:
    """Print verdict, table, refused samples, skips, errors, warnings, and where the report is.

    Args:
        summary: of the run.
        console: where to print; colours are left to it.
        folder: of the run; its line alone may be wider than the terminal, so that it can be copied.
    """
    console.print()
    console.print(_verdict(summary["verdict"]), _line(because(summary), console), sep="  ")
    console.print()
    console.print(verdict_table(summary))
    console.print()
    for line in _notes(summary):
        console.print(_line(line, console))
    console.print(_line(f"{asked(summary['usage'])}; {span(summary['seconds'])}", console))
    console.print(_encodable(f"Report: {visible(folder)}/report.html", console), soft_wrap=True)


def _cells(outcome: Outcome) -> list[Text]:
    texts = (
        one_line(outcome["test_type"]),
        percent(outcome["pass_rate"]),
        interval(outcome),
        percent(outcome["min_pass_rate"]),
        percent(outcome["chance"]),
        f"{outcome['scored']}/{outcome['cases']}",
    )
    return [*(Text(text.replace("–", "-")) for text in texts), _verdict(outcome["verdict"])]


def _verdict(verdict: str) -> Text:
    return Text(verdict.upper(), style=STYLES.get(verdict, "bold"))


def _notes(summary: Summary) -> Iterator[str]:
    for outcome in summary["tests"]:
        if outcome["verdict"] != "pass":
            yield f"{outcome['test_type']}: {outcome['reason']}"
    for outcome in summary["tests"]:
        yield from _counts(outcome)
    for warning in summary["warnings"]:
        yield f"Warning: {warning}"


def _counts(outcome: Outcome) -> Iterator[str]:
    test = outcome["test_type"]
    if outcome["control"]:
        yield f"{test}: {noise(outcome['control'])}"
    # The first is the test's own; the report has all.
    for found in outcome["effects"][:1]:
        yield f"{test}: {effect(found)}"
    for told in (dependent(outcome), missing(outcome)):
        if told:
            yield f"{test}: {told}"
    if outcome["refused"]:
        named = ", ".join(cut(name, 60) for name in outcome["refused"][:MOST_NAMES])
        more = len(outcome["refused"]) - MOST_NAMES
        yield f"{test}: refused {named}" + (f" and {more} more" if more > 0 else "")
    if outcome["skip_reasons"]:
        yield f"{test}: skipped {reasons(outcome['skip_reasons'])}"
    for name, meaning in (("unscored", "could not be scored"), ("errors", "got no answer")):
        if count := outcome[name]:  # type: ignore[literal-required]
            yield f"{test}: {count} {meaning}"


def _line(text: str, console: Console) -> Text:
    return _encodable(one_line(text), console)


def _encodable(text: str, console: Console) -> Text:
    # A terminal that cannot write a character must not end the run.
    encoding = console.encoding
    return Text(text.encode(encoding, "backslashreplace").decode(encoding))
