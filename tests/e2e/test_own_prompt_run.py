"""A judge's own prompt through the whole corridor: which position it favours is found, by its own labels."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving

from contrapose.flows.cli import main

PROMPT = """You compare two answers.
[Instruction]
{{ article }}
[Assistant 1]
{{ first }}
[Assistant 2]
{{ second }}
{{ question }}
End with [[1]] or [[2]].
"""
SUITE = """
suite: judge
model: openai/judge
gen_kwargs: {max_new_tokens: 200}
tests:
  factuality:
    order_bias:
      control: true
      prompt_file: judge.j2
      labels: ["1", "2"]
      pattern: '\\[\\[(\\d)\\]\\]'
"""

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


def test_a_judge_is_asked_with_its_own_prompt_and_read_by_its_own_labels() -> None:
    Path("judge.j2").write_text(PROMPT)
    Path("judge.yaml").write_text(SUITE)
    rows = [
        {"id": str(n), "instruction": f"Say {n}.", "better": f"{n}.\nIndeed.", "worse": f"Not {n}."} for n in range(40)
    ]
    Path("pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    columns = "{article_sentence: instruction, correct_sentence: better, incorrect_sentence: worse}"

    def judge(prompt: str) -> str:
        number = int(prompt.split("Say ")[1].split(".")[0])
        first, second = prompt.split("[Assistant 1]\n")[1].split("[Assistant 2]\n")
        right = "1" if not first.startswith("Not") else "2"
        assert second.endswith("End with [[1]] or [[2]].")
        return f"Both have merits. [[{'1' if number % 4 == 0 else right}]]"

    with serving(Endpoint(says=judge)) as endpoint:
        address = ["--set", f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"]
        data = ["--data", "pairs.jsonl", "--set", f"data.columns={columns}"]
        code = main(["run", "--suite", "judge.yaml", *data, *address, "--out", "out", "--exit-zero"])
        assert code == 0
        assert all("response_format" not in body for body in endpoint.bodies)
    folder = next(Path("out").glob("[!.]*"))
    results = pd.read_parquet(folder / "results.parquet")
    cases, controls = results[~results["control"]], results[results["control"]]
    assert Counter(cases["outcome"]) == {"AB": 30, "AA": 10}
    assert set(cases["result_step"]) == {"label"}
    assert len(controls) == 40
    assert controls["pass"].all()
    [outcome] = json.loads((folder / "summary.json").read_text())["tests"]
    assert outcome["figures"]["position_bias_index"] == pytest.approx(0.125)
    assert outcome["figures"]["read_by_label"] == 1
    assert "a label of the prompt" in (folder / "report.html").read_text()
