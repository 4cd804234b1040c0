"""What a verb of the command is, and what several of them take: a suite, what changes it, a budget."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contrapose.flows.cli.start import serve_blocks
from contrapose.flows.cli.terminal import say

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig


VERDICTS = "exit codes: 0 pass, 1 fail, 2 usage or configuration, 3 inconclusive, 4 incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What a verb's module offers as `VERB`."""

    options: Callable[[argparse.ArgumentParser], None]
    """Adds what it takes."""
    act: Callable[[argparse.Namespace], int]
    """Does it, and returns the exit code; raises ContraposeError for what the user can mend."""
    example: str
    """How it is used, for the end of its help; begins with its name."""
    exits: str | None = None
    """What its exit codes mean, where it has more than 0 and 2."""


def add_config(command: argparse.ArgumentParser, *, model: bool = True) -> None:
    """The options of a command that starts from a suite; `model`: whether one of them names the model."""
    add_suite(command, default="quickstart", default_text="quickstart")
    if model:
        add_model(command)
    add_changes(command)
    command.add_argument(
        "--expectations",
        action="append",
        metavar="FILE",
        help="further Great Expectations that every table must keep to; may be given again",
    )
    add_budget(command)


def add_suite(command: argparse.ArgumentParser, *, default: str | None, default_text: str) -> None:
    """The option that names the suite; `default_text`: what is meant without it."""
    command.add_argument(
        "--suite", default=default, metavar="NAME|FILE", help=f"bundled suite or YAML file (default: {default_text})"
    )


def add_model(command: argparse.ArgumentParser) -> None:
    """The option that names the model."""
    command.add_argument(
        "--model", help="embedded, hf/<org>/<name>, hf/<folder>, openai/<model>, app/…, recorded/<file>, mock"
    )


def add_changes(command: argparse.ArgumentParser, *, test: str | None = None, data: str | None = None) -> None:
    """The options that change a configuration; `test` and `data` are further names of these two."""
    command.add_argument(
        "--reader", metavar="MODEL", help="model that is asked what unread replies choose (default: the model itself)"
    )
    command.add_argument(
        *("--data", *filter(None, [data])),
        metavar="SOURCE",
        help=f"bundled name, file, URL or hf/<dataset> for every test{_same(data)}",
    )
    command.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="at most N samples a test; without it, all of a SOURCE of your own (a bundled suite's limit is "
        "for its bundled samples)",
    )
    command.add_argument(
        "--stop",
        choices=("all", "early"),
        help="early: ask a test no further once its verdict is certain enough (default: all)",
    )
    command.add_argument(
        "--skip-bad-rows", action="store_true", help="leave out rows that cannot be used, and list them in the report"
    )
    command.add_argument(
        *("--test", *filter(None, [test])),
        action="append",
        metavar="NAME",
        help=f"only this test; may be given again{_same(test)}",
    )
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any key of the suite, such as seed=7"
    )
    add_logs(command)


def add_budget(command: argparse.ArgumentParser) -> None:
    """The most that a run may spend."""
    command.add_argument("--max-calls", type=int, metavar="N", help="at most N requests in the whole run")
    command.add_argument("--max-tokens", type=int, metavar="N", help="at most N tokens in the whole run, both ways")
    command.add_argument("--max-cost", type=float, metavar="USD", help="at most that many US dollars in the whole run")


def add_toxic(command: argparse.ArgumentParser) -> None:
    """The option that shows what is masked otherwise."""
    command.add_argument("--show-toxic", action="store_true", help="show toxic words instead of masking them")


def add_logs(command: argparse.ArgumentParser) -> None:
    """The option that shows what Prefect says."""
    command.add_argument("--logs", action="store_true", help="show Prefect's log")


def config_of(arguments: argparse.Namespace) -> RunConfig:
    """The suite with what was changed; what is odd about it is said."""
    from contrapose.flows.orchestration.options import configured, overrides, select

    config, warnings = configured(arguments.suite, overrides(arguments))
    for warning in warnings:
        say(f"{arguments.suite}: {warning}")
    serve_blocks(config.key_block)
    return select(config, arguments.test)


def _same(name: str | None) -> str:
    return f" ({name} is the same)" if name else ""


def add_history(command: argparse.ArgumentParser) -> None:
    """Where the history is."""
    command.add_argument(
        "--history",
        metavar="FOLDER|URL",
        help="folder or fsspec URL of the history (default: CONTRAPOSE_HISTORY, or .history beside the runs)",
    )
