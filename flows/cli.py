"""The command: its verbs, and with which exit code it ends."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from contrapose.flows.command.boot import serve_blocks
from contrapose.flows.command.interruption import Interrupted
from contrapose.flows.command.output import guarded_output
from contrapose.flows.command.quiet import be_quiet
from contrapose.flows.command.saying import say
from contrapose.flows.command.server_key import bring_key
from contrapose.flows.command.verbs.ahead import ESTIMATE, PREVIEW, VALIDATE
from contrapose.flows.command.verbs.cache import CACHE
from contrapose.flows.command.verbs.past import COMPARE, HISTORY, VIEW
from contrapose.flows.command.verbs.run import RESUME, RUN
from contrapose.flows.command.verbs.served import ANNOUNCE, DEPLOY, UI
from contrapose.flows.command.verbs.there import DOCTOR, LIST
from contrapose.flows.command.verbs.verb import VERDICTS
from contrapose.tasks.errors import ContraposeError
from contrapose.tasks.secrets import SCHEME

VERBS = (
    RUN,
    RESUME,
    PREVIEW,
    VALIDATE,
    ESTIMATE,
    CACHE,
    COMPARE,
    HISTORY,
    VIEW,
    DOCTOR,
    DEPLOY,
    UI,
    ANNOUNCE,
    LIST,
)
"""In the order of the help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Parse arguments, do what they say, and return the exit code."""
    arguments = argparse.Namespace()
    try:
        with guarded_output():
            parser().parse_args(argv, namespace=arguments)
            be_quiet(logs=arguments.logs)
            bring_key()
            serve_blocks(os.environ.get("CONTRAPOSE_STORE", "").startswith(SCHEME))
            code: int = arguments.action(arguments)
    except ContraposeError as error:
        say(str(error), show_toxic=getattr(arguments, "show_toxic", False))
        return error.exit_code
    except KeyboardInterrupt as error:
        say("interrupted; the same command goes on where it stopped")
        return 128 + (error.number if isinstance(error, Interrupted) else signal.SIGINT)
    except Exception as error:
        return _give_up(error)
    return code


def _give_up(error: Exception) -> int:
    """Say why there is no outcome. Python would end with 1, which says that the model failed."""
    from contrapose.flows.command.mishap import lost_server

    if told := lost_server(error):
        say(str(told))
        return told.exit_code
    traceback.print_exception(error)
    say("this is a defect of Contrapose or of a library, not an outcome; please report it")
    return 2


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="contrapose",
        description="How does a language model behave when a prompt changes a little?",
        epilog=VERDICTS,
    )
    top.add_argument("--version", action=Version)
    top.set_defaults(logs=False)
    verbs = top.add_subparsers(required=True, metavar="command")
    for verb in VERBS:
        command = verbs.add_parser(verb.name, help=verb.told, epilog=verb.exits)
        verb.options(command)
        command.set_defaults(action=verb.act)
    return top


class Version(argparse.Action):
    """Print the version; reading it costs nothing unless it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        """Print it and exit."""
        from importlib.metadata import version

        print(f"contrapose {version('contrapose')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
