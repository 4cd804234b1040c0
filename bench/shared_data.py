"""The real input files, loaded, run and reported whole: `python -m bench.shared_data FOLDER [--model MODEL]`.

FOLDER holds openbookqa_test.jsonl, wiki_test.jsonl, factual_summary_pairs.jsonl and anyscale_sentence_pairs.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

JOBS = (
    ("factual_summary_pairs.jsonl", "order_bias"),
    ("anyscale_sentence_pairs.json", "order_bias"),
    ("openbookqa_test.jsonl", "add_negation"),
    ("wiki_test.jsonl", "add_negation"),
    ("wiki_test.jsonl", "add_toxic_words"),
)


def main() -> None:
    """Run every file and print what became of its rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--out", default="runs")
    given = parser.parse_args()
    for name, test in JOBS:
        run(given.folder / name, test, model=given.model, out=given.out)


def run(data: Path, test: str, *, model: str, out: str) -> None:
    """One file under one test."""
    command = [
        sys.executable,
        "-m",
        "contrapose.flows.cli",
        "run",
        "--suite",
        "full",
        "--exit-zero",
        "--json",
    ]
    start = time.monotonic()
    done = subprocess.run(
        [
            *command,
            "--model",
            model,
            "--test",
            test,
            "--data",
            str(data),
            "--out",
            out,
            "--set",
            "gen_kwargs.max_new_tokens=16",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"{data.name} {test}: exit {done.returncode}: {done.stderr.strip()}")
        return
    outcome = json.loads(done.stdout)["tests"][0]
    counts = {key: outcome[key] for key in ("cases", "skipped", "scored", "passed", "unscored", "errors")}
    seconds = time.monotonic() - start
    print(f"{data.name} {test}: {seconds:.0f} s, {outcome['verdict']}, {counts}, refused {outcome['refused']}")
    print(f"  skips {outcome['skip_reasons']}", flush=True)


if __name__ == "__main__":
    main()
