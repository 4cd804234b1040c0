"""Processes of their own: the command with a home and a store in a folder, and any other that ends soon."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from prefect.settings import PREFECT_API_URL

Ended = subprocess.CompletedProcess[str]


def run_process(*words: str | Path, **more: Any) -> Ended:
    """Wait for the end of a process; what it prints is text."""
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=280, **more)


def start_command(*words: str, folder: Path, store: str = "", **more: str) -> subprocess.Popen[str]:
    """Start it in the folder, in a process group of its own; the Prefect server is that of the tests."""
    environment = {
        **os.environ,
        "CONTRAPOSE_HOME": str(folder / "home"),
        "CONTRAPOSE_STORE": store or f"sqlite:///{folder}/answers.sqlite3",
        "PREFECT_API_URL": str(PREFECT_API_URL.value()),
        **more,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "contrapose.flows.cli", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_end(process: subprocess.Popen[str], code: int = 0) -> str:
    """Wait for its end, which must come with this exit code; returns all that it printed."""
    out, error = process.communicate()
    assert "Traceback" not in error, error
    assert process.returncode == code, out + error
    return out + error
