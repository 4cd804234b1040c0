"""The same run in threads, on Dask and on Ray: the same results, one budget, one rate, and workers that are killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fake_endpoint import Endpoint
from newest_run import asking, newest, setting, summary_of
from own_process import start_command, wait_for_end

pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("prefect_server")]

ELSEWHERE = [pytest.param(runner, marks=pytest.mark.slow) for runner in ("dask", "ray")]
EACH = [pytest.param(runner, marks=pytest.mark.slow) for runner in ("threads", "dask", "ray")]
PROCESSES = {"dask": "distributed.nanny|multiprocessing.spawn|spawn_main", "ray": "ray::"}
"""What the command lines of worker processes hold."""


class House:
    """A store, an endpoint, and runs as processes of their own."""

    def __init__(self, folder: Path, server: Endpoint, *, store: str = "") -> None:
        self.folder, self.server, self.store = folder, server, store
        folder.mkdir()

    def started(self, *words: str) -> subprocess.Popen[str]:
        own = ("run", "--suite", "full", *asking(self.server.port), "--out", "runs", "--exit-zero", "-q")
        return start_command(*own, *words, folder=self.folder, store=self.store)

    def run(self, *words: str) -> str:
        return wait_for_end(self.started(*words))

    def results(self) -> pa.Table:
        return pq.read_table(newest(self.folder / "runs", "results.parquet")).replace_schema_metadata()

    def summary(self) -> dict[str, Any]:
        return summary_of(self.folder / "runs")


def on(runner: str, workers: int) -> list[str]:
    return setting(f"runner={runner}", f"runner_args.workers={workers}")


SMALL = ("--test", "order_bias", "--test", "add_toxic_words", "--limit", "60")


@pytest.mark.parametrize("runner", EACH)
def test_results_of_many_portions_are_those_of_one(runner: str, server: Endpoint, tmp_path: Path) -> None:
    alone, beside = House(tmp_path / "alone", server), House(tmp_path / "beside", server)
    alone.run(*SMALL)
    asked = Counter(server.asked)
    beside.run(*SMALL, *on(runner, 2), "--set", "runner_args.portion=7")
    assert beside.results().equals(alone.results())
    # Nothing was asked twice by any of the two.
    assert Counter(server.asked) == Counter({prompt: 2 * count for prompt, count in asked.items()})


@pytest.mark.parametrize("runner", ELSEWHERE)
def test_workers_keep_their_answers_in_a_database(
    runner: str, server: Endpoint, tmp_path: Path, postgres_url: str
) -> None:
    alone = House(tmp_path / "alone", server)
    beside = House(tmp_path / "beside", server, store=postgres_url)
    alone.run(*SMALL)
    beside.run(*SMALL, *on(runner, 2))
    assert beside.results().equals(alone.results())


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["threads", *ELSEWHERE])
def test_four_workers_make_no_call_too_many(runner: str, server: Endpoint, tmp_path: Path) -> None:
    house = House(tmp_path / "house", server)
    server.delay = 0.02
    said = house.run("--limit", "150", "--max-calls", "500", *on(runner, 4))
    assert "contrapose resume" in said
    assert len(server.requests) == 500
    assert house.summary()["verdict"] == "incomplete"


@pytest.mark.parametrize("runner", EACH)
def test_four_workers_keep_a_limit_a_minute_together(runner: str, server: Endpoint, tmp_path: Path) -> None:
    house = House(tmp_path / "house", server)
    house.run(
        *("--test", "order_bias", "--limit", "100", "--set", "model_args.requests_per_minute=600"), *on(runner, 4)
    )
    came = sorted(request.came for request in server.requests)
    assert len(came) >= 300
    # The first and the last second are those of workers that begin, and that have nothing left to ask.
    inside = [moment for moment in came if came[0] + 2 < moment < came[-1] - 2]
    rate = (len(inside) - 1) / (inside[-1] - inside[0])
    assert rate == pytest.approx(10, rel=0.05)


@pytest.mark.parametrize("runner", ELSEWHERE)
def test_a_killed_worker_costs_what_was_in_flight(runner: str, server: Endpoint, tmp_path: Path) -> None:
    alone, beside = House(tmp_path / "alone", server), House(tmp_path / "beside", server)
    words = ("--test", "order_bias", "--test", "option_order", "--limit", "150", "--set", "model_args.concurrency=8")
    alone.run(*words)
    expected, before = set(server.asked), len(server.requests)
    server.delay = 0.3
    process = beside.started(*words, *on(runner, 2))
    while len(server.requests) < before + 60:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    victim = busiest_worker(process.pid, PROCESSES[runner])
    os.kill(victim, signal.SIGKILL)
    moment = time.monotonic()
    wait_for_end(process)
    own = server.requests[before:]
    flying = sum(request.came <= moment < request.left + 0.5 for request in own)
    twice = Counter(request.prompt for request in own).total() - len({request.prompt for request in own})
    print(
        f"{runner}: {len(own)} requests, {len(expected)} prompts, {twice} asked twice, {flying} in flight at the kill"
    )
    assert beside.results().equals(alone.results())
    assert {request.prompt for request in own} == expected
    assert twice <= flying


def busiest_worker(root: int, pattern: str) -> int:
    """A worker process among those that a run has started, which has used most processor time."""
    children: dict[int, list[int]] = {}
    lines: dict[int, str] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            lines[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
        except (OSError, ValueError):
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.name))
        ticks[int(entry.name)] = int(fields[11]) + int(fields[12])
    found, waiting = [], [root]
    while waiting:
        own = children.get(waiting.pop(), [])
        found += own
        waiting += own
    workers = [pid for pid in found if re.search(pattern, lines[pid]) and pid != root]
    return max(workers, key=lambda pid: ticks[pid])


@pytest.mark.slow
def test_a_run_that_is_interrupted_lets_its_threads_end(server: Endpoint, tmp_path: Path) -> None:
    house = House(tmp_path / "house", server)
    server.delay = 1.0
    process = house.started(*SMALL, *on("threads", 3))
    while len(server.requests) < 30:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    # Ctrl-C would be ignored where the tests themselves run in the background.
    process.terminate()
    moment = time.monotonic()
    wait_for_end(process, 128 + signal.SIGTERM)
    assert time.monotonic() - moment < 20
    asked = len(server.requests)
    server.delay = 0.0
    house.run(*SMALL, *on("threads", 3))
    prompts = {request.prompt for request in server.requests}
    cut_off = len(server.requests) - len(prompts)
    assert cut_off <= asked
    assert cut_off <= 64
