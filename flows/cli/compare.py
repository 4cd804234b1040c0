"""`contrapose compare`: finished runs of several models, side by side."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from contrapose.flows.cli.arguments import Verb, add_toxic
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.comparison_folder import publish_comparison, rewrite_comparison
from contrapose.tasks.compare.compare import compare
from contrapose.tasks.core.comparison import EXIT_CODES, MARGIN, Comparison
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.places import Place
from contrapose.tasks.report.console import print_comparison
from contrapose.tasks.report.summary import to_json

COMPARED = "exit codes: 0 no model is worse than the baseline, 1 one is, 2 usage, 3 it cannot be told of one"


def _options(command: argparse.ArgumentParser) -> None:
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
    command.add_argument(
        "--out",
        metavar="FOLDER",
        help="folder that receives comparison.html, comparison.md and comparison.json (default: a new one beside the "
        "baseline's run; with --json none)",
    )
    command.add_argument("--exit-zero", action="store_true", help="return 0 whatever the verdict is")
    add_toxic(command)


def _compare(arguments: argparse.Namespace) -> int:
    comparison = compare(arguments.run, runs=arguments.runs, baseline=arguments.baseline, margin=arguments.margin)
    if arguments.out:
        folder = rewrite_comparison(Path(arguments.out), comparison, show_toxic=arguments.show_toxic)
    if arguments.json:
        print_lines([to_json(comparison)])
    else:
        print_comparison(comparison, console=Console(highlight=False))
        print_lines([_page_of(folder)] if arguments.out else _beside(comparison, show_toxic=arguments.show_toxic))
    return 0 if arguments.exit_zero else EXIT_CODES[comparison["verdict"]]


def _beside(comparison: Comparison, *, show_toxic: bool) -> Iterator[str]:
    """Publish the comparison beside the baseline's run; a folder that cannot be written costs the page alone."""
    try:
        base = Place(comparison["models"][0]["folder"].rpartition("/")[0])
        folder = publish_comparison(comparison, base, show_toxic=show_toxic)
    except ConfigError as error:
        yield f"No page was written: {error}"
    else:
        yield _page_of(folder)


def _page_of(folder: Place) -> str:
    return f"Page: {folder / 'comparison.html'}"


VERB = Verb(options=_options, act=_compare, example="compare RUN OTHER_RUN", exits=COMPARED)
