"""Ten million samples through load, perturb and the mock provider: `python -m bench.stream [--rows N …] [--test NAME]`.

Every size runs in a process of its own, which computes what the stages' tasks compute, without Prefect. Printed are
seconds and the peak of memory after each stage. The largest portion that a run of ten million cases has is computed
too, alone: what a process needs for it, however many there are. The last line carries the figures on to ten million by
a straight line through the two largest sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import TypeAlias

from bench.scale import samples

Measured: TypeAlias = "dict[str, tuple[float, float]]"
"""Seconds, and MiB of the peak until then, by stage."""
AIM = 10_000_000


def main() -> None:
    """Measure every size, smallest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 2_000_000])
    parser.add_argument("--test", default="add_toxic_words")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        print(json.dumps(stages(chosen.test, chosen.rows[0])))
        return
    sizes = sorted(chosen.rows)
    measured = [_apart(chosen.test, rows) for rows in sizes]
    portion = _apart(chosen.test, _portion(AIM))
    print(f"one portion of {_portion(AIM):,} cases, the largest of {AIM:,}: {_told(portion)}")
    if len(sizes) > 1:
        print(f"{AIM:,} samples by a straight line: {_told(_carried_on(sizes[-2:], measured[-2:]))}")


def stages(test: str, rows: int) -> Measured:
    """Load, perturb and ask so many samples in this process."""
    from contrapose.flows.run_context import resolve_run
    from contrapose.tasks.config.run_config import RunConfig
    from contrapose.tasks.config.suite_files import load_config, validate
    from contrapose.tasks.infer.chunks import yield_chunks
    from contrapose.tasks.infer.task import Terms, infer
    from contrapose.tasks.load.samples import hash_source
    from contrapose.tasks.load.task import load
    from contrapose.tasks.perturb.task import perturb
    from contrapose.tasks.store import Store

    data = Path(os.environ["CONTRAPOSE_HOME"]) / "samples.jsonl"
    base = load_config("full")[0].model_dump(exclude_unset=True)
    tests = {"defaults": {"control": False}, "sensitivity": {test: {}}}
    config: RunConfig = validate(
        {**base, "model": "mock", "tests": tests, "data": {"source": str(data)}}, where="bench"
    )
    run = resolve_run(config)
    (plan,) = run.plans
    measured: Measured = {}

    def note(stage: str, since: float) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        measured[stage] = (round(time.monotonic() - since, 1), round(peak))

    start = time.monotonic()
    loaded = load.fn(test=test, data=plan.data, sha256=hash_source(plan.data), limit=None, seed=0)
    note("load", start)
    start = time.monotonic()
    cases = perturb.fn(plan=plan, samples=loaded["table"], seed=0, likelihoods=run.provider.likelihoods(run.spec))
    note("perturb", start)
    start = time.monotonic()
    store = Store().runs
    terms = Terms(
        spec=run.spec,
        identity=run.identity,
        run=store.begin("bench", config="{}", folder="."),
        limits=run.limits,
        price=run.price,
    )
    most = max(run.provider.cases_per_task, rows if rows == _portion(AIM) else 0)
    for chunk in yield_chunks(test, cases, most):
        infer.fn(label=chunk.label, cases=cases, rows=(chunk.first, chunk.end), terms=terms)
    note("infer", start)
    return measured


def _portion(rows: int) -> int:
    from contrapose.tasks.infer.chunks import MOST_CHUNKS

    return ceil(rows / MOST_CHUNKS)


def _apart(test: str, rows: int) -> Measured:
    """One size in a process of its own, with an empty home; printed."""
    with tempfile.TemporaryDirectory() as work:
        with (Path(work) / "samples.jsonl").open("w") as file:
            file.writelines(_lines(test, rows))
        command = [sys.executable, "-m", "bench.stream", "--inside", "--rows", str(rows), "--test", test]
        done = subprocess.run(
            command, env={**os.environ, "CONTRAPOSE_HOME": work}, stdout=subprocess.PIPE, text=True, check=True
        )
    measured: Measured = {stage: (seconds, peak) for stage, (seconds, peak) in json.loads(done.stdout).items()}
    print(f"{rows:,} samples on {os.cpu_count()} cores: {_told(measured)}", flush=True)
    return measured


def _lines(test: str, rows: int) -> Iterator[str]:
    return (json.dumps(row) + "\n" for row in samples(test, rows))


def _carried_on(sizes: list[int], measured: list[Measured]) -> Measured:
    (small, large), (first, second) = sizes, measured

    def line(stage: str, place: int) -> float:
        slope = (second[stage][place] - first[stage][place]) / (large - small)
        return second[stage][place] + slope * (AIM - large)

    return {stage: (line(stage, 0), line(stage, 1)) for stage in second}


def _told(measured: Measured) -> str:
    return "; ".join(f"{stage} {seconds:,.0f} s, peak {peak:,.0f} MiB" for stage, (seconds, peak) in measured.items())


if __name__ == "__main__":
    main()
