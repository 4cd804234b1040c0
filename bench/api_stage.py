"""The infer stage of a whole run against a server: `python -m bench.api_stage MOCK [--calls 4000]`.

MOCK is the script of an OpenAI-compatible server that takes --port and --latency-ms and counts at /stats. The ideal is
calls / in flight × latency; the stage is what the manifest says of the room: Prefect, store and tables included.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from bench.api import aiohttp_alone, serving
from bench.process import run

FAULTS = ("error", "hang", "malformed", "rps")


def stats(url: str) -> dict[str, float]:
    """What the server counted."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats", timeout=5) as answer:
        found: dict[str, float] = json.load(answer)
    return found


def write_pairs(path: Path, count: int) -> None:
    """Pairs of summaries, each with a number of its own."""
    with path.open("w") as file:
        for number in range(count):
            year = 1500 + number % 500
            row = {
                "article_sentence": f"Bridge {number} over the river was opened in {year} and closed a century later.",
                "correct_sentence": f"Bridge {number} was opened in {year}.",
                "incorrect_sentence": f"Bridge {number} was opened in {year + 7}.",
            }
            file.write(json.dumps(row) + "\n")


def main() -> None:
    """One run with an empty store, and one that finds what it answered."""
    given = arguments()
    ideal = given.calls / given.in_flight * given.latency_ms / 1000
    faults = [f"--{name}={getattr(given, name)}" for name in FAULTS if getattr(given, name)]
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(given.mock, "--latency-ms", str(given.latency_ms), *faults) as url,
    ):
        work = Path(folder)
        write_pairs(work / "pairs.jsonl", given.calls // 2)
        if not faults:
            floor = aiohttp_alone(url, given)[0]
            print(f"aiohttp alone: {floor:.2f} s = {floor / ideal:.3f} × ideal ({ideal:.2f} s)", flush=True)
        for name in ("first", "again"):
            seconds, summary = measure(work, url, given)
            (test,) = summary["tests"]
            print(f"{name}: {summary['verdict']}: {test['reason']} {test['errors']} cases in error")
            print(f"  infer {seconds:.2f} s = {seconds / ideal:.3f} × ideal ({ideal:.2f} s); {summary['usage']}")
            print(f"  {stored(work)} answers in the store; server: {stats(url)}", flush=True)


def measure(work: Path, url: str, given: argparse.Namespace) -> tuple[float, dict[str, Any]]:
    """Seconds of the infer room, and the summary of the run."""
    reached = {"base_url": url, "concurrency": given.in_flight, "timeout": given.timeout}
    done = run(
        *("--model", "openai/mock", "--test", "order_bias", "--data", str(work / "pairs.jsonl")),
        *("--suite", "full", "--set", "tests.defaults.control=false", "--out", str(work / "runs")),
        *(part for name, value in reached.items() for part in ("--set", f"model_args.{name}={value}")),
        environment={"CONTRAPOSE_HOME": str(work / "home")},
    )
    if done.code:
        raise SystemExit(done.err)
    summary = json.loads(done.out)
    manifest = json.loads((work / "runs" / summary["run_id"] / "manifest.json").read_text())
    return float(manifest["timings"]["infer"]), summary


def stored(work: Path) -> int:
    """How many answers the store holds; each has a key of its own."""
    with sqlite3.connect(work / "home" / "answers.sqlite3") as store:
        return int(store.execute("SELECT count(*) FROM answers").fetchone()[0])


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mock")
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--timeout", type=float, default=30, help="of a request, in seconds")
    for name in FAULTS:
        parser.add_argument(f"--{name}", type=float, default=0, help="as the server takes it")
    return parser.parse_args()


if __name__ == "__main__":
    main()
