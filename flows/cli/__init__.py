"""The command: its verbs, and with which exit code it ends."""

from __future__ import annotations

import argparse
import atexit
import os
import signal
import sys
import traceback
from collections.abc import Collection, Sequence
from contextlib import suppress
from importlib import import_module
from io import StringIO
from time import monotonic
from typing import Any

from contrapose.flows.cli.interruption import LINE, Interrupted, end_at_once

VERBS = {
    "init": "write a suite of your own, from a model, data and a goal",
    "run": "evaluate a model and publish a report",
    "judge-run": "judge the replies that another tool, or an earlier run, recorded; ask no model",
    "resume": "go on with an unfinished run, or list them",
    "preview": "show what would be asked, before any model is",
    "validate": "check configuration, data and cases; ask no model",
    "estimate": "tell calls, tokens, time and cost of a run; ask no model",
    "prompts": "write what would be asked into files for a batch endpoint; ask no model",
    "answers": "take the results of a batch into the response store",
    "batch": "have what would be asked answered by a batch endpoint, at a lower price",
    "cache": "look after the answers that were paid for",
    "prune": "delete cached tables, results and old runs that nothing needs any more",
    "compare": "compare finished runs of several models",
    "history": "tell pass rates over time, and what changed since the last good run",
    "view": "show runs and their history in a browser, on this machine only",
    "doctor": "tell what is installed, reachable and cached",
    "deploy": "put deployments and automations on a Prefect server",
    "ui": "start a local Prefect with a worker and all deployments",
    "announce": "tell Prefect that a model was retrained, which starts its check",
    "import-langtest": "turn a LangTest configuration into a suite, and list what has no counterpart",
    "list": "list tests, suites, providers, sources and data",
}
"""What the command can be told to do, in the order of its help; the module of that name, with _ for -, holds all of a
verb."""

COMMONEST = {
    "init": "init --model openai/gpt-4.1-mini --data questions.csv",
    "preview": "preview --test add_negation --limit 5",
    "run": "run --model openai/gpt-4.1-mini --data questions.csv --limit 50",
}
"""What whoever types the command alone is shown: the examples of three verbs, which are not imported for that."""


def main(argv: Sequence[str] | None = None) -> int:
    """Parse arguments, do what they say, and return the exit code.

    Args:
        argv: None: those of the process, which is the command's own then, and ends as signals ask it to.
    """
    if argv is not None:
        return _done(argv)
    # Before anything else is imported, which takes a second.
    end_at_once()
    from contrapose.flows.serve.temporary_server import collect_seldom

    collect_seldom()
    ending = _Ending()
    # What is registered first is called last: by then everything else has been seen to.
    atexit.register(ending)
    ending.code = _done(None)
    return ending.code


class _Ending:
    """Ends the process when all that is to be done at its end is done: to take apart what was imported takes seconds.

    Does nothing where the command did not come to its end: Python says why, and with which code.
    """

    code: int | None = None

    def __call__(self) -> None:
        """End it with the code of the command."""
        if self.code is None:
            return
        for stream in (sys.stdout, sys.stderr):
            # A pipe that nobody reads any more, or a stream that was closed.
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(self.code)


def _done(argv: Sequence[str] | None) -> int:
    from contrapose.flows.cli.start import be_quiet
    from contrapose.flows.cli.terminal import guarded_output, saying_damage
    from contrapose.tasks.core.errors import ContraposeError

    arguments = argparse.Namespace(began=monotonic())
    try:
        with guarded_output():
            words = sys.argv[1:] if argv is None else argv
            # Before any library is imported: a verb's module may import all that it needs.
            be_quiet(logs=any(len(word) > len("--l") and "--logs".startswith(word) for word in words))
            parser(words).parse_args(words, namespace=arguments)
            _reach_server()
            with saying_damage():
                code: int = arguments.action(arguments)
    except ContraposeError as error:
        from contrapose.flows.cli.terminal import say

        for line in error.lines():
            say(line, show_toxic=getattr(arguments, "show_toxic", False))
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
    from contrapose.flows.cli.start import serve_blocks
    from contrapose.flows.serve.server_key import bring_key
    from contrapose.tasks.core.secrets import SCHEME

    bring_key()
    serve_blocks(os.environ.get("CONTRAPOSE_STORE", "").startswith(SCHEME))


def _give_up(error: Exception) -> int:
    """Say why there is no outcome. Python would end with 1, which says that the model failed."""
    from contrapose.flows.cli.terminal import say
    from contrapose.flows.orchestration.error_display import lost_server

    if lost := lost_server(error):
        say(str(lost))
        return lost.exit_code
    traceback.print_exception(error)
    say("this is a defect of Contrapose or of a library, not an outcome; please report it")
    return 2


def parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """The command line, with the options of the verb that is meant: the modules of the others are not imported."""
    return parser_of([next((word for word in argv if not word.startswith("-")), "")])


def parser_of(verbs: Collection[str]) -> argparse.ArgumentParser:
    """The command line, with the options of some verbs."""
    from contrapose.flows.cli.arguments import VERDICTS, Verb
    from contrapose.flows.cli.completion import PrintCompletion

    top = argparse.ArgumentParser(
        prog="contrapose",
        description="How does a language model behave when a prompt changes a little?",
        epilog=VERDICTS,
    )
    top.add_argument("--version", action=Version)
    top.add_argument("--print-completion", action=PrintCompletion)
    top.set_defaults(logs=False)
    top.set_defaults(action=lambda _: _help(top))
    commands = top.add_subparsers(metavar="command")
    for name, summary in VERBS.items():
        command = commands.add_parser(name, help=summary)
        if name in verbs:
            verb: Verb = import_module(f"contrapose.flows.cli.{name.replace('-', '_')}").VERB
            command.epilog = f"example: contrapose {verb.example}" + (f"; {verb.exits}" if verb.exits else "")
            verb.options(command)
            command.set_defaults(action=verb.act)
    return top


def _help(top: argparse.ArgumentParser) -> int:
    """The help, and where to begin."""
    from contrapose.flows.cli.terminal import print_lines

    begin = (f"  contrapose {example}" for example in COMMONEST.values())
    return print_lines([top.format_help().rstrip(), "", "where to begin:", *begin])


class Version(argparse.Action):
    """Print the version; reading it costs nothing unless it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        """Print it and exit."""
        from importlib.metadata import version

        print(f"contrapose {version('contrapose')}")
        parser.exit()
