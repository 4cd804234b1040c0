"""The infer stage of a whole run against a server: `python -m bench.api_stage MOCK [--calls 4000]`.

MOCK is the script of an OpenAI-compatible server that takes --port and --latency-ms and counts at /stats. The ideal is
calls / in flight × latency; the stage is what the manifest says of the room: Prefect, store and tables included.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.process import run


@contextmanager
def serving(script: str, *arguments: str) -> Iterator[int]:
    """Start the server; its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    process = subprocess.Popen([sys.executable, script, "--port", str(port), *arguments])
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=2).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        process.kill()
        process.wait()


def stats(port: int) -> dict[str, float]:
    """What the server counted."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=5) as answer:
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
    """One run with an empty store, and one that finds every answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mock")
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--in-flight", type=int, default=64)
    given = parser.parse_args()
    ideal = given.calls / given.in_flight * given.latency_ms / 1000
    with tempfile.TemporaryDirectory() as folder, serving(given.mock, "--latency-ms", str(given.latency_ms)) as port:
        work = Path(folder)
        write_pairs(work / "pairs.jsonl", given.calls // 2)
        for name in ("first", "again"):
            done = run(
                *("--model", "openai/mock", "--test", "order_bias", "--data", str(work / "pairs.jsonl")),
                *("--suite", "full", "--set", "tests.defaults.control=false", "--out", str(work / "runs")),
                *("--set", f"model_args.base_url=http://127.0.0.1:{port}/v1"),
                *("--set", f"model_args.concurrency={given.in_flight}"),
                environment={"CONTRAPOSE_HOME": str(work / "home")},
            )
            if done.code:
                raise SystemExit(done.err)
            summary = json.loads(done.out)
            manifest = json.loads((work / "runs" / summary["run_id"] / "manifest.json").read_text())
            seconds = manifest["timings"]["infer"]
            print(f"{name}: infer {seconds:.2f} s = {seconds / ideal:.3f} × ideal ({ideal:.2f} s), {summary['usage']}")
        print(f"server: {stats(port)}")


if __name__ == "__main__":
    main()
