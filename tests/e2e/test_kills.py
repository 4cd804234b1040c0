"""Thirty kills at random moments: nothing that was answered is asked again, and the results are the same bytes."""

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

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fake_endpoint import Endpoint, serving
from prefect.settings import PREFECT_API_URL

KILLS = 30
LATENCY = 0.2
ASKING = 1.5
"""Seconds of asking before a kill, at most."""
IN_FLIGHT = 4
SLACK = 0.5
"""Seconds: a reply that the server had sent earlier than this before a kill must be in the store."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.usefixtures("prefect_server")]


def command(endpoint: Endpoint, out: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "contrapose.flows.cli", "run", "--model", "openai/any", "--suite", "full"),
        *("--test", "order_bias", "--test", "add_toxic_words", "--exit-zero", "--out", str(out)),
        *("--set", f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"),
        *("--set", f"model_args.concurrency={IN_FLIGHT}"),
    ]


def environment(home: Path) -> Mapping[str, str]:
    return {**os.environ, "CONTRAPOSE_HOME": str(home), "PREFECT_API_URL": str(PREFECT_API_URL.value())}


def results(out: Path) -> pa.Table:
    """The rows; what the file says of the model names the port of its endpoint, which is another one."""
    (folder,) = out.glob("[!.]*")
    return pq.read_table(folder / "results.parquet").replace_schema_metadata()


def integrity(home: Path) -> str:
    store = home / "answers.sqlite3"
    if not store.is_file():
        return "ok"
    with sqlite3.connect(store) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


def start(arguments: list[str], home: Path) -> subprocess.Popen[bytes]:
    """A run in a process group of its own."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen(arguments, env=environment(home), start_new_session=True, stdout=quiet, stderr=quiet)


def kill(process: subprocess.Popen[bytes]) -> float:
    """Kill a run that has not ended; when."""
    assert process.poll() is None, "the run had ended before it was to be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return time.monotonic()


def until_asked(endpoint: Endpoint, process: subprocess.Popen[bytes]) -> None:
    """Wait for the first request of a run."""
    before = len(endpoint.bodies)
    while len(endpoint.bodies) == before:
        assert process.poll() is None, "nothing was left to ask"
        time.sleep(0.01)


def test_thirty_kills(tmp_path: Path) -> None:
    rng = random.Random(0)
    with serving() as calm:
        started = time.monotonic()
        arguments = command(calm, tmp_path / "calm")
        subprocess.run(arguments, env=environment(tmp_path / "one"), check=True, stdout=subprocess.DEVNULL)
        whole = time.monotonic() - started
    kills: list[float] = []
    home, out = tmp_path / "two", tmp_path / "killed"
    with serving() as endpoint:
        endpoint.delay = LATENCY
        for when in rng.sample(["starting"] * 8 + ["asking"] * 22, KILLS):
            process = start(command(endpoint, out), home)
            if when == "asking":
                until_asked(endpoint, process)
            time.sleep(rng.uniform(0, ASKING if when == "asking" else whole / 3))
            kills.append(kill(process))
            assert integrity(home) == "ok"
        assert len(endpoint.sent) < len(calm.asked), "all was asked before the last kill"
        subprocess.run(command(endpoint, out), env=environment(home), check=True, stdout=subprocess.DEVNULL)
    assert results(out).equals(results(tmp_path / "calm"))
    assert set(endpoint.asked) == set(calm.asked)
    assert integrity(home) == "ok"
    twice = {prompt: sent for prompt, sent in endpoint.sent.items() if len(sent) > 1}
    for sent in (moment for moments in twice.values() for moment in moments[:-1]):
        # A reply to a request that was under way leaves the server shortly after the kill.
        assert any(-2 * LATENCY < ended - sent < SLACK for ended in kills), "answered before a kill, and asked again"
    print(f"{len(endpoint.sent)} prompts, {len(kills)} kills, {len(twice)} prompts in flight at a kill and asked again")
    assert len(twice) <= KILLS * IN_FLIGHT
