"""Print the outcome of a run or of a comparison in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from contrapose.tasks.core.comparison import Comparison, list_judged_pairs
from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.report import comparison_markdown as markdown
from contrapose.tasks.report import wordings
from contrapose.tasks.report.evidence import TestFacts, collect_facts, make_rate_cells, make_sentences, yield_legend
from contrapose.tasks.report.passages import summarise_passages
from contrapose.tasks.report.rows import format_columns, list_unused, name_partial, show_rows
from contrapose.tasks.text.cleaning import cut_text, one_line, show_hidden
from contrapose.tasks.text.masking import mask_toxic
from contrapose.tasks.text.wording import (
    count_saved_questions,
    counted,
    describe_changes_by_noise,
    find_further_reason,
    format_span,
    note_language,
    number,
    reason_text,
    usage_text,
)

STYLES = {
    **dict.fromkeys(("pass", "better", "not worse"), "bold green"),
    **dict.fromkeys(("fail", "worse"), "bold red"),
    **dict.fromkeys(("inconclusive", "cannot tell"), "bold yellow"),
    "incomplete": "bold magenta",
}
"""Styles of verdicts on a run, and on one model compared with another."""

SENTENCES = 3
"""Sentences on a test, unless all are asked for."""
MOST_NAMES = 20
"""Refused samples named one by one; all of them are in summary.json."""


def print_verdict(summary: Summary, *, console: Console, show_toxic: bool = False) -> None:
    """Print the verdict and its reason: one line, whatever the width."""
    texts = filter(None, (reason_text(summary), name_partial(summary)))
    reason = make_line(" ".join(texts), console, show_toxic=show_toxic)
    console.print(color_verdict(summary["verdict"]), reason, sep="  ", soft_wrap=True)


def describe_unread(summary: Summary) -> Iterator[str]:
    """Yield one line for each test with replies that could not be read or scored."""
    for outcome in summary["tests"]:
        clauses = "; ".join(filter(None, (collect_facts(outcome).unread, _describe_unscored(outcome))))
        if clauses:
            yield f"{outcome['test_type']}: {clauses}"


def print_summary(
    summary: Summary,
    *,
    console: Console,
    folder: str,
    seconds: float | None = None,
    show_toxic: bool = False,
    explain: bool = False,
) -> None:
    """Print the verdict, a table of the tests, sentences on each, usage, and where the report is.

    Colours are left to the console. The line of the folder alone may be wider than the terminal, so that it can be
    copied. `seconds` is how long the reader has waited; None: what the run took. With `explain` every sentence on a
    test is printed, without it the `SENTENCES` that matter most.
    """
    line = partial(make_line, console=console, show_toxic=show_toxic)

    def print_inset(texts: Iterator[str]) -> None:
        console.print(*(Padding(line(text), (0, 0, 0, 2), expand=False) for text in texts), sep="", end="")

    console.print()
    console.print(color_verdict(summary["verdict"]), line(reason_text(summary)), sep="  ")
    console.print()
    # A terminal of few columns gets fewer figures.
    most = 5 if console.width >= 80 else 3 if console.width >= 60 else 1
    table = make_table()
    table.add_column("test", overflow="fold", max_width=20)
    for title in ("rate", "95 % CI", "gate", "guessing", "scored")[:most]:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for outcome in summary["tests"]:
        for cells in make_rate_cells(outcome):
            name = one_line(cells.name) if cells.verdict else f"  {one_line(cells.name)}"
            texts = (name, *[*cells[1:5], f"{cells.scored}/{cells.cases}"][:most])
            row = [make_cell(text, style="" if cells.verdict else "dim") for text in texts]
            table.add_row(*row, *([color_verdict(cells.verdict)] if cells.verdict else []))
    console.print(table)
    if legend := list(map(line, yield_legend(summary["tests"]))):
        console.print()
        console.print(*legend, sep="\n", style="dim")
    console.print()
    kept_back = 0
    for outcome in summary["tests"]:
        judged = "; ".join(filter(None, (f"on {rows}" if (rows := show_rows(outcome)) else "", note_language(outcome))))
        console.print(line(f"{outcome['test_type']}:"), color_verdict(outcome["verdict"]), line(judged))
        facts = collect_facts(outcome)
        notes = list(make_sentences(_select_notes(outcome, facts, explain=explain)))
        statistics = list(make_sentences(_describe_certainty(facts)))
        shown = [*notes, *statistics] if explain else notes[:SENTENCES]
        kept_back += len(notes) + len(statistics) - len(shown)
        print_inset(iter(shown))
    for columns in format_columns(summary["tests"]):
        console.print(Text("Columns:", style="dim"), line(columns))
    for unused in list_unused(summary["tests"]):
        console.print(Text("Left out:", style="yellow"), line(unused.title))
        print_inset(unused.lines())
    for warning in summary["warnings"]:
        console.print(Text("Warning:", style="yellow"), line(warning))
    console.print()
    usage = usage_text(summary["usage"], saved=count_saved_questions(summary))
    console.print(line(f"{usage}; {format_span(summary['seconds'] if seconds is None else seconds)}"))
    console.print(_replace_unencodable(f"Report: {show_hidden(folder)}/report.html", console), soft_wrap=True)
    if kept_back:
        console.print("Statistics: see the report, or add --explain")


def _select_notes(outcome: Outcome, facts: TestFacts, *, explain: bool) -> Iterator[str]:
    """Yield clauses about a test, the most important first; some are empty."""
    if outcome["verdict"] != "pass":
        yield find_further_reason(outcome)
    if outcome["errors"]:
        yield f"{outcome['errors']:,} of {outcome['cases'] - outcome['skipped']:,} cases got no answer"
    yield _describe_unscored(outcome)
    yield facts.unread
    yield facts.asked_again
    yield from summarise_passages(outcome)
    yield from wordings.summarise_wordings(outcome)
    yield facts.guessing
    if outcome["control"]:
        yield describe_changes_by_noise(outcome["control"], by_kind=explain)
    if refused := outcome["refused"]:
        more = f" and {len(refused) - MOST_NAMES} more" if len(refused) > MOST_NAMES else ""
        yield f"refused {', '.join(cut_text(name, 60) for name in refused[:MOST_NAMES])}{more}"
    if facts.skipped:
        yield f"skipped: {facts.skipped}"


def _describe_certainty(facts: TestFacts) -> Iterator[str]:
    """Yield clauses about the uncertainty of a test's figures."""
    yield from (facts.dependent, facts.missing, *facts.looked, facts.sums, facts.spoken_of)
    yield from (*facts.effects, facts.steps, *facts.known_errors, facts.langtest)


def _describe_unscored(outcome: Outcome) -> str:
    """Return how many cases could not be scored, why, and both replies of one of them, or "" if all were."""
    if not outcome["unscored"]:
        return ""
    first, *others = [reason.rstrip(".") for reason in outcome["unscored_reasons"]] or [""]
    why = f": {first}{' …' if others else ''}" if first else ""
    quoted = " and ".join(f'"{reply}"' if reply else "(empty)" for reply in outcome.get("unscored_example", ()))
    example = f". For example: {quoted}" if quoted else ""
    return f"{counted('cases', outcome['unscored'])} could not be scored{why}{example}"


def make_table() -> Table:
    """Return an empty table without a frame, as narrow as its cells."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)


def make_cell(text: str, *, style: str = "") -> Text:
    """Return a text as a table cell, with dashes that every terminal can print."""
    return Text(text.replace("–", "-"), style=style)


def color_verdict(verdict: str) -> Text:
    """Return a verdict in its colour."""
    return Text(verdict.upper(), style=STYLES.get(verdict, "bold"))


def make_line(text: str, console: Console, *, show_toxic: bool) -> Text:
    """Return a text of unknown origin as one safe line, with toxic words masked unless `show_toxic`."""
    return _replace_unencodable(one_line(text if show_toxic else mask_toxic(text)), console)


def _replace_unencodable(text: str, console: Console) -> Text:
    # A terminal that cannot write a character must not end the run.
    encoding = console.encoding
    return Text(text.encode(encoding, "backslashreplace").decode(encoding))


def print_comparison(comparison: Comparison, *, console: Console) -> None:
    """Print a comparison: verdict, leaderboard, a table for each test, notes on what was left out, and the runs.

    Colours are left to the console.
    """
    line = partial(make_line, console=console, show_toxic=True)
    console.print()
    console.print(color_verdict(comparison["verdict"]), line(comparison["reason"]), sep="  ")
    places = [
        (Text(str(place["rank"])), line(place["name"]), Text(number(place["mean_rank"])))
        for place in comparison["leaderboard"]
    ]
    tables = [("Over all tests", _build_table(("rank", "model", "mean rank"), places))]
    for test in comparison["tests"]:
        rows = []
        for standing in test["standings"]:
            pair = markdown.find_baseline_pair(test, standing["name"])
            rows.append(
                (
                    Text(str(standing["rank"])),
                    line(standing["name"]),
                    make_cell(markdown.format_rate(standing["rate"])),
                    make_cell(markdown.format_difference(pair["difference"])) if pair else Text(""),
                    Text("baseline") if pair is None else color_verdict(str(pair["verdict"])),
                )
            )
        head = ("rank", "model", "pass rate, %", "difference, points", "verdict")
        tables.append((f"{test['test_type']}: {markdown.count_cases(test)}", _build_table(head, rows)))
    for title, table in tables:
        console.print()
        console.print(line(title))
        console.print(table)
    console.print()
    pairs = [(f"{pair['first']} in {test}", pair) for test, pair in list_judged_pairs(comparison["tests"])]
    notes = [f"{name}: {pair['reason']}" for name, pair in pairs if pair["verdict"] == "cannot tell"]
    notes += [f"{name}: {note}" for name, pair in pairs if (note := markdown.format_unpaired(pair))]
    notes += [f"Warning: {warning}" for warning in comparison["warnings"]]
    margin = f'a loss up to {markdown.format_margin(comparison)} counts as "not worse". 95 % intervals in brackets.'
    for note in (*notes, f"Differences are from {comparison['baseline']}; {margin}"):
        console.print(line(note))
    for model in comparison["models"]:
        console.print(line(f"{model['name']}: {model['folder']}"), soft_wrap=True)


def _build_table(head: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    table = make_table()
    for title in head:
        justify = "left" if title in ("model", "verdict") else "right"
        table.add_column(title, justify=justify, overflow="fold", no_wrap=title != "model", max_width=24)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    return table
