"""Owners of claims, runs and checks that are no more; a store with many answers, and its warnings."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from store.kept_store import MANY, close
from store.test_answers import save

from contrapose.tasks.core.damage import LOGGER
from contrapose.tasks.store import Store
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


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.WARNING, LOGGER)
    return lambda: [record.getMessage() for record in caplog.records if record.name == LOGGER]


@pytest.fixture
def path(own_store: str) -> Path:
    """File of a store that holds `MANY`, and that nobody has open."""
    run = Store().runs.begin("run", config='{"naïve": 1}', folder=".")
    save(Store().answers, *MANY, run=run)
    close()
    return Path(own_store.removeprefix("sqlite:///"))
