"""`contrapose compare`, `history` and `view`: runs that are finished."""

from __future__ import annotations

import argparse
from pathlib import Path

from contrapose.flows.command.saying import print_lines, say
from contrapose.flows.command.verbs.verb import Verb
from contrapose.tasks.core.comparison import MARGIN

COMPARED = "exit codes: 0 no model is worse than the baseline, 1 one is, 2 usage, 3 it cannot be told of one"


def _compare_options(command: argparse.ArgumentParser) -> None:
    """Which runs are compared, and how strictly."""
    command.add_argument("run", nargs="+", metavar="RUN", help="folder of a finished run, or its id")
    command.add_argument("--runs", default="runs", metavar="FOLDER", help="where ids are looked for (default: runs)")
    command.add_argument("--baseline", metavar="RUN", help="the run that the others are held against (default: first)")
    command.add_argument(
        "--margin",
        type=float,
        default=MARGIN,
        metavar="SHARE",
        help=f"loss of pass rate that is still called not worse (default: {MARGIN})",
    )
    command.add_argument("--json", action="store_true", help="print comparison.json instead of tables")
    command.add_argument("--out", metavar="FOLDER", help="folder that receives comparison.json and comparison.md")
    command.add_argument("--exit-zero", action="store_true", help="return 0 whatever the verdict is")


def _history_options(command: argparse.ArgumentParser) -> None:
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
    command.add_argument("--out", default="runs", metavar="FOLDER", help="folder that receives runs (default: runs)")
    _add_place(command)


def _view_options(command: argparse.ArgumentParser) -> None:
    """What is shown in a browser."""
    command.add_argument(
        "folder", nargs="?", default="runs", metavar="FOLDER", help="of runs, or of one (default: runs)"
    )
    _add_place(command)
    command.add_argument("--port", type=int, default=0, metavar="N", help="port on loopback (default: any free one)")
    command.add_argument("--open", action="store_true", help="open the browser")


def _add_place(command: argparse.ArgumentParser) -> None:
    """Where the history is."""
    command.add_argument(
        "--history",
        metavar="FOLDER|URL",
        help="folder or fsspec URL of the history (default: CONTRAPOSE_HISTORY, or .history beside the runs)",
    )


def _compare(arguments: argparse.Namespace) -> int:
    from contrapose.tasks.compare.compare import compare
    from contrapose.tasks.core.comparison import EXIT_CODES
    from contrapose.tasks.report.comparison_markdown import write_comparison

    found = compare(arguments.run, runs=arguments.runs, baseline=arguments.baseline, margin=arguments.margin)
    if arguments.out:
        write_comparison(Path(arguments.out), found)
    if arguments.json:
        from contrapose.tasks.report.summary import to_json

        print_lines([to_json(found)])
    else:
        from rich.console import Console

        from contrapose.tasks.report.comparison_console import print_comparison

        print_comparison(found, console=Console(highlight=False))
    return 0 if arguments.exit_zero else EXIT_CODES[found["verdict"]]


def _history(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.history import as_data, past_runs

    last = None if arguments.changes else arguments.last
    found, warning = past_runs(
        arguments.history, arguments.out, suite=arguments.suite, model=arguments.model, tests=arguments.test, last=last
    )
    if warning:
        say(warning)
    if arguments.format != "table":
        return print_lines([as_data(found, changes=arguments.changes, style=arguments.format)])
    from rich.console import Console

    from contrapose.flows.command.history_text import as_text

    return print_lines(as_text(found, changes=arguments.changes, console=Console(highlight=False)))


def _view(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.view import view

    return print_lines(
        view(arguments.folder, history=arguments.history, port=arguments.port, browser=arguments.open), at_once=True
    )


COMPARE = Verb(
    name="compare",
    told="compare finished runs of several models",
    options=_compare_options,
    act=_compare,
    exits=COMPARED,
)
HISTORY = Verb(
    name="history",
    told="tell pass rates over time, and what changed since the last good run",
    options=_history_options,
    act=_history,
)
VIEW = Verb(
    name="view",
    told="show runs and their history in a browser, on this machine only",
    options=_view_options,
    act=_view,
)
