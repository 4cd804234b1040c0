"""The history in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contrapose.tasks.core.history_records import Change, PastRun
from contrapose.tasks.history.series import Point, Series, SincePrevious, series, since_green
from contrapose.tasks.report.console import STYLES
from contrapose.tasks.text.cleaning import cut, one_line
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import percent

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-~=+*#"
"""The same heights where a terminal cannot write blocks."""

TREND = 40
"""Runs in a trend, the newest."""

MOST_SHOWN = 100
"""Characters of a value."""


def as_text(found: Sequence[PastRun], *, changes: bool, console: Console) -> Iterator[str]:
    """Runs, the oldest first, for a terminal of 80 columns: rates over time, or what changed since the last pass."""
    with console.capture() as captured:
        if changes:
            _print_changes(since_green(found), console)
        else:
            _print_series(series(found), console)
    yield captured.get()


def _print_series(found: Sequence[Series], console: Console) -> None:
    for each in found:
        console.print()
        console.print(_line(f"{each.test} · {each.model} · {each.suite}", console))
        console.print(_line(trend(each.points, console), console))
        console.print(_table(each.points, console))


def trend(points: Sequence[Point], console: Console) -> str:
    """Pass rates as a row of heights from 0 to 1, and the first and the last in figures."""
    signs = BLOCKS if _writes(BLOCKS, console) else PLAIN
    rates = [point.test["pass_rate"] for point in points[-TREND:]]
    drawn = "".join("?" if rate is None else signs[min(int(rate * len(signs)), len(signs) - 1)] for rate in rates)
    return f"{drawn} {percent(rates[0])} to {percent(rates[-1])}" if len(rates) > 1 else f"{drawn} {percent(rates[0])}"


def _print_changes(found: Sequence[SincePrevious], console: Console) -> None:
    show = shower(show_toxic=False)
    for each in found:
        console.print()
        console.print(_line(f"{each.run['model']} · {each.run['suite']}", console))
        console.print(_line(_told(each), console))
        if each.changes:
            console.print(_change_table(each.changes, show, console))


def _told(found: SincePrevious) -> str:
    """What is held against what, in one sentence."""
    now = f"{found.run['started'][:19].replace('T', ' ')} ({found.run['verdict']})"
    if found.base is None:
        return f"{now}: the first run, with nothing to hold it against."
    then = f"{found.base['started'][:19].replace('T', ' ')}"
    which = "the last one that passed" if found.base["verdict"] == "pass" else f"{found.base['verdict']}; none passed"
    what = ", ".join(dict.fromkeys(change["facet"] for change in found.changes)) or "nothing"
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
        Text(str(test["scored"])),
        Text(one_line(test["verdict"]).upper(), style=STYLES.get(test["verdict"], "bold")),
        _line(" ".join(point.changed), console),
    )


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
