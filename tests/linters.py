"""For files that cannot be run here: other people's linters, and whether our command understands what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import REPOSITORY

DEPLOYMENTS = REPOSITORY / "deployments"


def lint(tool: str, *arguments: str | Path) -> None:
    """Fail with what the linter says; it runs in the folder of deployments."""
    program = Path(sys.executable).with_name(tool)
    if not program.exists():
        pytest.skip(f"{tool} is not installed: it comes with the extra dev")
    done = subprocess.run([program, *arguments], cwd=DEPLOYMENTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def understood(arguments: list[str]) -> bool:
    """Whether the command line of contrapose takes these arguments; anything else than contrapose is not ours."""
    from contrapose.flows.cli import make_parser

    assert arguments[0] == "contrapose"
    try:
        make_parser(arguments[1:]).parse_args(arguments[1:])
    except SystemExit:
        return False
    return True
