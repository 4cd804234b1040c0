"""Which applications may be run on this machine: those that it names, and those that the command line names itself.

A suite of somebody else's, an announcement or a form may name anything, such as a command that deletes files.
"""

from __future__ import annotations

import os
import re
import shlex

from contrapose.tasks.core.errors import ModelError

ALLOWED = "CONTRAPOSE_APPS"
"""Variable that names them, each as after `app/`, parted by line breaks or semicolons; `*` allows everything."""
PREFIX = "app/"


def allow(model: str | None) -> None:
    """Allow an application that the command line names, here and in processes that are begun from here."""
    if model and model.startswith(PREFIX):
        allowed = os.environ.get(ALLOWED), model.removeprefix(PREFIX)
        os.environ[ALLOWED] = "\n".join(filter(None, allowed))


def refuse_unallowed(name: str) -> None:
    """Refuse to run what the machine does not allow.

    Args:
        name: the callable, or `cmd:` and the command.

    Raises:
        ModelError: it is not allowed.
    """
    entries = {entry.strip() for entry in re.split(r"[;\n]", os.environ.get(ALLOWED, ""))}
    if not entries & {"*", name}:
        raise ModelError(
            f"{name} may not be run here",
            expected="an application that --model names, or that the machine allows",
            remedy=f"Nothing was run. Set {ALLOWED}={shlex.quote(name)} where the run takes place.",
            where=f"{PREFIX}{name}",
        )
