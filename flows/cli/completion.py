"""Shell completion: write scripts from the options of all verbs."""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")


class PrintCompletion(argparse.Action):
    """Option that prints the completion script of a shell; it imports the verbs only when it is used."""

    def __init__(self, option_strings: Sequence[str], dest: str, const: Callable[[], ArgumentParser], **_: Any) -> None:
        explanation = "print what completes this command in a shell"
        super().__init__(option_strings, dest, const=const, choices=SHELLS, help=explanation)

    def __call__(self, parser: argparse.ArgumentParser, _: Any, values: Any, __: Any = None) -> None:
        """Print the script and exit."""
        print(write_script(values, self.const))
        parser.exit()


def write_script(shell: str, build_parser: Callable[[], ArgumentParser]) -> str:
    """Return the script with which a shell completes verbs, options, names of tests, files and folders.

    Args:
        shell: one of `SHELLS`.
        build_parser: builds the parser with the options of all verbs.
    """
    import shtab

    from contrapose.tasks.core import registry

    top = build_parser()
    actions = list(top._actions)
    # The list grows meanwhile, by the actions of verbs and of their own verbs.
    for action in actions:
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        if isinstance(action, argparse._SubParsersAction):
            actions += [inner for parser in action.choices.values() for inner in parser._actions]
        elif action.dest == "test":
            action.choices = registry.names("probes")
        elif re.search("FILE|SOURCE", metavar):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif re.search("FOLDER|RUN", metavar):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return shtab.complete(top, shell=shell)
