"""A judge through the whole corridor: ties and refusals are its answers, and some samples are asked once more."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from threading import Lock

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving

from contrapose.flows.cli import main

PROMPT = "[Question]\n{{ instruction }}\n[1]\n{{ first }}\n[2]\n{{ second }}\n{{ question }} Reply as JSON."
SUITE = f"""
suite: judged
model: openai/judge
tests:
  judging:
    judge_order:
      prompt: {json.dumps(PROMPT)}
      labels: ["1", "2"]
      tie: "0"
      answer_field: verdict
      ask_again: 10
      writer: me
data: pairs.csv
"""
PAIRS = 30

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


class Judge:
    """Calls every fifth pair a tie, refuses every sixth, and takes back what it said when it is asked again."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.lock = Lock()

    def __call__(self, prompt: str) -> str:
        with self.lock:
            self.asked[prompt] += 1
            again = self.asked[prompt] > 1
        number = int(prompt.split("Say ")[1].split(".")[0])
        if number % 6 == 5:
            return "I'm sorry, but I can't help with that."
        right = "2" if "[1]\nNot" in prompt else "1"
        verdict = "0" if number % 5 == 4 else {"1": "2", "2": "1"}[right] if again else right
        return f'Let me see.\n```json\n{{"why": "it says so", "verdict": {verdict}}}\n```'


def test_a_judge_is_held_against_people() -> None:
    Path("judged.yaml").write_text(SUITE)
    rows = [
        {
            "prompt": f"Say {n}.",
            "chosen": f"{n}, as you wish.",
            "rejected": f"Not {n}.",
            "better_by": "me" if n % 2 else "you",
        }
        | {"worse_by": "you" if n % 2 else "me"}
        for n in range(PAIRS)
    ]
    pd.DataFrame(rows).to_csv("pairs.csv", index=False)
    judge = Judge()
    with serving(Endpoint(says=judge)) as endpoint:
        address = ["--set", f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"]
        assert main(["run", "--suite", "judged.yaml", *address, "--out", "out", "--exit-zero"]) == 0
    assert len(judge.asked) == 3 * PAIRS
    assert Counter(judge.asked.values()) == {1: 3 * PAIRS - 10, 2: 10}
    folder = next(Path("out").glob("[!.]*"))
    results = pd.read_parquet(folder / "results.parquet")
    cases = results[~results["control"]]
    assert Counter(cases["outcome"]) == {"AB": 20, "tied": 5, "refused": 5}
    assert not cases["undecided"].any()
    assert cases["again_choice"].notna().sum() == 10
    [outcome] = json.loads((folder / "summary.json").read_text())["tests"]
    known = cases["again_same"].dropna()
    assert outcome["figures"]["changed_when_asked_again"] == pytest.approx((~known.astype(bool)).mean())
    assert outcome["figures"]["accuracy_where_own"] > 0.5
    page = (folder / "report.html").read_text()
    assert "What may sway the judge" in page
    assert "another choice when asked again" in page
