"""What shells complete: a script for one of them, made from the options of all verbs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")

_FILES = re.compile("FILE|SOURCE")
_FOLDERS = re.compile("FOLDER|RUN")


def completion_script(top: argparse.ArgumentParser, shell: str) -> str:
    """The script that completes verbs, options, names of tests, files and folders in that shell."""
    import shtab

    from contrapose.tasks.core import registry

    for action in _actions(top):
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        if action.dest == "test":
            action.choices = registry.names("probes")
        elif _FILES.search(metavar):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif _FOLDERS.search(metavar):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return shtab.complete(top, shell=shell)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)


class PrintCompletion(argparse.Action):
    """Print the script of a shell; no verb is imported unless it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        explanation = "print what completes this command in a shell"
        super().__init__(option_strings, dest, choices=SHELLS, help=explanation)

    def __call__(self, parser: argparse.ArgumentParser, _: Any, values: Any, __: Any = None) -> None:
        """Print it and exit."""
        from contrapose.flows.cli import VERBS, parser_of

        print(completion_script(parser_of(VERBS), values))
        parser.exit()
