"""Command line of Contrapose: its verbs and exit codes."""

from __future__ import annotations

import argparse
import atexit
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from io import StringIO
from time import monotonic
from typing import TYPE_CHECKING

from contrapose.flows.cli.interruption import LINE, Interrupted, end_at_once

if TYPE_CHECKING:
    from contrapose.flows.cli.arguments import Verb

VERBS = {
    "init": "write a suite file for your model and data, or from a LangTest configuration",
    "run": "evaluate a model or recorded replies, and write a report",
    "resume": "resume an unfinished run, or list unfinished runs",
    "preview": "show the prompts; call no model",
    "validate": "check configuration, data and prompts; call no model",
    "estimate": "show calls, tokens, time and cost of a run; call no model",
    "batch": "send the prompts of a run through a batch API, or write them into files",
    "cache": "manage the response cache; delete old tables, results and runs",
    "shrink": "find the shortest prompt of a failed case that still fails",
    "compare": "compare finished runs of several models",
    "certify": "show how steady a judge is and what sways it, or how reliable an agent is",
    "history": "show pass rates over time, and what changed since the last good run",
    "view": "show runs and their history in a browser, on this machine only",
    "doctor": "show what is installed, reachable and cached",
    "deploy": "create deployments and automations on a Prefect server; announce a retrained model",
    "ui": "start a local Prefect server with a worker and all deployments",
    "list": "list tests, suites, providers, sources and data",
}
"""Verbs and their help, in its order; the module of that name holds all of a verb as `VERB`."""

TOGETHER = {"resume": "run", "ui": "deploy"}
"""Verbs that the module of another one holds, under their name in capitals."""

MOVED = {
    "prompts": "batch prompts",
    "answers": "batch answers",
    "prune": "cache prune",
    "judge-run": "run --recorded",
    "import-langtest": "init --langtest",
    "announce": "deploy announce",
}
"""Former verbs, and what took their place."""

COMMONEST = {
    "init": "init --model openai/gpt-4.1-mini --data questions.csv",
    "preview": "preview --test add_negation --limit 5",
    "run": "run --model openai/gpt-4.1-mini --data questions.csv --limit 50",
}
"""Examples of three verbs, which the command alone shows without importing them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the arguments, run the verb, and return the exit code.

    Args:
        argv: None: those of the process, which is the command's own then, and ends as signals ask it to.
    """
    if argv is not None:
        return _execute(argv)
    # Before anything else is imported, which takes a second.
    end_at_once()
    from contrapose.flows.serve.temporary_server import collect_rarely

    collect_rarely()
    codes: list[int] = []
    # What is registered first is called last: by then everything else has been seen to.
    atexit.register(_exit_at_once, codes)
    codes.append(_execute(sys.argv[1:]))
    return codes[0]


def _exit_at_once(codes: Sequence[int]) -> None:
    """End the process with the command's code, if it has one, without unloading modules: unloading takes seconds."""
    for code in codes:
        for stream in (sys.stdout, sys.stderr):
            # A pipe that nobody reads any more, or a stream that was closed.
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)


def _execute(words: Sequence[str]) -> int:
    from contrapose.flows.cli.start import ensure_block_server, set_environment_defaults
    from contrapose.flows.cli.terminal import guard_output, report_damage, say
    from contrapose.tasks.core.errors import ContraposeError

    arguments = argparse.Namespace(began=monotonic())
    if words and words[0] in MOVED:
        say(f"contrapose {words[0]} is now contrapose {MOVED[words[0]]}")
        return 2
    try:
        with guard_output():
            # Before any library is imported: a verb's module may import all that it needs.
            set_environment_defaults(logs=any(len(word) > len("--l") and "--logs".startswith(word) for word in words))
            make_parser(words).parse_args(words, namespace=arguments)
            from contrapose.flows.serve.server_key import bring_key
            from contrapose.tasks.core.secrets import SCHEME

            # A local server that runs has a key, and a store's address may be in a Secret block.
            bring_key()
            ensure_block_server(os.environ.get("CONTRAPOSE_STORE", "").startswith(SCHEME))
            with report_damage():
                code: int = arguments.action(arguments)
    except ContraposeError as error:
        for line in error.lines():
            say(line, show_toxic=getattr(arguments, "show_toxic", False))
        return error.exit_code
    except KeyboardInterrupt as error:
        # Printed by nothing that would have to be imported first.
        with suppress(OSError):
            print(LINE, file=sys.stderr or StringIO())
        return 128 + (error.number if isinstance(error, Interrupted) else signal.SIGINT)
    except Exception as error:
        from contrapose.flows.orchestration.error_display import find_lost_server

        if lost := find_lost_server(error):
            say(str(lost))
            return lost.exit_code
        # Python would end with 1, which says that the model failed.
        traceback.print_exception(error)
        say("this is a bug in Contrapose or a library, not a verdict; please report it")
        return 2
    return code


def make_parser(words: Sequence[str], *, complete: bool = False) -> argparse.ArgumentParser:
    """Build the command line with the options of the verb in these words, or of all verbs; import no other module."""
    from importlib.metadata import version

    from contrapose.flows.cli.arguments import VERDICTS
    from contrapose.flows.cli.completion import PrintCompletion
    from contrapose.flows.cli.terminal import print_lines

    top = argparse.ArgumentParser(
        prog="contrapose",
        description="How does a language model behave when a prompt changes a little?",
        epilog=VERDICTS,
    )
    top.add_argument(
        "--version", action="version", version=f"contrapose {version('contrapose')}", help="print the version"
    )
    top.add_argument("--print-completion", action=PrintCompletion, const=partial(make_parser, [], complete=True))
    examples = (f"  contrapose {example}" for example in COMMONEST.values())
    top.set_defaults(
        logs=False,
        action=lambda _: print_lines([top.format_help().rstrip(), "", "start with:", *examples]),
    )
    commands = top.add_subparsers(metavar="command")
    meant = next((word for word in words if not word.startswith("-")), "")
    for name, summary in VERBS.items():
        command = commands.add_parser(name, help=summary)
        if complete or name == meant:
            verb = load_verb(name)
            command.epilog = f"example: contrapose {verb.example}" + (f"; {verb.exits}" if verb.exits else "")
            verb.options(command)
            command.set_defaults(action=verb.act)
    return top


def load_verb(name: str) -> Verb:
    """Import the module of a verb."""
    module = import_module(f"contrapose.flows.cli.{TOGETHER.get(name, name)}")
    verb: Verb = getattr(module, name.upper() if name in TOGETHER else "VERB")
    return verb
