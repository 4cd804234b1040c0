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

import pytest
from fake_endpoint import Endpoint, serving
from prefect.settings import PREFECT_API_URL

KILLS = 30
LATENCY = 0.1
IN_FLIGHT = 4
SLACK = 1.0
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


def results(out: Path) -> bytes:
    (folder,) = out.glob("[!.]*")
    return (folder / "results.parquet").read_bytes()


def integrity(home: Path) -> str:
    store = home / "answers.sqlite3"
    if not store.is_file():
        return "ok"
    with sqlite3.connect(store) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


def killed(arguments: list[str], home: Path, *, after: float) -> bool:
    """Start a run in a process group of its own and kill it; False where it had ended before."""
    process = subprocess.Popen(
        arguments,
        env=environment(home),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def test_thirty_kills(tmp_path: Path) -> None:
    rng = random.Random(0)
    with serving() as calm:
        started = time.monotonic()
        subprocess.run(
            command(calm, tmp_path / "calm"), env=environment(tmp_path / "one"), check=True, stdout=subprocess.DEVNULL
        )
        startup = time.monotonic() - started
    with serving() as endpoint:
        endpoint.latency = LATENCY
        kills: list[float] = []
        home, out = tmp_path / "two", tmp_path / "killed"
        while len(kills) < KILLS:
            # From before the first request to some seconds into the asking.
            after = rng.uniform(0.2, 1.0) * startup
            assert killed(command(endpoint, out), home, after=after), f"all was asked after {len(kills)} kills"
            kills.append(time.monotonic())
            assert integrity(home) == "ok"
        subprocess.run(command(endpoint, out), env=environment(home), check=True, stdout=subprocess.DEVNULL)
        assert results(out) == results(tmp_path / "calm")
        assert set(endpoint.asked) == set(calm.asked)
        assert integrity(home) == "ok"
        twice = [prompt for prompt, times in endpoint.sent.items() if len(times) > 1]
        for prompt in twice:
            for sent in endpoint.sent[prompt][:-1]:
                kill = next(moment for moment in kills if moment > sent)
                assert kill - sent < SLACK, f"answered {kill - sent:.2f} s before a kill, and asked again: {prompt}"
        print(f"{len(endpoint.sent)} prompts, {KILLS} kills, {len(twice)} of them in flight at a kill and asked again")
        assert len(twice) <= KILLS * IN_FLIGHT
