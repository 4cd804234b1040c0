"""Owners of claims, runs and checks that are no more."""

from __future__ import annotations

import subprocess
import sys

import pytest

from contrapose.tasks.store.owners import new_owner


@pytest.fixture
def ended() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def dead_owner(ended: int) -> str:
    """An owner like ours, in a process of this machine that has ended."""
    return f"{new_owner().rsplit(':', 2)[0]}:{ended}:0"
