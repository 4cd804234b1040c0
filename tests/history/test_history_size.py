"""A history of years: ten thousand runs."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pytest
from past_runs import past_run, past_test

from contrapose.tasks.history.dataset import append
from contrapose.tasks.history.queries import history
from contrapose.tasks.history.reading import read_history

RUNS = 10_000
pytestmark = pytest.mark.slow


def test_ten_thousand_runs_are_read_in_reasonable_time(tmp_path: Path) -> None:
    tests = [past_test(test_type=f"test_{number}") for number in range(8)]
    made = {facet: {f"name {number}": "value " * 8 for number in range(12)} for facet in past_run()["made_of"]}
    for number in range(RUNS):
        run = past_run(number % 365, run_id=f"run-{number}", model=f"model-{number % 5}", tests=tests, made_of=made)
        append(str(tmp_path), run, key=str(number))
    start = perf_counter()
    found = read_history(str(tmp_path))
    before = history(found.rows, past_run(400, model="model-1"))
    seconds = perf_counter() - start
    print(f"{RUNS} runs in {seconds:.1f} s")
    assert len(found.rows) == RUNS
    assert len(before.runs) == 100
    assert seconds < 60
