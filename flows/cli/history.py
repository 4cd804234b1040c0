"""`contrapose history`: pass rates over time, as tables, JSON or CSV."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contrapose.flows.cli.arguments import Verb, add_history
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.history_records import Change, PastRun, PastTest
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.history.dataset import place
from contrapose.tasks.history.queries import runs
from contrapose.tasks.history.reading import recorded
from contrapose.tasks.history.series import Point, Series, SincePrevious, series, since_green
from contrapose.tasks.report.console import STYLES
from contrapose.tasks.report.csv import inert
from contrapose.tasks.text.cleaning import cut, one_line
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import percent

FAR: tuple[Literal["cases", "judged", "looks", "saved"], ...] = ("cases", "judged", "looks", "saved")
"""Columns that say how far a test was asked that might stop early; others leave them empty."""

RATED = (
    *("suite", "model", "test_type", "run_id", "started", "verdict"),
    *("pass_rate", "low", "high", "min_pass_rate", "scored", *FAR, "changed"),
)
"""Columns of the history."""

CHANGED = ("suite", "model", "run_id", "since", "since_verdict", "facet", "name", "before", "after")
"""Columns of its changes."""


def past_runs(
    chosen: str | None,
    output: str,
    *,
    suite: str | None = None,
    model: str | None = None,
    tests: Sequence[str] = (),
    last: int | None = None,
) -> tuple[list[PastRun], str]:
    """Runs of a history, the oldest first, and a warning about files that are none; empty where all are.

    Raises:
        ConfigError: the history cannot be read, or holds no such run.
    """
    where = place(chosen, output)
    if last is not None and last < 0:
        raise ConfigError(f"{last}", expected="0 or more", remedy="Write 0 for all runs.", where="--last")
    records = recorded(where)
    if not len(records.rows):
        raise ConfigError(
            records.warning or "no run is recorded there",
            expected="the history of at least one run",
            remedy="Name its folder or URL with --history; every run that is published adds itself.",
            where=where,
        )
    selected = runs(records.rows, suite=suite, model=model, tests=tests, last=last or None)
    if not selected:
        wanted = " and ".join(filter(None, [suite, model, *tests]))
        raise ConfigError(
            f"no run of {wanted}",
            expected=", ".join(sorted({f"{run['suite']} on {run['model']}" for run in runs(records.rows)})[:10]),
            remedy="Choose another suite, model or test.",
            where=where,
        )
    return selected, records.warning


def as_data(chosen: Sequence[PastRun], *, changes: bool, style: str) -> str:
    """Runs for programs: a flat row for each test of each run, or for each change.

    Args:
        chosen: the oldest first.
        changes: tell what changed since the last run that passed, instead of pass rates.
        style: json or csv, which no spreadsheet takes for formulas.
    """
    rows = list(_change_rows(since_green(chosen)) if changes else _rows(series(chosen)))
    return json.dumps(rows, indent=2) if style == "json" else _csv(rows, CHANGED if changes else RATED)


def _rows(histories: Sequence[Series]) -> Iterator[dict[str, Any]]:
    for history in histories:
        for run, test, changed in ((point.run, point.test, point.changed) for point in history.points):
            low, high = test["interval"] or (None, None)
            own = (history.suite, history.model, history.test, run["run_id"], run["started"], test["verdict"])
            rate = (test["pass_rate"], low, high, test["min_pass_rate"], test["scored"])
            stopping = test.get("stopping")
            far = [stopping[name] if stopping else None for name in FAR]
            yield dict(zip(RATED, (*own, *rate, *far, list(changed)), strict=True))


def _change_rows(comparisons: Sequence[SincePrevious]) -> Iterator[dict[str, Any]]:
    for run, base, changes in ((comparison.run, comparison.base, comparison.changes) for comparison in comparisons):
        for change in changes:
            own = (run["suite"], run["model"], run["run_id"])
            then = (base["run_id"], base["verdict"]) if base else ("", "")
            what = (change["facet"], change["name"], change["before"], change["after"])
            yield dict(zip(CHANGED, (*own, *then, *what), strict=True))


def _csv(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    sink = io.StringIO()
    writer = csv.DictWriter(sink, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return sink.getvalue().removesuffix("\n")


def _cell(value: Any) -> Any:
    text = " ".join(value) if isinstance(value, list) else value
    return inert(text) if isinstance(text, str) else text


BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-~=+*#"
"""The same heights where a terminal cannot write blocks."""

TREND = 40
"""Runs in a trend, the newest."""

MOST_SHOWN = 100
"""Characters of a value."""


def as_text(chosen: Sequence[PastRun], *, changes: bool, console: Console) -> Iterator[str]:
    """Runs, the oldest first, for a terminal of 80 columns: rates over time, or what changed since the last pass."""
    with console.capture() as captured:
        if changes:
            _print_changes(since_green(chosen), console)
        else:
            _print_series(series(chosen), console)
    yield captured.get()


def _print_series(histories: Sequence[Series], console: Console) -> None:
    for history in histories:
        console.print()
        console.print(_line(f"{history.test} · {history.model} · {history.suite}", console))
        console.print(_line(trend(history.points, console), console))
        console.print(_table(history.points, console))
        if history.caution:
            console.print(_line(history.caution, console))


def trend(points: Sequence[Point], console: Console) -> str:
    """Pass rates as a row of heights from 0 to 1, and the first and the last in figures."""
    signs = BLOCKS if _writes(BLOCKS, console) else PLAIN
    rates = [point.test["pass_rate"] for point in points[-TREND:]]
    drawn = "".join("?" if rate is None else signs[min(int(rate * len(signs)), len(signs) - 1)] for rate in rates)
    return f"{drawn} {percent(rates[0])} to {percent(rates[-1])}" if len(rates) > 1 else f"{drawn} {percent(rates[0])}"


def _print_changes(comparisons: Sequence[SincePrevious], console: Console) -> None:
    show = shower(show_toxic=False)
    for comparison in comparisons:
        console.print()
        console.print(_line(f"{comparison.run['model']} · {comparison.run['suite']}", console))
        console.print(_line(_held_against(comparison), console))
        if comparison.changes:
            console.print(_change_table(comparison.changes, show, console))


def _held_against(comparison: SincePrevious) -> str:
    """What is held against what, in one sentence."""
    now = f"{comparison.run['started'][:19].replace('T', ' ')} ({comparison.run['verdict']})"
    if (base := comparison.base) is None:
        return f"{now}: the first run, with nothing to hold it against."
    then = f"{base['started'][:19].replace('T', ' ')}"
    which = "the last one that passed" if base["verdict"] == "pass" else f"{base['verdict']}; none passed"
    what = ", ".join(dict.fromkeys(change["facet"] for change in comparison.changes)) or "nothing"
    return f"{now} against {then} ({which}): {what} changed."


def _change_table(changes: Sequence[Change], show: Show, console: Console) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for title, width in (("of", 7), ("what", 26), ("before", 18), ("after", 18)):
        table.add_column(title, overflow="fold", max_width=width)
    for change in changes:
        texts = (show(change[name]) or "-" for name in ("name", "before", "after"))
        table.add_row(Text(change["facet"]), *(_line(cut(text, MOST_SHOWN), console) for text in texts))
    return table


def _table(points: Sequence[Point], console: Console) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("started, UTC", no_wrap=True, max_width=16)
    for title in ("rate", "95 % CI", "gate", "scored"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True, max_width=12)
    table.add_column("changed", overflow="fold", max_width=14)
    for point in points:
        table.add_row(*_cells(point, console))
    return table


def _cells(point: Point, console: Console) -> tuple[Text, ...]:
    test, ends = point.test, point.test["interval"]
    return (
        _line(point.run["started"][:16].replace("T", " "), console),
        _line(percent(test["pass_rate"]), console),
        Text("-" if ends is None else f"{100 * ends[0]:.1f}-{100 * ends[1]:.1f}%"),
        Text(percent(test["min_pass_rate"])),
        Text(_scored(test)),
        Text(one_line(test["verdict"]).upper(), style=STYLES.get(test["verdict"], "bold")),
        _line(" ".join(point.changed), console),
    )


def _scored(test: PastTest) -> str:
    """How many cases were scored, and of how many, where it was stopped early."""
    early = early_stop(test)
    return f"{test['scored']}/{early['cases']}" if early else str(test["scored"])


def _line(text: str, console: Console) -> Text:
    # A terminal that cannot write a character must not end the command.
    encoding = console.encoding
    plain = one_line(text if _writes(text, console) else text.replace("→", "->").replace("·", "-").replace("–", "-"))
    return Text(plain.encode(encoding, "backslashreplace").decode(encoding))


def _writes(text: str, console: Console) -> bool:
    try:
        text.encode(console.encoding)
    except UnicodeEncodeError:
        return False
    return True


def _options(command: argparse.ArgumentParser) -> None:
    """Which runs of the past are told, and how."""
    command.add_argument("--suite", metavar="NAME", help="only runs of this suite")
    command.add_argument("--model", metavar="ID", help="only runs of this model")
    command.add_argument("--test", action="append", default=[], metavar="NAME", help="only this test; may be repeated")
    shown = command.add_mutually_exclusive_group()
    shown.add_argument(
        "--last", type=int, default=20, metavar="N", help="at most N runs of each suite and model (default: 20; 0: all)"
    )
    shown.add_argument(
        "--changes",
        action="store_true",
        help="which of model, data, prompt, scorer and library changed since the last run that passed",
    )
    style = command.add_mutually_exclusive_group()
    style.add_argument("--format", choices=("table", "json", "csv"), default="table", help="(default: table)")
    style.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    command.add_argument("--out", default="runs", metavar="FOLDER|URL", help="where runs are (default: runs)")
    add_history(command)


def _history(arguments: argparse.Namespace) -> int:
    last = None if arguments.changes else arguments.last
    chosen, warning = past_runs(
        arguments.history, arguments.out, suite=arguments.suite, model=arguments.model, tests=arguments.test, last=last
    )
    if warning:
        say(warning)
    if arguments.format != "table":
        return print_lines([as_data(chosen, changes=arguments.changes, style=arguments.format)])
    return print_lines(as_text(chosen, changes=arguments.changes, console=Console(highlight=False)))


VERB = Verb(options=_options, act=_history, example="history")
