"""The infer stage of a whole run against a server: `python -m bench.api_stage MOCK [--calls 4000] [--lm-eval PYTHON]`.

MOCK is the script of an OpenAI-compatible server that takes --port and --latency-ms and counts at /stats. The ideal is
calls / in flight × latency; the stage takes what the manifest says: Prefect, store and tables included.

PYTHON is an interpreter that has lm-eval with its extra `api`: its `local-chat-completions` then asks as many prompts
of the same length. Compared are the server's own span, from the first request to the last answer, and the whole
process; `--rounds` repeats both in turn, with other pairs each time. Home and store stay, as they do for users and as
the cache of lm-eval does; in the first round the run also finds out how the endpoint takes questions.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median
from typing import Any

from bench.api import aiohttp_alone, serving
from bench.process import run

FAULTS = ("error", "hang", "malformed", "rps")


def stats(url: str) -> dict[str, float]:
    """What the server counted."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats", timeout=5) as answer:
        found: dict[str, float] = json.load(answer)
    return found


def write_pairs(path: Path, count: int, *, first: int = 0) -> None:
    """Pairs of summaries, each with a number of its own."""
    with path.open("w") as file:
        for number in range(first, first + count):
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
        if given.lm_eval:
            beside_the_harness(work, url, given)
            return
        if not faults:
            floor = aiohttp_alone(url, given)[0]
            print(f"aiohttp alone: {floor:.2f} s = {floor / ideal:.3f} × ideal ({ideal:.2f} s)", flush=True)
        for name in ("first", "again"):
            seconds, summary = measure(work, url, given)
            (test,) = summary["tests"]
            print(f"{name}: {summary['verdict']}: {test['reason']} {test['errors']} cases in error")
            print(f"  infer {seconds:.2f} s = {seconds / ideal:.3f} × ideal ({ideal:.2f} s); {summary['usage']}")
            print(f"  {stored(work)} answers in the store; server: {stats(url)}", flush=True)


TASK = """task: bridges
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "A"
generation_kwargs: {{until: [], max_gen_toks: 8}}
metric_list: [{{metric: exact_match}}]
"""


def beside_the_harness(work: Path, url: str, given: argparse.Namespace) -> None:
    """A run over new pairs and lm-eval, in turn."""
    folder = work / "tasks"
    folder.mkdir()
    with (folder / "prompts.jsonl").open("w") as file:
        for number in range(given.calls):
            pair = f"The bridge was opened in {1500 + number % 500}.\nB: It was opened in {1507 + number % 500}."
            prompt = f"Which summary fits the article?\nBridge {number} over the river was opened.\nA: {pair}\nAnswer:"
            file.write(json.dumps({"prompt": prompt}) + "\n")
    (folder / "bridges.yaml").write_text(TASK.format(file=folder / "prompts.jsonl"))
    ratios = []
    before = 0
    for number in range(given.rounds):
        write_pairs(work / "pairs.jsonl", given.calls // 2, first=number * given.calls)
        reset(url)
        start = time.monotonic()
        measure(work, url, given)
        own = (stats(url)["span_s"], time.monotonic() - start)
        total = stored(work)
        answers, before = total - before, total
        reset(url)
        start = time.monotonic()
        harness(folder, url, given)
        theirs = (stats(url)["span_s"], time.monotonic() - start)
        ratios.append((own[0] / theirs[0], own[1] / theirs[1]))
        print(f"span {own[0]:.2f} s, lm-eval {theirs[0]:.2f} s, ratio {ratios[-1][0]:.3f}; {answers} answers stored")
        print(f"  whole process {own[1]:.1f} s, lm-eval {theirs[1]:.1f} s, ratio {ratios[-1][1]:.3f}", flush=True)
    for name, place in (("span", 0), ("whole process", 1)):
        print(f"{name}: median ratio {median(ratio[place] for ratio in ratios):.3f}")


def harness(folder: Path, url: str, given: argparse.Namespace) -> None:
    """lm-eval's `local-chat-completions` over the same number of prompts."""
    model = f"model=mock,base_url={url}/chat/completions,num_concurrent={given.in_flight},max_retries=1"
    command = [given.lm_eval, "-m", "lm_eval", "--model", "local-chat-completions", "--model_args", model]
    options = ["--tasks", "bridges", "--include_path", str(folder), "--apply_chat_template", "--batch_size", "1"]
    environment = {"OPENAI_API_KEY": "none", "HF_HOME": str(folder / "cache"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [*command, *options], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode or stats(url)["ok"] < given.calls:
        raise SystemExit(f"lm-eval asked {stats(url)}\n{done.stderr[-2000:]}")


def reset(url: str) -> None:
    """Let the server count anew."""
    with urllib.request.urlopen(urllib.request.Request(f"{url.removesuffix('/v1')}/reset", b"{}"), timeout=5):
        pass


def measure(work: Path, url: str, given: argparse.Namespace) -> tuple[float, dict[str, Any]]:
    """Seconds of the infer stage, and the summary of the run."""
    reached = {"base_url": url, "concurrency": given.in_flight, "timeout": given.timeout}
    done = run(
        *("--model", "openai/mock", "--test", "order_bias", "--data", str(work / "pairs.jsonl")),
        *("--suite", "full", "--set", "tests.defaults.control=false", "--out", str(work / "runs")),
        *(part for name, value in reached.items() for part in ("--set", f"model_args.{name}={value}")),
        environment={"CONTRAPOSE_HOME": str(work / "home"), "CONTRAPOSE_STORE": f"sqlite:///{work}/answers.sqlite3"},
    )
    if done.code:
        raise SystemExit(done.err)
    summary = json.loads(done.out)
    manifest = json.loads((work / "runs" / summary["run_id"] / "manifest.json").read_text())
    return float(manifest["timings"]["infer"]), summary


def stored(work: Path) -> int:
    """How many answers the store holds; each has a key of its own."""
    with sqlite3.connect(work / "answers.sqlite3") as connection:
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mock")
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--lm-eval", metavar="PYTHON", help="an interpreter that has lm-eval")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=30, help="of a request, in seconds")
    for name in FAULTS:
        parser.add_argument(f"--{name}", type=float, default=0, help="as the server takes it")
    return parser.parse_args()


if __name__ == "__main__":
    main()
