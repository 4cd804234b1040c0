"""A whole run of the command, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import NamedTuple


class Timed(NamedTuple):
    """What a command printed, what it returned, and its wall time."""

    seconds: float
    code: int
    out: str
    err: str


def run(*arguments: str, environment: Mapping[str, str] | None = None) -> Timed:
    """`contrapose run --exit-zero --json` with further arguments."""
    command = [sys.executable, "-m", "contrapose.flows.cli", "run", "--exit-zero", "--json", *arguments]
    start = time.monotonic()
    done = subprocess.run(
        command, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    return Timed(time.monotonic() - start, done.returncode, done.stdout, done.stderr.strip())
