"""Several runs at once on one store: nothing lost, nothing asked twice, the same results; one may be killed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from disturbed import Run, asked_twice, in_flight, kill, until

from contrapose.tasks.store import Store

pytestmark = [pytest.mark.timeout(1200), pytest.mark.usefixtures("prefect_server")]


def several(run: Run, store: str, folder: Path, count: int) -> list[Run]:
    """The same run some times, each with a home and a folder of its own."""
    places = (folder / str(number) for number in range(count))
    return [replace(run, store=store, home=place / "home", out=place / "runs") for place in places]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "takes"),
    [(2, ""), (2, "json_schema"), pytest.param(4, "", marks=pytest.mark.chaos)],
)
@pytest.mark.parametrize("store", ["sqlite", "postgres"], indirect=True)
def test_runs_share_the_work(
    count: int, takes: str, run: Run, store: str, tmp_path: Path, note: Callable[..., None]
) -> None:
    endpoint = run.endpoint
    endpoint.delay, endpoint.takes = 0.05, (takes,)
    runs = several(run, store, tmp_path, count)
    processes = [each.start() for each in runs]
    ends = [each.ended(process) for each, process in zip(runs, processes, strict=True)]
    assert [each.code for each in ends] == [0] * count, ends
    prompts = len(endpoint.asked)
    note(
        f"{count} runs at once, {takes or 'free replies'}, {store.partition(':')[0]}", endpoint, outcome="same results"
    )
    assert prompts >= 60
    assert not asked_twice(endpoint.requests)
    assert sum(held.answers for held in Store().housekeeping.count_by_model()) == prompts
    assert all(each.results().equals(runs[0].results()) for each in runs)
    assert Store().runs.find_unfinished() == []


@pytest.mark.chaos
def test_the_others_go_on_when_runs_are_killed(
    run: Run, store: str, tmp_path: Path, calm: Callable[[Run], Any], note: Callable[..., None]
) -> None:
    endpoint, rng, whole = run.endpoint, random.Random(0), calm(run)
    endpoint.delay = 0.6
    runs = several(run, store, tmp_path, 4)
    processes = [each.start() for each in runs]
    until(lambda: len(endpoint.requests) > 20)
    moments = []
    for process in processes[:2]:
        time.sleep(rng.uniform(0, 1))
        moments.append(kill(process))
    ends = [each.ended(process) for each, process in zip(runs[2:], processes[2:], strict=True)]
    flying = sum(in_flight(endpoint.requests, moment) for moment in moments)
    twice = asked_twice(endpoint.requests)
    scenario = f"4 runs at once, 2 killed, {store.partition(':')[0]}"
    note(scenario, endpoint, kills=2, in_flight=flying, outcome="the same results")
    assert [each.code for each in ends] == [0, 0], ends
    assert all(each.results().equals(whole.results) for each in runs[2:])
    assert set(endpoint.asked) == whole.prompts == runs[0].stored()
    assert twice.total() <= flying
