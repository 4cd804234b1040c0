"""`contrapose run`: a model is evaluated, and a report published."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, get_args

from contrapose.flows.cli import COMMONEST
from contrapose.flows.cli.arguments import VERDICTS, Verb, add_config, add_toxic, config_of
from contrapose.flows.cli.interruption import interruptible, nothing_begun
from contrapose.flows.cli.start import begin_server
from contrapose.flows.cli.terminal import say
from contrapose.tasks.core.reply_outcomes import AskedAgain

if TYPE_CHECKING:
    from contrapose.flows.reporting import Published
    from contrapose.tasks.config.run_config import RunConfig


def _options(command: argparse.ArgumentParser) -> None:
    add_config(command)
    add_report(command)
    command.add_argument(
        "--ask-again",
        action="append",
        choices=get_args(AskedAgain),
        help="ask again what got such a reply, as after a change of policy; may be given again",
    )


def add_report(command: argparse.ArgumentParser) -> None:
    """What becomes of the report, and how much of it is computed."""
    add_toxic(command)
    command.add_argument("--out", metavar="FOLDER|URL", help="what receives the folder of the run (default: runs)")
    command.add_argument(
        "--mlflow", metavar="EXPERIMENT", help="log the run into this MLflow experiment too (extra mlflow)"
    )
    command.add_argument("--refresh", action="store_true", help="ask and compute everything again")
    add_outcome(command)


def add_outcome(command: argparse.ArgumentParser) -> None:
    """How the outcome is told."""
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print summary.json instead of a table")
    shown.add_argument("-q", "--quiet", action="store_true", help="print the verdict only, and no progress")
    command.add_argument("--open", action="store_true", help="open the report in the browser")
    command.add_argument("--exit-zero", action="store_true", help="return 0 whatever the verdict is")


def _run(arguments: argparse.Namespace) -> int:
    from contrapose.flows.orchestration.spinner import at_work, silent

    begin_server()
    with silent(arguments.quiet), at_work("check"):
        config = config_of(arguments)
    with interruptible():
        return evaluate(config, arguments)


def evaluate(config: RunConfig, arguments: argparse.Namespace, *, resumed: str | None = None) -> int:
    """Run the flow, tell its outcome, and return the exit code of its verdict.

    Args:
        config: the run.
        arguments: how the outcome is told.
        resumed: id of an unfinished run that goes on.
    """
    from contrapose.flows.cli.start import import_libraries, server_starting, starting, unwatched
    from contrapose.flows.orchestration.spinner import at_work, silent

    with silent(arguments.quiet):
        with nothing_begun(), at_work("check"):
            from contrapose.flows.cli.validate import check

            check(config)
        with nothing_begun(), at_work(starting()), server_starting():
            import_libraries()
            from contrapose.flows.evaluate_model import evaluate_model
            from contrapose.flows.orchestration.form import as_parameter

        with unwatched():
            published = evaluate_model(as_parameter(config), resumed=resumed)
    from contrapose.tasks.core.outcome import EXIT_CODES

    _tell(published, arguments, show_toxic=config.show_toxic)
    verdict = published["summary"]["verdict"]
    if verdict == "incomplete" and (arguments.json or arguments.quiet):
        say(f"to go on: {_next(published)}")
    return 0 if arguments.exit_zero else EXIT_CODES[verdict]


def _tell(published: Published, arguments: argparse.Namespace, *, show_toxic: bool) -> None:
    from rich.console import Console

    from contrapose.tasks.report.console import print_summary, print_verdict
    from contrapose.tasks.report.summary import to_json

    summary = published["summary"]
    if arguments.json:
        print(to_json(summary))
    elif arguments.quiet:
        print_verdict(summary, console=Console(), show_toxic=show_toxic)
    else:
        console, folder, seconds = Console(), _near(published["folder"]), monotonic() - arguments.began
        print_summary(summary, console=console, folder=folder, seconds=seconds, show_toxic=show_toxic)
        console.print(f"Next: {_next(published)}", markup=False, highlight=False, soft_wrap=True)
    if arguments.open:
        _open(published["folder"])


def _next(published: Published) -> str:
    """What whoever has read the outcome may do."""
    from contrapose.tasks.load.bundled import bundled_names

    if published["summary"]["verdict"] == "incomplete" and published["summary"]["model"]["id"].startswith("recorded/"):
        return "record replies in place of the errors, or judge the others: --set max_error_share=1"
    if published["summary"]["verdict"] == "incomplete":
        return f"contrapose resume {published['run']}"
    if all(outcome["data"]["source"] in bundled_names() for outcome in published["summary"]["tests"]):
        return "contrapose init, for a suite with your own model and data"
    return f"contrapose view {_near(str(Path(published['folder']).parent))} --open, to see it beside other runs"


def _open(folder: str) -> None:
    """Open the report in the browser; one that lies elsewhere is opened from there."""
    import webbrowser

    place = Path(folder) / "report.html"
    if not webbrowser.open(place.absolute().as_uri() if place.is_file() else f"{folder}/report.html"):
        say("no browser could be opened; the report is named above")


def _near(folder: str) -> str:
    """The folder as seen from the current one, where it lies in that; people copy it from the terminal."""
    path = Path(folder)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else folder


VERB = Verb(options=_options, act=_run, example=COMMONEST["run"], exits=VERDICTS)
