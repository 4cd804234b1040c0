"""Output that is full, closed or read by nobody: each command ends clearly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "contrapose.flows.cli"]
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@full
@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["--version"]])
def test_a_full_disk_is_one_line_and_a_usage_error(arguments: list[str]) -> None:
    with open("/dev/full", "w") as disk:
        done = subprocess.run([*COMMAND, *arguments], stdout=disk, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("contrapose: standard output cannot be written (No space left on device); expected")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "list"], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_that_nobody_reads_keeps_its_exit_code() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "run", "--suite", "nowhere.yaml"], stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    assert (done.returncode, done.stdout) == (2, b"")


def test_closed_output_is_no_error() -> None:
    closed = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *COMMAND, "list"]
    assert subprocess.run(closed).returncode == 0


def test_what_the_encoding_lacks_becomes_an_escape() -> None:
    code = "from contrapose.flows.cli.terminal import guarded_output\nwith guarded_output(): print('\\u6a23')"
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, env=env).stdout == b"\\u6a23\n"
