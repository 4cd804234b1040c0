"""The command: what can be done, and with which exit code it ends."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from contrapose.flows.command.arguments import (
    Version,
    add_announce,
    add_budget,
    add_cache,
    add_compare,
    add_config,
    add_deploy,
    add_doctor,
    add_estimate,
    add_history,
    add_preview,
    add_run,
    add_toxic,
    add_ui,
    add_view,
)
from contrapose.flows.command.output import guarded_output, unread
from contrapose.flows.command.quiet import be_quiet
from contrapose.tasks.errors import ContraposeError
from contrapose.tasks.report.cleaning import one_line

if TYPE_CHECKING:
    from contrapose.flows.command.deploy import Wishes
    from contrapose.tasks.config import RunConfig

EXITS = "exit codes: 0 pass, 1 fail, 2 usage or configuration, 3 inconclusive, 4 incomplete"

COMPARED = "exit codes: 0 no model is worse than the baseline, 1 one is, 2 usage, 3 it cannot be told of one"

EXAMINED = "exit codes: 0 nothing is a problem, 1 something is, 2 usage"


def main(argv: Sequence[str] | None = None) -> int:
    """Parse arguments, do what they say, and return the exit code."""
    try:
        with guarded_output():
            arguments = parser().parse_args(argv)
            be_quiet(logs=arguments.logs)
            code: int = arguments.action(arguments)
    except ContraposeError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        _say("interrupted; the same command goes on where it stopped")
        return 130
    except Exception as error:
        return _give_up(error)
    return code


def _give_up(error: Exception) -> int:
    """Say why there is no outcome. Python would end with 1, which says that the model failed."""
    from contrapose.flows.command.mishap import lost_server

    if told := lost_server(error):
        _say(str(told))
        return told.exit_code
    traceback.print_exception(error)
    _say("this is a defect of Contrapose or of a library, not an outcome; please report it")
    return 2


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="contrapose",
        description="How does a language model behave when a prompt changes a little?",
        epilog=EXITS,
    )
    top.add_argument("--version", action=Version)
    actions = top.add_subparsers(required=True, metavar="command")
    run = actions.add_parser("run", help="evaluate a model and publish a report", epilog=EXITS)
    add_config(run)
    add_toxic(run)
    run.add_argument("--out", metavar="FOLDER", help="folder that receives the folder of the run (default: runs)")
    run.add_argument(
        "--mlflow", metavar="EXPERIMENT", help="log the run into this MLflow experiment too (extra mlflow)"
    )
    run.add_argument("--refresh", action="store_true", help="ask and compute everything again")
    add_run(run)
    run.set_defaults(action=_run)
    resume = actions.add_parser("resume", help="go on with an unfinished run, or list them", epilog=EXITS)
    resume.add_argument("run", nargs="?", metavar="RUN", help="its id, or how it begins; without it they are listed")
    add_budget(resume)
    add_run(resume)
    resume.add_argument("--logs", action="store_true", help="show Prefect's log")
    resume.set_defaults(action=_resume)
    show = actions.add_parser("preview", help="show what would be asked, before any model is")
    add_preview(show)
    show.set_defaults(action=_preview)
    check = actions.add_parser("validate", help="check configuration, data and cases; ask no model")
    add_config(check)
    check.set_defaults(action=_validate)
    ahead = actions.add_parser("estimate", help="tell calls, tokens, time and cost of a run; ask no model")
    add_estimate(ahead)
    ahead.set_defaults(action=_estimate)
    cache = actions.add_parser("cache", help="look after the answers that were paid for")
    add_cache(cache)
    cache.set_defaults(action=_cache, logs=False)
    several = actions.add_parser("compare", help="compare finished runs of several models", epilog=COMPARED)
    add_compare(several)
    several.set_defaults(action=_compare, logs=False)
    past = actions.add_parser("history", help="tell pass rates over time, and what changed since the last good run")
    add_history(past)
    past.set_defaults(action=_history, logs=False)
    seen = actions.add_parser("view", help="show runs and their history in a browser, on this machine only")
    add_view(seen)
    seen.set_defaults(action=_view, logs=False)
    doctor = actions.add_parser("doctor", help="tell what is installed, reachable and cached", epilog=EXAMINED)
    add_doctor(doctor)
    doctor.set_defaults(action=_doctor)
    deployed = actions.add_parser("deploy", help="put deployments and automations on a Prefect server")
    add_deploy(deployed)
    deployed.set_defaults(action=_deploy)
    ui = actions.add_parser("ui", help="start a local Prefect with a worker and all deployments")
    add_ui(ui)
    ui.set_defaults(action=_ui)
    told = actions.add_parser("announce", help="tell Prefect that a model was retrained, which starts its check")
    add_announce(told)
    told.set_defaults(action=_announce, logs=False)
    names = actions.add_parser("list", help="list tests, suites, providers, sources and data")
    names.add_argument("what", nargs="?", choices=("probes", "suites", "providers", "sources", "data"))
    names.add_argument("--logs", action="store_true", help=argparse.SUPPRESS)
    names.set_defaults(action=_list)
    return top


def _run(arguments: argparse.Namespace) -> int:
    return _evaluate(_config(arguments), arguments)


def _resume(arguments: argparse.Namespace) -> int:
    if arguments.run is None:
        from contrapose.flows.command.cache import unfinished

        return _print(unfinished())
    from contrapose.flows.command.resume import found, unfinished_config

    budget = {name: getattr(arguments, name) for name in ("max_calls", "max_tokens", "max_cost")}
    resumed = found(arguments.run).id
    return _evaluate(unfinished_config(resumed, budget=budget), arguments, resumed=resumed)


def _evaluate(config: RunConfig, arguments: argparse.Namespace, *, resumed: str | None = None) -> int:
    from rich.console import Console

    from contrapose.flows.command.preflight import check

    check(config)
    from contrapose.flows.command.boot import import_libraries, server_starting
    from contrapose.flows.showing import at_work, silent

    with silent(arguments.quiet):
        with at_work("start"), server_starting():
            import_libraries()
        from contrapose.flows.evaluate_model import evaluate_model

        published = evaluate_model(config, resumed=resumed)
    from contrapose.tasks.outcome import EXIT_CODES
    from contrapose.tasks.report.console import print_summary, print_verdict

    summary = published["summary"]
    if arguments.json:
        from contrapose.tasks.report.summary import to_json

        print(to_json(summary))
    elif arguments.quiet:
        print_verdict(summary, console=Console())
    else:
        print_summary(summary, console=Console(), folder=_near(published["folder"]))
    if summary["verdict"] == "incomplete":
        _say(f"to go on: contrapose resume {published['run']}")
    return 0 if arguments.exit_zero else EXIT_CODES[summary["verdict"]]


def _near(folder: str) -> str:
    """The folder as seen from the current one, where it lies in that; people copy it from the terminal."""
    path = Path(folder)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else folder


def _preview(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.preview import as_json, as_text, previews

    config = _config(arguments)
    found = [each.once() for each in previews(config)]
    for warning in dict.fromkeys(warning for each in found for warning in each.loaded.warnings):
        _say(warning)
    if arguments.json:
        return _print(as_json(found))
    from rich.console import Console

    return _print(
        as_text(
            found,
            console=Console(highlight=False),
            most=arguments.show,
            skipped=arguments.skipped,
            show_toxic=config.show_toxic,
        )
    )


def _validate(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.preflight import check

    return _print(check(_config(arguments), gates=True))


def _cache(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command import cache

    if arguments.what == "info":
        return _print(cache.info())
    if arguments.what == "export":
        return _print(cache.export(model=arguments.model))
    return _print([cache.clear(model=arguments.model, days=arguments.older_than, sure=arguments.yes)])


def _estimate(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from contrapose.flows.command.estimate import as_json, as_text, estimate

    found = estimate(_config(arguments))
    return _print([as_json(found)] if arguments.json else as_text(found, console=Console(highlight=False)))


def _compare(arguments: argparse.Namespace) -> int:

    from contrapose.tasks.compare.compare import compare
    from contrapose.tasks.comparison import EXIT_CODES
    from contrapose.tasks.report.comparison_files import write_comparison

    found = compare(arguments.run, runs=arguments.runs, baseline=arguments.baseline, margin=arguments.margin)
    if arguments.out:
        write_comparison(Path(arguments.out), found)
    if arguments.json:
        from contrapose.tasks.report.summary import to_json

        _print([to_json(found)])
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
        _say(warning)
    if arguments.format != "table":
        return _print([as_data(found, changes=arguments.changes, style=arguments.format)])
    from rich.console import Console

    from contrapose.flows.command.history_text import as_text

    return _print(as_text(found, changes=arguments.changes, console=Console(highlight=False)))


def _view(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.view import view

    return _print(
        view(arguments.folder, history=arguments.history, port=arguments.port, browser=arguments.open), at_once=True
    )


def _doctor(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.doctor import as_json, as_text, examine, exit_code

    def configured() -> RunConfig | None:
        meant = arguments.suite or arguments.model or arguments.data or arguments.test or arguments.set
        return _config(arguments) if meant else None

    found = examine(configured)
    _print([as_json(found)] if arguments.json else as_text(found))
    return exit_code(found)


def _deploy(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.deploy import deploy

    return _print(deploy(_wishes(arguments)), at_once=True)


def _ui(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.serve_ui import serve

    return _print(serve(_wishes(arguments), port=arguments.port), at_once=True)


def _announce(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.announce import announce

    event = announce(arguments.retrained, revision=arguments.revision, training_run=arguments.training_run)
    return _print([f"announced {arguments.retrained} (event {event})"])


def _wishes(arguments: argparse.Namespace) -> Wishes:
    from contrapose.flows.command.deploy import Wishes
    from contrapose.flows.options import overrides

    told = arguments.suite or arguments.test or overrides(arguments)
    arguments.suite = arguments.suite or "full"
    return Wishes(
        config=_config(arguments) if told else None,
        cron=arguments.cron,
        timezone=arguments.timezone,
        work_dir=arguments.work_dir,
        notify=tuple(arguments.notify),
    )


def _list(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.listing import listing

    return _print(listing(arguments.what))


def _print(lines: Iterable[str], *, at_once: bool = False) -> int:
    """Print lines until there are no more, or nobody reads them; `at_once`: each as it comes, even into a file."""
    for line in lines:
        print(line, flush=at_once)
        if unread():
            break
    return 0


def _say(text: str) -> None:
    """One line beside the output; what it quotes from files and models must not steer the terminal."""
    # Where nobody hears it, the exit code still tells.
    with suppress(OSError):
        print(f"contrapose: {one_line(text)}", file=sys.stderr or StringIO())


def _config(arguments: argparse.Namespace) -> RunConfig:
    from contrapose.flows.options import configured, overrides, select

    config, warnings = configured(arguments.suite, overrides(arguments))
    for warning in warnings:
        _say(f"{arguments.suite}: {warning}")
    return select(config, arguments.test)


if __name__ == "__main__":
    sys.exit(main())
