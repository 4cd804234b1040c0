"""The command: run, validate, list."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from contrapose.flows.quiet import be_quiet
from contrapose.tasks.errors import ContraposeError

if TYPE_CHECKING:
    from contrapose.tasks.config import RunConfig

USAGE_ERROR = 2

EXITS = "exit codes: 0 pass, 1 fail, 2 usage or configuration, 3 inconclusive, 4 incomplete"


def main(argv: Sequence[str] | None = None) -> int:
    """Parse arguments, do what they say, and return the exit code."""
    arguments = parser().parse_args(argv)
    be_quiet(logs=arguments.logs)
    try:
        code: int = arguments.action(arguments)
    except ContraposeError as error:
        print(f"contrapose: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("contrapose: interrupted; the same command goes on where it stopped", file=sys.stderr)
        return 130
    return code


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="contrapose",
        description="How does a language model behave when a prompt changes a little?",
        epilog=EXITS,
    )
    top.add_argument("--version", action=_Version)
    actions = top.add_subparsers(required=True, metavar="command")
    run = actions.add_parser("run", help="evaluate a model and publish a report", epilog=EXITS)
    _add_config(run)
    run.add_argument("--out", metavar="FOLDER", help="folder that receives the folder of the run (default: runs)")
    run.add_argument("--refresh", action="store_true", help="ask and compute everything again")
    run.add_argument("--json", action="store_true", help="print summary.json instead of a table")
    run.add_argument("--exit-zero", action="store_true", help="return 0 whatever the verdict is")
    run.set_defaults(action=_run)
    check = actions.add_parser("validate", help="check configuration, data and cases; ask no model")
    _add_config(check)
    check.set_defaults(action=_validate)
    show = actions.add_parser("list", help="list tests, suites, providers, sources and data")
    show.add_argument("what", nargs="?", choices=("probes", "suites", "providers", "sources", "data"))
    show.add_argument("--logs", action="store_true", help=argparse.SUPPRESS)
    show.set_defaults(action=_list)
    return top


def _add_config(command: argparse.ArgumentParser) -> None:
    command.add_argument("--suite", default="quickstart", metavar="NAME|FILE", help="bundled suite or YAML file")
    command.add_argument("--model", help="embedded, hf/<org>/<name>, hf/<folder>, openai/<model>, mock")
    command.add_argument("--data", metavar="SOURCE", help="bundled name, file, URL or hf/<dataset> for every test")
    command.add_argument("--limit", type=int, metavar="N", help="at most N samples a test")
    command.add_argument("--test", action="append", metavar="NAME", help="only this test; may be given again")
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any key of the suite, such as seed=7"
    )
    command.add_argument("--logs", action="store_true", help="show Prefect's log")


class _Version(argparse.Action):
    """Print the version; reading it costs nothing unless it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from importlib.metadata import version

        print(f"contrapose {version('contrapose')}")
        parser.exit()


def _run(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from contrapose.flows.preflight import check

    config = _config(arguments)
    check(config)
    from contrapose.flows.evaluate_model import evaluate_model
    from contrapose.tasks.outcome import EXIT_CODES
    from contrapose.tasks.report.console import print_summary

    published = evaluate_model(config)
    summary = published["summary"]
    if arguments.json:
        from contrapose.tasks.report.summary import to_json

        print(to_json(summary))
    else:
        print_summary(summary, console=Console(), folder=published["folder"])
    return 0 if arguments.exit_zero else EXIT_CODES[summary["verdict"]]


def _validate(arguments: argparse.Namespace) -> int:
    from contrapose.flows.preflight import check

    for line in check(_config(arguments), gates=True):
        print(line)
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from contrapose.flows.listing import listing

    for line in listing(arguments.what):
        print(line)
    return 0


def _config(arguments: argparse.Namespace) -> RunConfig:
    from contrapose.flows.options import overrides, select
    from contrapose.tasks.config_file import load_config

    config, warnings = load_config(arguments.suite, overrides(arguments))
    for warning in warnings:
        print(f"contrapose: {arguments.suite}: {warning}", file=sys.stderr)
    return select(config, arguments.test)


if __name__ == "__main__":
    sys.exit(main())
