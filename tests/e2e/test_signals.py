"""A run that is ended by a signal says so at once, and leaves no process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_endpoint import serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

WAITING = """
from contrapose.flows.cli.start import start_server
with start_server():
    pass
print("up", flush=True)
input()
"""
"""A program that has started the temporary server."""


def started(command: list[str], home: Path) -> subprocess.Popen[bytes]:
    """A program with a temporary server of its own, in a process group of its own."""
    home.mkdir(exist_ok=True)
    own = {"CONTRAPOSE_HOME": str(home), "PREFECT_HOME": str(home / "prefect")}
    return subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, **own},
        cwd=home,
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_term_ends_a_run_that_is_asking(send: Callable[[int, int], None], tmp_path: Path) -> None:
    with serving() as endpoint:
        endpoint.delay = 0.5
        url = f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"
        run = ["-m", "contrapose.flows.cli", "run", "--model", "openai/any", "--set", url]
        process = started([*run, "--set", "model_args.concurrency=2"], tmp_path / "home")
        while not endpoint.bodies:
            assert process.poll() is None
            time.sleep(0.05)
        send(process.pid, signal.SIGTERM)
        # The end of the output comes when the last process that holds it has ended.
        written, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert written.decode() == "contrapose: interrupted; run the same command again to continue\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seconds", [0.4, 0.8, 1.6, 3.2])
def test_a_signal_meets_a_run_that_is_starting(number: signal.Signals, seconds: float, tmp_path: Path) -> None:
    with serving() as endpoint:
        url = f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"
        endpoint.delay = 60
        run = ["-m", "contrapose.flows.cli", "run", "--model", "openai/any", "--set", url]
        process = started(run, tmp_path / "home")
        time.sleep(seconds)
        process.send_signal(number)
        written, _ = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert written.decode() == "contrapose: interrupted; run the same command again to continue\n"


def test_the_temporary_server_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    process = started(["-c", WAITING], tmp_path / "home")
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    process.kill()
    assert process.stdout.read() == b""
