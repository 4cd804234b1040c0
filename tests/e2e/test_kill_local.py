"""A local model that is killed while it computes: the rest is computed in the same batches, to the same bytes."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL

KILLS = 4

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.usefixtures("prefect_server")]


def command(out: Path) -> list[str]:
    tests = ("order_bias", "add_negation")
    return [
        *(sys.executable, "-m", "contrapose.flows.cli", "run", "--model", "embedded", "--limit", "60"),
        *(part for test in tests for part in ("--test", test)),
        *("--set", "gen_kwargs.max_new_tokens=8", "--exit-zero", "--out", str(out)),
    ]


def environment(store: Path) -> Mapping[str, str]:
    return {**os.environ, "CONTRAPOSE_STORE": f"sqlite:///{store}", "PREFECT_API_URL": str(PREFECT_API_URL.value())}


def stored(store: Path) -> dict[str, float]:
    """When each answer was stored, by its key."""
    if not store.is_file():
        return {}
    with sqlite3.connect(store) as connection:
        try:
            return dict(connection.execute("SELECT key, stored FROM answers"))
        except sqlite3.OperationalError:
            return {}


def kill_after_more(store: Path, out: Path, rng: random.Random) -> None:
    """Start a run, and kill it shortly after it has stored something new."""
    before = len(stored(store))
    process = subprocess.Popen(
        command(out),
        env=environment(store),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while len(stored(store)) == before:
        assert process.poll() is None, "nothing was left to compute"
        time.sleep(0.05)
    time.sleep(rng.uniform(0, 1))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def results(out: Path) -> bytes:
    (folder,) = out.glob("[!.]*")
    return (folder / "results.parquet").read_bytes()


def test_results_are_those_of_a_run_that_was_not_killed(tmp_path: Path) -> None:
    rng, store, out = random.Random(0), tmp_path / "killed.sqlite3", tmp_path / "killed"
    known: dict[str, float] = {}
    for _ in range(KILLS):
        kill_after_more(store, out, rng)
        now = stored(store)
        assert known.items() <= now.items(), "an answer was lost or computed again"
        known = now
    subprocess.run(command(out), env=environment(store), check=True, stdout=subprocess.DEVNULL)
    assert known.items() <= stored(store).items()
    whole = tmp_path / "whole.sqlite3"
    subprocess.run(command(tmp_path / "whole"), env=environment(whole), check=True, stdout=subprocess.DEVNULL)
    assert stored(whole).keys() == stored(store).keys()
    assert len(known) < len(stored(store))
    assert results(out) == results(tmp_path / "whole")
