"""A model that answers the question when it is asked what its reply chooses: its readings decide nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving
from newest_run import asking, newest, write_rows

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "in_tmp", "own_store")

PAIRS = 12
RIDDLE = "Whoever reads the article with some care will know which of them I would hang on my wall: number {}."
CAUSE = (
    f"Of {PAIRS} made-up replies, which choose a wrong option or none, the model read 0 correctly: it may answer "
    "the question instead of reading the reply."
)


def says(prompt: str) -> str:
    """A riddle about the right summary; asked what a reply chooses, the right summary again."""
    if "Which one does this reply choose?" in prompt:
        return "A" if "\nA. It rained" in prompt else "B"
    right = prompt.index("It rained") < prompt.index("It snowed", prompt.index("Summary A"))
    return RIDDLE.format("one" if right else "two")


def run(endpoint: Endpoint) -> tuple[int, Path, dict[str, Any]]:
    """Exit code, folder and summary."""
    rows = [
        {
            "article_sentence": f"In week {number} rain fell.",
            "correct_sentence": f"It rained in week {number}.",
            "incorrect_sentence": f"It snowed in week {number}.",
        }
        for number in range(PAIRS)
    ]
    words = ["--test", "order_bias", "--data", write_rows("pairs.jsonl", rows), "--out", "out"]
    code = main(["run", *asking(endpoint.port, "model_args.retries=0"), *words])
    return code, newest(), json.loads((newest() / "summary.json").read_text())


def test_a_model_that_answers_the_question_is_found_out_and_its_readings_are_not_used(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serving(Endpoint(says=says)) as endpoint:
        code, folder, summary = run(endpoint)
        told = " ".join(capsys.readouterr().out.split())
        asked = sum(endpoint.asked.values())
        _, _, again = run(endpoint)
        assert sum(endpoint.asked.values()) == asked == 2 * PAIRS + PAIRS
    rows = pd.read_parquet(folder / "results.parquet")
    assert (code, set(rows["outcome"]), set(rows["result_step"])) == (3, {"unparsed"}, {"unparsed"})
    assert f"order_bias: {2 * PAIRS} replies that could not be read stay so. {CAUSE}" in summary["warnings"]
    (test,) = summary["tests"]
    assert (test["verdict"], test["reason"].endswith(CAUSE)) == ("inconclusive", True)
    assert test["estimates"]["made_up_agreement"]["value"] == test["figures"]["made_up_agreement"] == 0
    assert CAUSE in told
    assert CAUSE in (folder / "report.md").read_text()
    assert again["tests"] == summary["tests"]
