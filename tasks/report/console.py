"""The outcome of a run in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from contrapose.tasks.core.outcome import GateSummary, Outcome, Summary
from contrapose.tasks.report.evidence import dependent, effect, ended, further_gates, guessing, looked, missing, unread
from contrapose.tasks.report.passages import main_sentences
from contrapose.tasks.report.rows import left_out, not_all, read_columns, taken_by
from contrapose.tasks.text.cleaning import cut, one_line, visible
from contrapose.tasks.text.masking import masked
from contrapose.tasks.text.wording import (
    asked,
    because,
    ends,
    first_line,
    further_reason,
    interval,
    noise,
    percent,
    saved_by,
    skipped,
    span,
    spoken_of,
    unscored,
)

STYLES = {
    **dict.fromkeys(("pass", "better", "not worse"), "bold green"),
    **dict.fromkeys(("fail", "worse"), "bold red"),
    **dict.fromkeys(("inconclusive", "cannot tell"), "bold yellow"),
    "incomplete": "bold magenta",
}
"""Of verdicts on a run, and on one model beside another."""

FIGURES = ("rate", "95 % CI", "gate", "chance", "scored")
"""Columns of figures, the most needed first."""

MOST_NAMES = 20
"""Refused samples named one by one; all of them are in summary.json."""

ROOM = {80: 5, 60: 3}
"""Columns of a terminal, and how many figures of a test fit in them; in less than these one does."""


def verdict_table(summary: Summary, *, width: int) -> Table:
    """One line per test: pass rate with its 95 % interval, gate, chance, scored of all cases, verdict.

    A terminal of few columns gets fewer figures.
    """
    table = plain_table()
    table.add_column("test", overflow="fold", max_width=20)
    figures = FIGURES[: next((count for columns, count in ROOM.items() if width >= columns), 1)]
    for title in figures:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for outcome in summary["tests"]:
        test, *cells, verdict = _cells(outcome)
        table.add_row(test, *cells[: len(figures)], verdict)
        for gate in further_gates(outcome):
            table.add_row(*_gate_cells(gate)[: len(figures) + 1])
    return table


def print_verdict(summary: Summary, *, console: Console, show_toxic: bool = False) -> None:
    """Print the verdict and its reason: one line, whatever the width."""
    reason = text_line(" ".join(filter(None, (because(summary), not_all(summary)))), console, show_toxic=show_toxic)
    console.print(verdict_text(summary["verdict"]), reason, sep="  ", soft_wrap=True)


def print_summary(
    summary: Summary, *, console: Console, folder: str, seconds: float | None = None, show_toxic: bool = False
) -> None:
    """Print the verdict, a line per test, what there is to tell of each, usage, and where the report is.

    Colours are left to the console. The line of the folder alone may be wider than the terminal, so that it can be
    copied. `seconds` is how long whoever reads it has waited; None: what the run took.
    """
    line = partial(text_line, console=console, show_toxic=show_toxic)
    console.print()
    console.print(verdict_text(summary["verdict"]), line(because(summary)), sep="  ")
    console.print()
    console.print(verdict_table(summary, width=console.width))
    console.print()
    for outcome in summary["tests"]:
        judged = "; ".join(filter(None, (f"on {rows}" if (rows := taken_by(outcome)) else "", first_line(outcome))))
        console.print(line(f"{outcome['test_type']}:"), verdict_text(outcome["verdict"]), line(judged))
        console.print(*(_inset(line(note)) for note in filter(None, map(ended, _notes(outcome)))), sep="", end="")
    for columns in read_columns(summary["tests"]):
        console.print(Text("Columns:", style="dim"), line(columns))
    for unused in left_out(summary["tests"]):
        console.print(Text("Left out:", style="yellow"), line(unused.title))
        console.print(*(_inset(line(text)) for text in unused.lines()), sep="", end="")
    for warning in summary["warnings"]:
        console.print(Text("Warning:", style="yellow"), line(warning))
    console.print()
    usage = asked(summary["usage"], saved=saved_by(summary))
    console.print(line(f"{usage}; {span(summary['seconds'] if seconds is None else seconds)}"))
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
    return [*map(plain_text, texts), verdict_text(outcome["verdict"])]


def _gate_cells(gate: GateSummary) -> list[Text]:
    """A further rate of a test, in the columns of its pass rate."""
    texts = (
        f"  {one_line(gate['name'].replace('_', ' '))}",
        percent(gate["rate"]),
        ends(gate["interval"]),
        percent(gate["wanted"]),
        percent(gate["chance"]),
        f"{gate['rows'] - gate['open']}/{gate['rows']}",
    )
    return [plain_text(text, style="dim") for text in texts]


def _inset(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2), expand=False)


def _notes(outcome: Outcome) -> Iterator[str]:
    """What there is to tell of a test; empty texts where there is nothing."""
    if outcome["verdict"] != "pass":
        yield further_reason(outcome)
    # The report tells what that means for other figures.
    yield from islice(looked(outcome), 2)
    if outcome["control"]:
        yield noise(outcome["control"])
    # The first is the test's own; the report has all.
    yield from (effect(outcome, measured) for measured in outcome["effects"][:1])
    yield from (guessing(outcome), dependent(outcome), missing(outcome), unread(outcome))
    yield from main_sentences(outcome)
    if outcome["refused"]:
        named = ", ".join(cut(name, 60) for name in outcome["refused"][:MOST_NAMES])
        more = len(outcome["refused"]) - MOST_NAMES
        yield f"refused {named}" + (f" and {more} more" if more > 0 else "")
    yield spoken_of(outcome)
    if outcome["skip_reasons"]:
        yield f"skipped: {skipped(outcome['test_type'], outcome['skip_reasons'])}"
    if outcome["unscored"]:
        yield f"{outcome['unscored']:,} could not be scored: {unscored(outcome)}".removesuffix(": ")
    if outcome["errors"]:
        yield f"{outcome['errors']:,} got no answer"


def plain_table() -> Table:
    """A table without a frame, as narrow as its cells."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)


def plain_text(text: str, *, style: str = "") -> Text:
    """A cell; its dashes are such as every terminal has."""
    return Text(text.replace("–", "-"), style=style)


def verdict_text(verdict: str) -> Text:
    """A verdict in its colour."""
    return Text(verdict.upper(), style=STYLES.get(verdict, "bold"))


def text_line(text: str, console: Console, *, show_toxic: bool) -> Text:
    """A text of unknown origin as one line, with toxic words masked or as they are."""
    return _encodable(one_line(text if show_toxic else masked(text)), console)


def _encodable(text: str, console: Console) -> Text:
    # A terminal that cannot write a character must not end the run.
    encoding = console.encoding
    return Text(text.encode(encoding, "backslashreplace").decode(encoding))
