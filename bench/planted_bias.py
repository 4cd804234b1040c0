"""Whether a judge's position bias is found as often as `contrapose estimate` promises.

`python -m bench.planted_bias MOCK [--runs 500]`. MOCK is the script of an OpenAI-compatible server that takes --port
and `--reply echo`, with which it replies with the end of the prompt: so the prompt of the judge's own, a template with
labels of its own, says what the judge will say. It follows the facts in four fifths of the pairs, and the position in
the others: the first one 10 points more often than the second one.

All simulated runs are asked in one run of judge_order over HTTP. Each is as many pairs as the estimate names, and finds
the bias where the exact test of its figures is under 5 % and points to the first position. The second line plants none,
and tells how often one is found all the same. The exit status is 1 where the power is under 80 % by more than its own
error.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from math import sqrt
from pathlib import Path

import pandas as pd
import yaml

from bench.api import serving
from bench.process import run
from contrapose.tasks.forecast.deciding import BIAS
from contrapose.tasks.probes.judge_order import JudgeOrder
from contrapose.tasks.statistics.power import DISCORDANCE, POWER, find_pairs

PROMPT = """\
{{ instruction }}
[Assistant 1]
{{ first }}
[Assistant 2]
{{ second }}
Say which one is better: 1 or 2.
{% if reference == "first" or reference == "facts" and first|first == "Y" %}
Verdict: [[1]]
{% else %}
Verdict: [[2]]
{% endif %}
"""
SETTINGS = {"prompt": PROMPT, "labels": ["1", "2"], "pattern": r"Verdict: \[\[(\d)\]\]", "ask_again": 0}
LEVEL = 0.05


def write(folder: Path, count: int, bias: float) -> None:
    """Pairs with what the judge will follow in each, and a suite that asks it."""
    rng = random.Random(round(100 * bias))
    with (folder / "pairs.jsonl").open("w") as file:
        for number in range(count):
            draw = rng.random()
            follows = "first" if draw < (DISCORDANCE + bias) / 2 else "second" if draw < DISCORDANCE else "facts"
            row = {"id": f"{number:07}", "instruction": f"Say yes to {number}.", "better": "Yes.", "worse": "No."}
            file.write(json.dumps({**row, "reference": follows}) + "\n")
    suite = {"suite": "planted", "tests": {"defaults": {"control": False}, "judging": {"judge_order": SETTINGS}}}
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))


def runs_of(mock: str, runs: int, pairs: int, bias: float) -> Iterator[pd.DataFrame]:
    """The result rows of each simulated run."""
    with tempfile.TemporaryDirectory() as folder, serving(mock, "--reply", "echo") as url:
        work = Path(folder)
        write(work, runs * pairs, bias)
        done = run(
            *("--suite", str(work / "suite.yaml"), "--model", "openai/judge", "--data", str(work / "pairs.jsonl")),
            *("--set", f"model_args.base_url={url}", "--out", str(work / "runs")),
            environment={"CONTRAPOSE_HOME": str(work / "home")},
        )
        if done.code:
            raise SystemExit(done.err)
        results = work / "runs" / json.loads(done.out)["run_id"] / "results.parquet"
        rows = pd.read_parquet(results).sort_values("sample_id")
        yield from (rows.iloc[start : start + pairs] for start in range(0, len(rows), pairs))


def finds(rows: pd.DataFrame) -> bool:
    """Whether a run finds that the first position is favoured."""
    figures = JudgeOrder().summarise(rows)
    p = figures.get("position_bias_p")
    return p is not None and p < LEVEL and (figures["AA"] or 0) > (figures["BB"] or 0)


def main() -> int:
    """Print the shares of runs that find the bias."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mock")
    parser.add_argument("--runs", type=int, default=500)
    chosen = parser.parse_args()
    pairs = find_pairs(BIAS)
    if pairs is None:
        return 1
    shares = {}
    for bias in (BIAS, 0.0):
        shares[bias] = sum(map(finds, runs_of(chosen.mock, chosen.runs, pairs, bias))) / chosen.runs
        print(f"{pairs} pairs, {bias:.0%} planted: found in {shares[bias]:.1%} of {chosen.runs} runs", flush=True)
    return int(shares[BIAS] < POWER - 2 * sqrt(POWER * (1 - POWER) / chosen.runs))


if __name__ == "__main__":
    sys.exit(main())
