"""`contrapose view`: runs and their history in a browser, on this machine only."""

from __future__ import annotations

import argparse

from contrapose.flows.cli.arguments import Verb, add_history
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.serve.view import view


def _options(command: argparse.ArgumentParser) -> None:
    """What is shown in a browser."""
    command.add_argument(
        "folder", nargs="?", default="runs", metavar="FOLDER", help="of runs, or of one (default: runs)"
    )
    add_history(command)
    command.add_argument("--port", type=int, default=0, metavar="N", help="port on loopback (default: any free one)")
    command.add_argument("--open", action="store_true", help="open the browser")


def _view(arguments: argparse.Namespace) -> int:
    return print_lines(
        view(arguments.folder, history=arguments.history, port=arguments.port, browser=arguments.open), at_once=True
    )


VERB = Verb(options=_options, act=_view, example="view --open")
