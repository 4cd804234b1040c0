"""An endpoint that answers the same prompt differently: its noise is measured, reported, and no verdict."""

from __future__ import annotations

from threading import Lock

import pytest
from fake_endpoint import Endpoint, serving
from newest_run import asking, newest, results_of, summary_of

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

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


def run(says: Restless, *settings: str) -> tuple[int, Endpoint]:
    with serving(Endpoint(says=says)) as endpoint:
        words = asking(endpoint.port, "model_args.concurrency=1", *settings)
        tests = ["--test", "order_bias", "--limit", str(SAMPLES), "--out", "out"]
        return main(["run", "--suite", "full", *tests, *words]), endpoint


def test_both_prompts_are_asked_again_and_what_they_say_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    code, endpoint = run(Restless(5), "noise=30", "tests.factuality.order_bias.control=false")
    assert code in (0, 1, 3)
    assert sorted(endpoint.asked.values()) == [1] * (2 * SAMPLES - 60) + [2] * 60
    results, (outcome,) = results_of(), summary_of()["tests"]
    assert results["across_pairs"].notna().sum() == 30
    again = outcome["estimates"]["changed_when_asked_again"]
    assert again["rows"] == 60
    assert again["value"] == pytest.approx((results["before_changed"].sum() + results["after_changed"].sum()) / 60)
    shown = " ".join(capsys.readouterr().out.split())
    assert "Asked the same prompt again, the model changes" in shown
    page = newest(file="report.html").read_text()
    assert "sked the same prompt again, the model changes" in page
