"""The outcome of a run in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.report.evidence import facts_of, rate_cells, sentences_of
from contrapose.tasks.report.passages import main_sentences
from contrapose.tasks.report.rows import left_out, not_all, read_columns, taken_by
from contrapose.tasks.text.cleaning import cut, one_line, visible
from contrapose.tasks.text.masking import masked
from contrapose.tasks.text.wording import asked, because, first_line, further_reason, saved_by, span

STYLES = {
    **dict.fromkeys(("pass", "better", "not worse"), "bold green"),
    **dict.fromkeys(("fail", "worse"), "bold red"),
    **dict.fromkeys(("inconclusive", "cannot tell"), "bold yellow"),
    "incomplete": "bold magenta",
}
"""Styles of verdicts on a run, and on one model compared with another."""

MOST_NAMES = 20
"""Refused samples named one by one; all of them are in summary.json."""


def verdict_table(summary: Summary, *, width: int) -> Table:
    """Return a table with a line per rate: rate with its 95 % interval, gate, chance, scored of all cases, verdict.

    A terminal of few columns gets fewer figures.
    """
    table = plain_table()
    table.add_column("test", overflow="fold", max_width=20)
    figures = ("rate", "95 % CI", "gate", "chance", "scored")[: 5 if width >= 80 else 3 if width >= 60 else 1]
    for title in figures:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for outcome in summary["tests"]:
        for cells in rate_cells(outcome):
            texts = [*cells[1:5], f"{cells.scored}/{cells.cases}"][: len(figures)]
            if cells.verdict:
                row = map(plain_text, (one_line(cells.name), *texts))
                table.add_row(*row, verdict_text(cells.verdict))
            else:
                table.add_row(*(plain_text(text, style="dim") for text in (f"  {one_line(cells.name)}", *texts)))
    return table


def print_verdict(summary: Summary, *, console: Console, show_toxic: bool = False) -> None:
    """Print the verdict and its reason: one line, whatever the width."""
    reason = text_line(" ".join(filter(None, (because(summary), not_all(summary)))), console, show_toxic=show_toxic)
    console.print(verdict_text(summary["verdict"]), reason, sep="  ", soft_wrap=True)


def print_summary(
    summary: Summary, *, console: Console, folder: str, seconds: float | None = None, show_toxic: bool = False
) -> None:
    """Print the verdict, a line per test, notes on each, usage, and where the report is.

    Colours are left to the console. The line of the folder alone may be wider than the terminal, so that it can be
    copied. `seconds` is how long the reader has waited; None: what the run took.
    """
    line = partial(text_line, console=console, show_toxic=show_toxic)

    def print_inset(texts: Iterator[str]) -> None:
        console.print(*(Padding(line(text), (0, 0, 0, 2), expand=False) for text in texts), sep="", end="")

    console.print()
    console.print(verdict_text(summary["verdict"]), line(because(summary)), sep="  ")
    console.print()
    console.print(verdict_table(summary, width=console.width))
    console.print()
    for outcome in summary["tests"]:
        judged = "; ".join(filter(None, (f"on {rows}" if (rows := taken_by(outcome)) else "", first_line(outcome))))
        console.print(line(f"{outcome['test_type']}:"), verdict_text(outcome["verdict"]), line(judged))
        print_inset(sentences_of(_notes(outcome)))
    for columns in read_columns(summary["tests"]):
        console.print(Text("Columns:", style="dim"), line(columns))
    for unused in left_out(summary["tests"]):
        console.print(Text("Left out:", style="yellow"), line(unused.title))
        print_inset(unused.lines())
    for warning in summary["warnings"]:
        console.print(Text("Warning:", style="yellow"), line(warning))
    console.print()
    usage = asked(summary["usage"], saved=saved_by(summary))
    console.print(line(f"{usage}; {span(summary['seconds'] if seconds is None else seconds)}"))
    console.print(_encodable(f"Report: {visible(folder)}/report.html", console), soft_wrap=True)


def _notes(outcome: Outcome) -> Iterator[str]:
    """Clauses on a test; empty ones where there is nothing to say."""
    facts = facts_of(outcome)
    if outcome["verdict"] != "pass":
        yield further_reason(outcome)
    # The report has the rest of these.
    yield from (*facts.looked[:2], facts.noise, *facts.effects[:1])
    yield from (facts.guessing, facts.dependent, facts.missing, facts.unread)
    yield from main_sentences(outcome)
    if refused := outcome["refused"]:
        more = f" and {len(refused) - MOST_NAMES} more" if len(refused) > MOST_NAMES else ""
        yield f"refused {', '.join(cut(name, 60) for name in refused[:MOST_NAMES])}{more}"
    yield facts.spoken_of
    if facts.skipped:
        yield f"skipped: {facts.skipped}"
    if outcome["unscored"]:
        yield f"{outcome['unscored']:,} could not be scored: {facts.unscored}".removesuffix(": ")
    if outcome["errors"]:
        yield f"{outcome['errors']:,} got no answer"


def plain_table() -> Table:
    """Return a table without a frame, as narrow as its cells."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)


def plain_text(text: str, *, style: str = "") -> Text:
    """Return a cell; its dashes are such as every terminal has."""
    return Text(text.replace("–", "-"), style=style)


def verdict_text(verdict: str) -> Text:
    """Return a verdict in its colour."""
    return Text(verdict.upper(), style=STYLES.get(verdict, "bold"))


def text_line(text: str, console: Console, *, show_toxic: bool) -> Text:
    """Return a text of unknown origin as one line, with toxic words masked or as they are."""
    return _encodable(one_line(text if show_toxic else masked(text)), console)


def _encodable(text: str, console: Console) -> Text:
    # A terminal that cannot write a character must not end the run.
    encoding = console.encoding
    return Text(text.encode(encoding, "backslashreplace").decode(encoding))
