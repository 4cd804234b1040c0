"""`contrapose run` and `contrapose resume`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from contrapose.flows.command.arguments import add_budget, add_config, add_logs, add_toxic, config_of
from contrapose.flows.command.interruption import interruptible, nothing_begun
from contrapose.flows.command.saying import print_lines, say
from contrapose.flows.command.verbs.verb import VERDICTS, Verb

if TYPE_CHECKING:
    from contrapose.flows.rooms.report import Published
    from contrapose.tasks.config import RunConfig


def _run_options(command: argparse.ArgumentParser) -> None:
    add_config(command)
    add_toxic(command)
    command.add_argument("--out", metavar="FOLDER", help="folder that receives the folder of the run (default: runs)")
    command.add_argument(
        "--mlflow", metavar="EXPERIMENT", help="log the run into this MLflow experiment too (extra mlflow)"
    )
    command.add_argument("--refresh", action="store_true", help="ask and compute everything again")
    _add_outcome(command)


def _resume_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", nargs="?", metavar="RUN", help="its id, or how it begins; without it they are listed")
    add_budget(command)
    _add_outcome(command)
    add_logs(command)


def _add_outcome(command: argparse.ArgumentParser) -> None:
    """How the outcome is told."""
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print summary.json instead of a table")
    shown.add_argument("-q", "--quiet", action="store_true", help="print the verdict only, and no progress")
    command.add_argument("--exit-zero", action="store_true", help="return 0 whatever the verdict is")


def _run(arguments: argparse.Namespace) -> int:
    config = config_of(arguments)
    with interruptible():
        return _evaluate(config, arguments)


def _resume(arguments: argparse.Namespace) -> int:
    if arguments.run is None:
        from contrapose.flows.command.cache import unfinished

        return print_lines(unfinished())
    from contrapose.flows.command.resume import found, unfinished_config

    budget = {name: getattr(arguments, name) for name in ("max_calls", "max_tokens", "max_cost")}
    resumed = found(arguments.run).id
    config = unfinished_config(resumed, budget=budget)
    with nothing_begun():
        from contrapose.flows.command.boot import serve_blocks

        serve_blocks(config.key_block)
    with interruptible():
        return _evaluate(config, arguments, resumed=resumed)


def _evaluate(config: RunConfig, arguments: argparse.Namespace, *, resumed: str | None = None) -> int:
    with nothing_begun():
        from contrapose.flows.command.boot import import_libraries, server_starting
        from contrapose.flows.command.preflight import check
        from contrapose.flows.showing import at_work, silent

    check(config)
    with silent(arguments.quiet):
        with nothing_begun(), at_work("start"), server_starting():
            import_libraries()
            from contrapose.flows.evaluate_model import evaluate_model

        published = evaluate_model(config, resumed=resumed)
    from contrapose.tasks.outcome import EXIT_CODES

    _tell(published, arguments, show_toxic=config.show_toxic)
    verdict = published["summary"]["verdict"]
    if verdict == "incomplete":
        say(f"to go on: contrapose resume {published['run']}")
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
        print_summary(summary, console=Console(), folder=_near(published["folder"]), show_toxic=show_toxic)


def _near(folder: str) -> str:
    """The folder as seen from the current one, where it lies in that; people copy it from the terminal."""
    path = Path(folder)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else folder


RUN = Verb(name="run", told="evaluate a model and publish a report", options=_run_options, act=_run, exits=VERDICTS)
RESUME = Verb(
    name="resume",
    told="go on with an unfinished run, or list them",
    options=_resume_options,
    act=_resume,
    exits=VERDICTS,
)
