"""`contrapose compare`: compare finished runs of several models."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from contrapose.flows.cli.arguments import Verb, add_toxic
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.flows.comparison_folder import publish_comparison, rewrite_comparison
from contrapose.tasks.compare.compare import compare
from contrapose.tasks.core.comparison import EXIT_CODES, MARGIN, Comparison
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.places import Place
from contrapose.tasks.report.console import print_comparison
from contrapose.tasks.report.summary import to_json
from contrapose.tasks.text.masking import mask_values

EXITS = "exit codes: 0 no model is worse than the baseline, 1 one is worse, 2 usage, 3 undecided"


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("run", nargs="+", metavar="RUN", help="folder of a finished run, or its id")
    add("--runs", default="runs", metavar="FOLDER", help="folder of the runs that ids name (default: runs)")
    add("--baseline", metavar="RUN", help="run to compare the others with (default: the first)")
    text = f"loss of pass rate that is still called not worse (default: {MARGIN})"
    add("--margin", type=float, default=MARGIN, metavar="SHARE", help=text)
    add("--json", action="store_true", help="print comparison.json instead of tables")
    text = (
        "folder that receives comparison.html, comparison.md and comparison.json (default: a new one next to the "
        "baseline's run; with --json none)"
    )
    add("--out", metavar="FOLDER", help=text)
    add("--exit-zero", action="store_true", help="return 0 for every verdict")
    add_toxic(command)


def _compare(arguments: argparse.Namespace) -> int:
    comparison = compare(arguments.run, runs=arguments.runs, baseline=arguments.baseline, margin=arguments.margin)
    if arguments.out:
        folder = rewrite_comparison(Path(arguments.out), comparison, show_toxic=arguments.show_toxic)
    if arguments.json:
        print_lines([to_json(mask_values(comparison, show_toxic=arguments.show_toxic))])
    else:
        print_comparison(comparison, console=Console(highlight=False))
        if arguments.out:
            print_lines([f"Page: {folder / 'comparison.html'}"])
        else:
            print_lines([_publish_beside(comparison, comparison["models"][0]["folder"], arguments)])
    return 0 if arguments.exit_zero else EXIT_CODES[comparison["verdict"]]


def _publish_beside(comparison: Comparison, run: str, arguments: argparse.Namespace) -> str:
    """Publish a comparison next to a run; return a line with its place, or with the reason if that failed."""
    try:
        folder = publish_comparison(comparison, Place(run.rpartition("/")[0]), show_toxic=arguments.show_toxic)
    except ConfigError as error:
        # A folder that cannot be written costs the page alone.
        return f"No page was written: {error}"
    return f"Page: {folder / 'comparison.html'}"


def compare_with_baseline(baseline: str, run: str, arguments: argparse.Namespace) -> int:
    """Compare a run with the baseline run, print and publish the comparison, and return its exit code.

    With `--json` and `--quiet` one line says what it found, which does not disturb the output.
    """
    comparison = compare([baseline, run])
    if arguments.json or arguments.quiet:
        say(f"{comparison['verdict']}: {comparison['reason']}")
    else:
        print_comparison(comparison, console=Console(highlight=False))
    line = _publish_beside(comparison, run, arguments)
    if arguments.json or arguments.quiet:
        say(line)
    else:
        print_lines([line])
    return EXIT_CODES[comparison["verdict"]]


VERB = Verb(options=_add_options, act=_compare, example="compare RUN OTHER_RUN", exits=EXITS)
