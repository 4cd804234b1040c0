"""Endpoints that answer the question again, or differently each time: readings that decide nothing, and noise."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import Any

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving
from newest_run import asking, newest, results_of, summary_of, write_rows

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
        assert sum(endpoint.asked.values()) == 2 * PAIRS + PAIRS
    told = " ".join(capsys.readouterr().out.split())
    rows = pd.read_parquet(folder / "results.parquet")
    assert (code, set(rows["outcome"]), set(rows["result_step"])) == (3, {"unparsed"}, {"unparsed"})
    assert f"order_bias: {2 * PAIRS} replies that could not be read stay so. {CAUSE}" in summary["warnings"]
    (test,) = summary["tests"]
    assert (test["verdict"], test["reason"].endswith(CAUSE)) == ("inconclusive", True)
    assert test["estimates"]["made_up_agreement"]["value"] == test["figures"]["made_up_agreement"] == 0
    assert CAUSE in told
    assert CAUSE in (folder / "report.md").read_text()


SAMPLES = 40


class Restless:
    """Chooses what is right, and at every third request the other one."""

    def __init__(self, every: int) -> None:
        self.count, self.every, self.lock = 0, every, Lock()

    def __call__(self, prompt: str) -> str:
        with self.lock:
            self.count += 1
            other = self.every and self.count % self.every == 0
        return "B" if other else "A"


def run_restless(says: Restless, *settings: str) -> tuple[int, Endpoint]:
    with serving(Endpoint(says=says)) as endpoint:
        words = asking(endpoint.port, "model_args.concurrency=1", *settings)
        tests = ["--test", "order_bias", "--limit", str(SAMPLES), "--out", "out"]
        return main(["run", "--suite", "full", *tests, *words]), endpoint


def test_both_prompts_are_asked_again_and_what_they_say_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("noise=30", "tests.factuality.order_bias.control=false", "model_args.revision=v2")
    code, endpoint = run_restless(Restless(5), *settings)
    assert code in (0, 1, 3)
    assert sorted(endpoint.asked.values()) == [1] * (2 * SAMPLES - 60) + [2] * 60
    # The revision that is set is shown, and not the address of the endpoint.
    assert summary_of()["model"]["revision"] == "v2"
    results, (outcome,) = results_of(), summary_of()["tests"]
    assert results["across_pairs"].notna().sum() == 30
    again = outcome["estimates"]["changed_when_asked_again"]
    assert again["rows"] == 60
    assert again["value"] == pytest.approx((results["before_changed"].sum() + results["after_changed"].sum()) / 60)
    shown = " ".join(capsys.readouterr().out.split())
    assert "Asked the same prompt again, the model changes" in shown
    page = newest(file="report.html").read_text()
    assert "sked the same prompt again, the model changes" in page
