"""The command: its verbs, and with which exit code it ends."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from io import StringIO
from typing import TYPE_CHECKING, Any

from contrapose.flows.command.interruption import LINE, Interrupted, end_at_once

if TYPE_CHECKING:
    from contrapose.flows.command.verbs.verb import Verb


def main(argv: Sequence[str] | None = None) -> int:
    """Parse arguments, do what they say, and return the exit code.

    Args:
        argv: None: those of the process, which is the command's own then, and ends as signals ask it to.
    """
    if argv is None:
        # Before anything else is imported, which takes a second.
        end_at_once()
    return _done(argv)


def _done(argv: Sequence[str] | None) -> int:
    from contrapose.flows.command.output import guarded_output
    from contrapose.flows.command.quiet import be_quiet
    from contrapose.flows.command.saying import saying_damage
    from contrapose.tasks.core.errors import ContraposeError

    arguments = argparse.Namespace()
    try:
        with guarded_output():
            parser().parse_args(argv, namespace=arguments)
            be_quiet(logs=arguments.logs)
            _reach_server()
            with saying_damage():
                code: int = arguments.action(arguments)
    except ContraposeError as error:
        from contrapose.flows.command.saying import say

        say(str(error), show_toxic=getattr(arguments, "show_toxic", False))
        return error.exit_code
    except KeyboardInterrupt as error:
        # Printed by nothing that would have to be imported first.
        with suppress(OSError):
            print(LINE, file=sys.stderr or StringIO())
        return 128 + (error.number if isinstance(error, Interrupted) else signal.SIGINT)
    except Exception as error:
        return _give_up(error)
    return code


def _reach_server() -> None:
    """Bring the key of a local server that runs, and start one where the store's address is in a Secret block."""
    from contrapose.flows.command.boot import serve_blocks
    from contrapose.flows.command.server_key import bring_key
    from contrapose.tasks.config.secrets import SCHEME

    bring_key()
    serve_blocks(os.environ.get("CONTRAPOSE_STORE", "").startswith(SCHEME))


def _give_up(error: Exception) -> int:
    """Say why there is no outcome. Python would end with 1, which says that the model failed."""
    from contrapose.flows.command.mishap import lost_server
    from contrapose.flows.command.saying import say

    if told := lost_server(error):
        say(str(told))
        return told.exit_code
    traceback.print_exception(error)
    say("this is a defect of Contrapose or of a library, not an outcome; please report it")
    return 2


def verbs() -> Sequence[Verb]:
    """In the order of the help."""
    from contrapose.flows.command.verbs import ahead, cache, past, run, served, there

    return (
        run.RUN,
        run.RESUME,
        ahead.PREVIEW,
        ahead.VALIDATE,
        ahead.ESTIMATE,
        cache.CACHE,
        past.COMPARE,
        past.HISTORY,
        past.VIEW,
        there.DOCTOR,
        served.DEPLOY,
        served.UI,
        served.ANNOUNCE,
        there.LIST,
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    from contrapose.flows.command.verbs.verb import VERDICTS

    top = argparse.ArgumentParser(
        prog="contrapose",
        description="How does a language model behave when a prompt changes a little?",
        epilog=VERDICTS,
    )
    top.add_argument("--version", action=Version)
    top.set_defaults(logs=False)
    commands = top.add_subparsers(required=True, metavar="command")
    for verb in verbs():
        command = commands.add_parser(verb.name, help=verb.told, epilog=verb.exits)
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
