"""Seconds of each stage, peak memory and disk of runs on the mock model: `python -m bench.scale [--rows N …]`.

The samples are those that come with the test (`--test NAME`) over and over, with ids of their own and a word that
varies.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice, pairwise
from pathlib import Path

from bench.process import run
from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.registry import probe
from contrapose.tasks.load.bundled import read_rows

PLACES = ("harbour", "valley", "market", "station", "garden", "library", "museum", "bridge", "village", "forest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a run over so many rows took."""

    rows: int
    seconds: float
    stages: dict[str, float]
    peak_mib: float
    """Of the whole process; of the largest run so far, which is this one while sizes grow."""
    disk: dict[str, float]
    """Bytes a row, by what is kept."""


def main() -> None:
    """Run every size, smallest first, and print stages, memory and how the time grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--test", default="order_bias")
    given = parser.parse_args()
    sizes = []
    for rows in sorted(given.rows):
        with tempfile.TemporaryDirectory() as work:
            sizes.append(measure(given.test, rows, Path(work)))
        print(told(sizes[-1]), flush=True)
    for small, large in pairwise(sizes):
        print(f"{small.rows:,} to {large.rows:,}: {growth(small, large)}")


def measure(test: str, rows: int, work: Path) -> Size:
    """One run with empty caches."""
    data = work / "samples.jsonl"
    with data.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in samples(test, rows))
    environment = {"CONTRAPOSE_HOME": str(work / "home"), "PREFECT_HOME": str(work / "prefect"), "TMPDIR": str(work)}
    chosen = ["--suite", "full", "--set", "tests.defaults.control=false", "--model", "mock", "--test", test]
    done = run(*chosen, "--data", str(data), "--out", str(work / "runs"), environment=environment)
    if done.code:
        raise SystemExit(done.err)
    manifest = json.loads((work / "runs" / json.loads(done.out)["run_id"] / "manifest.json").read_text())
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    stages = manifest["timings"] | {"start, report and end": done.seconds - sum(manifest["timings"].values())}
    kept = {"answers": "home/answers.sqlite3*", "tables": "home/tables", "folder of the run": "runs/[!.]*"}
    disk = {name: _bytes(work, pattern) / rows for name, pattern in kept.items()}
    return Size(rows=rows, seconds=done.seconds, stages=stages, peak_mib=peak, disk=disk)


def _bytes(folder: Path, pattern: str) -> int:
    """Of all files that match, and of those in folders that do."""
    files = {file for path in folder.glob(pattern) for file in (path, *path.rglob("*")) if file.is_file()}
    return sum(file.stat().st_size for file in files)


def samples(test: str, count: int) -> Iterator[dict[str, object]]:
    """Rows of the test's bundled set, each different from the others."""
    own = [row.values for row in read_rows(DataSettings(source=probe(test).bundled_data))]
    for number, values in enumerate(islice(cycle(own), count)):
        place = f"{PLACES[number % len(PLACES)]} {number}"
        yield {**_varied(values, place), "id": f"{values['id']}-{number}"}


def _varied(values: dict[str, object], place: str) -> dict[str, object]:
    """The row with a place of its own before its text."""
    name = next(name for name in ("article_sentence", "text", "question") if name in values)
    return {**values, name: f"Near the {place}. {values[name]}"}


def told(size: Size) -> str:
    """One line about a run."""
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in size.stages.items())
    disk = ", ".join(f"{name} {count:,.0f}" for name, count in size.disk.items())
    return (
        f"{size.rows:,} rows: {size.seconds:.1f} s, peak {size.peak_mib:,.0f} MiB on {os.cpu_count()} cores; {stages}; "
        f"bytes a row: {disk}"
    )


def growth(small: Size, large: Size) -> str:
    """Exponents of the time in the number of rows: 1 is linear."""
    names = [name for name in large.stages if small.stages.get(name)]
    stages = ", ".join(f"{name} {_slope(small, large, small.stages[name], large.stages[name]):.2f}" for name in names)
    return f"whole {_slope(small, large, small.seconds, large.seconds):.2f}; {stages}"


def _slope(small: Size, large: Size, first: float, second: float) -> float:
    return math.log(second / first) / math.log(large.rows / small.rows)


if __name__ == "__main__":
    main()
