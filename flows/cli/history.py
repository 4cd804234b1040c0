"""`contrapose history`: pass rates over time, as tables, JSON or CSV."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from contrapose.flows.cli.arguments import Verb, add_history, add_toxic
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.core.criteria import DecidingRate
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.history_records import PastRun, list_past_criteria
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.history.dataset import find_place
from contrapose.tasks.history.queries import Point, Series, SincePrevious, compare_to_green, make_series, select_runs
from contrapose.tasks.history.reading import read_history
from contrapose.tasks.report.console import STYLES
from contrapose.tasks.report.csv import disarm
from contrapose.tasks.text.cleaning import cut_text, one_line
from contrapose.tasks.text.masking import make_shower, mask_values
from contrapose.tasks.text.wording import criteria_text, format_interval, percent

STOPPING = ("cases", "judged", "looks", "saved")
"""Columns about a test that might stop early; empty for others."""
RATE_COLUMNS = (
    *("suite", "model", "test_type", "run_id", "started", "verdict"),
    *("pass_rate", "low", "high", "min_pass_rate", "scored", *STOPPING, "changed", "criteria"),
)
CHANGE_COLUMNS = ("suite", "model", "run_id", "since", "since_verdict", "facet", "name", "before", "after")
BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-~=+*#"
"""The same heights where a terminal cannot write blocks."""


def read_past_runs(
    chosen: str | None,
    output: str,
    *,
    suite: str | None = None,
    model: str | None = None,
    tests: Sequence[str] = (),
    last: int | None = None,
) -> tuple[list[PastRun], str]:
    """Read the runs of a history, the oldest first, and a warning about files that cannot be read."""
    where = find_place(chosen, output)
    if last is not None and last < 0:
        raise ConfigError(f"{last}", expected="0 or more", remedy="Write --last 0 for all runs.", where="--last")
    records = read_history(where)
    if not len(records.rows):
        raise ConfigError(
            records.warning or "no run is recorded there",
            expected="the history of at least one run",
            remedy="Name its folder or URL with --history; every run that is published adds itself.",
            where=where,
        )
    selected = select_runs(records.rows, suite=suite, model=model, tests=tests, last=last or None)
    if not selected:
        wanted = " and ".join(filter(None, [suite, model, *tests]))
        past = select_runs(records.rows)
        known = ", ".join(sorted({f"{run['suite']} on {run['model']}" for run in past})[:10])
        if tests:
            known += f", with {', '.join(sorted({test['test_type'] for run in past for test in run['tests']}))}"
        remedy = "Choose another suite, model or test."
        raise ConfigError(f"no run of {wanted}", expected=known, remedy=remedy, where=where)
    return selected, records.warning


def format_data(chosen: Sequence[PastRun], *, changes: bool, style: str, show_toxic: bool = False) -> str:
    """Format runs as JSON or CSV: a flat row for each test of each run, or for each change.

    Args:
        chosen: the oldest first.
        changes: list what changed since the last run that passed, instead of pass rates.
        style: json or csv, which no spreadsheet takes for formulas.
        show_toxic: leave toxic words as they are.
    """
    columns = CHANGE_COLUMNS if changes else RATE_COLUMNS
    cells = list(_make_change_cells(compare_to_green(chosen)) if changes else _make_rate_cells(make_series(chosen)))
    rows = mask_values(cells, show_toxic=show_toxic)
    if style == "json":
        return json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2)
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        texts = (" ".join(value) if isinstance(value, list) else value for value in row)
        writer.writerow([disarm(text) if isinstance(text, str) else text for text in texts])
    return sink.getvalue().removesuffix("\n")


def _make_rate_cells(histories: Sequence[Series]) -> Iterator[tuple[Any, ...]]:
    for history in histories:
        for run, test, changed in ((point.run, point.test, point.changed) for point in history.points):
            own = (history.suite, history.model, history.test, run["run_id"], run["started"], test["verdict"])
            rate = (test["pass_rate"], *(test["interval"] or (None, None)), test["min_pass_rate"], test["scored"])
            stopping: Any = test.get("stopping") or {}
            decided = criteria_text(test["criteria"]) if "criteria" in test else ""
            yield (*own, *rate, *(stopping.get(name) for name in STOPPING), list(changed), decided)


def _make_change_cells(comparisons: Sequence[SincePrevious]) -> Iterator[tuple[Any, ...]]:
    for run, base, changes in ((comparison.run, comparison.base, comparison.changes) for comparison in comparisons):
        then = (base["run_id"], base["verdict"]) if base else ("", "")
        for change in changes:
            what = (change["facet"], change["name"], change["before"], change["after"])
            yield (run["suite"], run["model"], run["run_id"], *then, *what)


def show_runs(chosen: Sequence[PastRun], *, changes: bool, console: Console, show_toxic: bool = False) -> Iterator[str]:
    """Format runs, the oldest first, in 80 columns: rates over time, or what changed since the last pass."""
    show, signs = make_shower(show_toxic=show_toxic), BLOCKS if _can_write(BLOCKS, console) else PLAIN
    with console.capture() as captured:
        for comparison in compare_to_green(chosen) if changes else ():
            console.print()
            console.print(_line(f"{comparison.run['model']} · {comparison.run['suite']}", console))
            now = f"{comparison.run['started'][:19].replace('T', ' ')} ({comparison.run['verdict']})"
            if (base := comparison.base) is None:
                summary = f"{now}: the first run; there is no earlier one to compare with."
            else:
                which = (
                    "the last one that passed"
                    if base["verdict"] == "pass"
                    else f"{base['verdict']}; no run passed before"
                )
                what = ", ".join(dict.fromkeys(change["facet"] for change in comparison.changes)) or "nothing"
                summary = f"{now}, compared with {base['started'][:19].replace('T', ' ')} ({which}): {what} changed."
            console.print(_line(summary, console))
            table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
            for title, width in (("of", 7), ("what", 26), ("before", 18), ("after", 18)):
                table.add_column(title, overflow="fold", max_width=width)
            for change in comparison.changes:
                texts = (show(change[name]) or "-" for name in ("name", "before", "after"))
                table.add_row(Text(change["facet"]), *(_line(cut_text(text, 100), console) for text in texts))
            if comparison.changes:
                console.print(table)
        for history in () if changes else make_series(chosen):
            console.print()
            console.print(_line(f"{history.test} · {history.model} · {history.suite}", console))
            # Pass rates of the newest runs as heights from 0 to 1, and the first and the last in figures.
            rates = [point.test["pass_rate"] for point in history.points[-40:]]
            heights = ("?" if rate is None else signs[min(int(rate * len(signs)), len(signs) - 1)] for rate in rates)
            last = f" to {percent(rates[-1])}" if len(rates) > 1 else ""
            console.print(_line(f"{''.join(heights)} {percent(rates[0])}{last}", console))
            console.print(_make_rate_table(history.points, console))
            if history.caution:
                console.print(_line(history.caution, console))
    yield captured.get()


def _make_rate_table(points: Sequence[Point], console: Console) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("started, UTC", overflow="fold", max_width=16)
    for title in ("rate", "95 % CI", "gate", "scored"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True, max_width=12)
    table.add_column("changed", overflow="fold", max_width=14)
    for point in points:
        test, criteria = point.test, list_past_criteria(point.test)
        # Of how many cases, where the test was stopped early.
        early = early_stop(test)
        table.add_row(
            _line(point.run["started"][:16].replace("T", " "), console),
            *(_make_cells(criteria[0], console) if len(criteria) == 1 else ("", "", "")),
            f"{test['scored']}/{early['cases']}" if early else str(test["scored"]),
            Text(one_line(test["verdict"]).upper(), style=STYLES.get(test["verdict"], "bold")),
            _line(" ".join(point.changed), console),
        )
        for criterion in criteria if len(criteria) > 1 else ():
            name = _line(criterion["name"].replace("_", " "), console)
            table.add_row(Padding(name, (0, 0, 0, 2)), *_make_cells(criterion, console))
    return table


def _make_cells(criterion: DecidingRate, console: Console) -> Iterator[Text]:
    """Return the cells of a rate: its value, interval and gate."""
    low, high = criterion["low"], criterion["high"]
    yield _line(percent(criterion["rate"]), console)
    yield _line("-" if low is None or high is None else format_interval((low, high)), console)
    yield _line(percent(criterion["gate"]), console)


def _line(text: str, console: Console) -> Text:
    # A terminal that cannot write a character must not end the command.
    encoding = console.encoding
    plain = text if _can_write(text, console) else text.replace("→", "->").replace("·", "-").replace("–", "-")
    return Text(one_line(plain).encode(encoding, "backslashreplace").decode(encoding))


def _can_write(text: str, console: Console) -> bool:
    try:
        text.encode(console.encoding)
    except UnicodeEncodeError:
        return False
    return True


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--suite", metavar="NAME", help="show only runs of this suite")
    add("--model", metavar="ID", help="show only runs of this model")
    add("--test", action="append", default=[], metavar="NAME", help="show only this test; repeatable")
    shown = command.add_mutually_exclusive_group()
    text = "show at most N runs of each suite and model (default: 20; 0: all)"
    shown.add_argument("--last", type=int, default=20, metavar="N", help=text)
    text = "show what changed since the last run that passed: model, data, prompt, scorer, library"
    shown.add_argument("--changes", action="store_true", help=text)
    style = command.add_mutually_exclusive_group()
    style.add_argument("--format", choices=("table", "json", "csv"), default="table", help="(default: table)")
    style.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    add("--out", default="runs", metavar="FOLDER|URL", help="folder of the runs (default: runs)")
    add_history(command)
    add_toxic(command)


def _history(arguments: argparse.Namespace) -> int:
    last = None if arguments.changes else arguments.last
    chosen, warning = read_past_runs(
        arguments.history, arguments.out, suite=arguments.suite, model=arguments.model, tests=arguments.test, last=last
    )
    if warning:
        say(warning)
    if arguments.format != "table":
        shown = {"style": arguments.format, "show_toxic": arguments.show_toxic}
        return print_lines([format_data(chosen, changes=arguments.changes, **shown)])
    console = Console(highlight=False)
    return print_lines(show_runs(chosen, changes=arguments.changes, console=console, show_toxic=arguments.show_toxic))


VERB = Verb(options=_add_options, act=_history, example="history")
