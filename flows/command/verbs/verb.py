"""What a verb of the command line is."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

VERDICTS = "exit codes: 0 pass, 1 fail, 2 usage or configuration, 3 inconclusive, 4 incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One thing that the command does; libraries are imported only where it is done."""

    name: str
    told: str
    """What it does, as the list of verbs says."""
    options: Callable[[argparse.ArgumentParser], None]
    """Adds what it takes."""
    act: Callable[[argparse.Namespace], int]
    """Does it, and returns the exit code; raises ContraposeError for what the user can mend."""
    exits: str | None = None
    """What its exit codes mean, where it has more than 0 and 2."""
