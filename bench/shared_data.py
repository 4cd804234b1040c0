"""The real input files, loaded, run and reported whole: `python -m bench.shared_data FOLDER [--model MODEL]`.

FOLDER holds openbookqa_test.jsonl, wiki_test.jsonl, factual_summary_pairs.jsonl and anyscale_sentence_pairs.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bench.process import run

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
        measure(given.folder / name, test, model=given.model, out=given.out)


def measure(data: Path, test: str, *, model: str, out: str) -> None:
    """One file under one test."""
    chosen = ["--suite", "full", "--model", model, "--test", test, "--data", str(data), "--out", out]
    done = run(*chosen, "--set", "gen_kwargs.max_new_tokens=16")
    if done.code:
        print(f"{data.name} {test}: exit {done.code}: {done.err}", flush=True)
        return
    outcome = json.loads(done.out)["tests"][0]
    counts = {key: outcome[key] for key in ("cases", "skipped", "scored", "passed", "unscored", "errors")}
    told = f"{outcome['verdict']}, {counts}, refused {outcome['refused']}, skips {outcome['skip_reasons']}"
    print(f"{data.name} {test}: {done.seconds:.0f} s, {told}", flush=True)


if __name__ == "__main__":
    main()
