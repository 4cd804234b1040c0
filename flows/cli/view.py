"""`contrapose view`: runs and their history in a browser, on this machine only."""

from __future__ import annotations

import argparse

from contrapose.flows.cli.arguments import Verb, add_history
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.serve.view import view


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("folder", nargs="?", default="runs", metavar="FOLDER", help="folder of runs, or of one run (default: runs)")
    add_history(command)
    add("--port", type=int, default=0, metavar="N", help="port on loopback (default: any free one)")
    add("--open", action="store_true", help="open the browser")


def _view(arguments: argparse.Namespace) -> int:
    lines = view(arguments.folder, history=arguments.history, port=arguments.port, browser=arguments.open)
    return print_lines(lines, at_once=True)


VERB = Verb(options=_add_options, act=_view, example="view --open")
