"""Options that several verbs share: the suite, changes to it, the budget, the report."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contrapose.flows.cli.start import ensure_block_server
from contrapose.flows.cli.terminal import say

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig


VERDICTS = "exit codes: 0 pass, 1 fail, 2 usage or configuration, 3 inconclusive, 4 incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What the module of a verb defines as `VERB`: its options and its action."""

    options: Callable[[argparse.ArgumentParser], None]
    """Adds what it takes."""
    act: Callable[[argparse.Namespace], int]
    """Does it, and returns the exit code; raises ContraposeError for what the user can correct."""
    example: str
    """How it is used, for the end of its help; begins with its name."""
    exits: str | None = None
    """What its exit codes mean, where it has more than 0 and 2."""


def add_config(command: argparse.ArgumentParser) -> None:
    """Add the options of a command that starts from a suite."""
    add_suite(command, default="quickstart", default_text="quickstart")
    add_model(command)
    add_changes(command)
    command.add_argument(
        "--expectations",
        action="append",
        metavar="FILE",
        help="add a file of Great Expectations that every table must meet; repeatable",
    )
    add_budget(command)


def add_suite(command: argparse.ArgumentParser, *, default: str | None, default_text: str) -> None:
    """Add the option that names the suite; `default_text` says which suite is used without the option."""
    command.add_argument(
        "--suite", default=default, metavar="NAME|FILE", help=f"bundled suite or YAML file (default: {default_text})"
    )


def add_model(command: argparse.ArgumentParser) -> None:
    """Add the option that names the model."""
    command.add_argument(
        "--model",
        help="embedded, hf/<org>/<name>, hf/<folder>, openai/<model>, anthropic/<model>, app/…, recorded/<file>, mock",
    )


def add_changes(command: argparse.ArgumentParser, *, test: str = "", data: str = "") -> None:
    """Add the options that change a configuration; `test` and `data` are other names for two of them."""
    add = command.add_argument
    add("--reader", metavar="MODEL", help="model that reads replies the rules cannot (default: the model itself)")
    same = f" ({data} is the same)" if data else ""
    text = f"bundled name, file, URL or hf/<dataset> for every test{same}"
    add(*filter(None, ("--data", data)), metavar="SOURCE", help=text)
    text = "use at most N samples a test (default: all rows of your own data; a bundled suite limits its own "
    add("--limit", type=int, metavar="N", help=f"{text}samples)")
    add("--stop", choices=("all", "early"), help="early: stop a test as soon as its verdict is clear (default: all)")
    text = "skip rows that cannot be used, and list them in the report"
    add("--skip-bad-rows", action="store_true", help=text)
    same = f" ({test} is the same)" if test else ""
    text = f"only this test; may be given again{same}"
    add(*filter(None, ("--test", test)), action="append", metavar="NAME", help=text)
    text = "compare this column with that of --after: the relation test (--test relation)"
    add("--before", metavar="COLUMN", help=text)
    add("--after", metavar="COLUMN", help="column of the changed text")
    text = "what the answer should do: stays, changes, not_worse, or becomes=COLUMN (default: stays)"
    add("--expect", metavar="WHAT", help=text)
    text = "set a key of the suite, such as seed=7; repeatable"
    add("--set", action="append", default=[], metavar="KEY=VALUE", help=text)
    add_logs(command)


def add_budget(command: argparse.ArgumentParser) -> None:
    """Add the options that limit calls, tokens and cost of a run."""
    command.add_argument("--max-calls", type=int, metavar="N", help="stop the run after N requests")
    command.add_argument(
        "--max-tokens", type=int, metavar="N", help="stop the run after N tokens, prompts and replies together"
    )
    command.add_argument("--max-cost", type=float, metavar="USD", help="stop the run after this cost in US dollars")


def add_outcome(command: argparse.ArgumentParser) -> None:
    """Add the options that change how the outcome is shown."""
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print summary.json instead of a table")
    shown.add_argument("-q", "--quiet", action="store_true", help="print the verdict and replies that cannot be read")
    shown.add_argument("--explain", action="store_true", help="print all statistics of each test")
    command.add_argument("--open", action="store_true", help="open the report in the browser")
    command.add_argument("--exit-zero", action="store_true", help="return 0 for every verdict")


def add_toxic(command: argparse.ArgumentParser) -> None:
    """Add the option that shows toxic words, which are masked otherwise."""
    command.add_argument("--show-toxic", action="store_true", help="show toxic words instead of masking them")


def add_logs(command: argparse.ArgumentParser) -> None:
    """Add the option that shows Prefect's log."""
    command.add_argument("--logs", action="store_true", help="show Prefect's log")


def add_history(command: argparse.ArgumentParser) -> None:
    """Add the option that names the history."""
    command.add_argument(
        "--history",
        metavar="FOLDER|URL",
        help="folder or fsspec URL of the history (default: CONTRAPOSE_HISTORY, or .history next to the runs)",
    )


def load_chosen_config(arguments: argparse.Namespace) -> RunConfig:
    """Load the suite with the changes of the command line; print its warnings."""
    from contrapose.flows.orchestration.options import read_overrides, resolve_suite, select_tests

    config, warnings = resolve_suite(arguments.suite, read_overrides(arguments))
    for warning in warnings:
        say(f"{arguments.suite}: {warning}")
    ensure_block_server(config.key_block)
    return select_tests(config, arguments.test)


def shorten_folder(folder: str) -> str:
    """Return a folder relative to the current one, if it is inside that; else unchanged."""
    path = Path(folder)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else folder
