"""`contrapose doctor` and `contrapose list`: what is there."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from contrapose.flows.command.arguments import add_changes, add_suite, config_of
from contrapose.flows.command.saying import print_lines
from contrapose.flows.command.verbs.verb import Verb

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig

EXAMINED = "exit codes: 0 nothing is a problem, 1 something is, 2 usage"


def _doctor_options(command: argparse.ArgumentParser) -> None:
    """What the doctor looks at beside the machine."""
    add_suite(command, default=None, told="only the machine is looked at")
    add_changes(command)
    command.add_argument("--json", action="store_true", help="print the findings as JSON")


def _list_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", nargs="?", choices=("probes", "suites", "providers", "sources", "data"))
    command.add_argument("--logs", action="store_true", help=argparse.SUPPRESS)


def _doctor(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.doctor import as_json, as_text, examine, exit_code

    def configured() -> RunConfig | None:
        meant = arguments.suite or arguments.model or arguments.data or arguments.test or arguments.set
        return config_of(arguments) if meant else None

    found = examine(configured)
    print_lines([as_json(found)] if arguments.json else as_text(found))
    return exit_code(found)


def _list(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.listing import listing

    return print_lines(listing(arguments.what))


DOCTOR = Verb(
    name="doctor",
    told="tell what is installed, reachable and cached",
    options=_doctor_options,
    act=_doctor,
    exits=EXAMINED,
)
LIST = Verb(name="list", told="list tests, suites, providers, sources and data", options=_list_options, act=_list)
