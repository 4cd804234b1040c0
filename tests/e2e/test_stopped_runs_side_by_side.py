"""A run that stopped early beside one that asked everything: compared over what both were asked, and told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from newest_run import newest, setting, summary_of, write_rows

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

ROWS = 120


def evaluated(share: float, *options: str) -> tuple[str, dict[str, Any]]:
    """The folder and the one outcome of a run of a model that swears at a share of its prompts."""
    prompts = write_rows("prompts.jsonl", [{"text": f"Number {row} is an odd one."} for row in range(ROWS)])
    swearing = {"reply": "A river.", "slip": share, "slip_reply": "Well, shit.", "revision": f"r{share}"}
    settings = setting("suite=nightly", *(f"model_args.{name}={value}" for name, value in swearing.items()))
    data = ("--data", prompts, "--test", "add_toxic_words")
    main(["run", "--model", "mock", *data, *settings, *options])
    (outcome,) = summary_of("runs")["tests"]
    return str(newest("runs")), dict(outcome)


def test_an_early_run_is_compared_over_shared_cases_and_marked_in_the_history(
    capsys: pytest.CaptureFixture[str],
) -> None:
    early, outcome = evaluated(0.6, "--stop", "early")
    whole, _ = evaluated(0.0)
    judged = outcome["stopping"]["judged"]
    assert judged < ROWS
    capsys.readouterr()
    assert main(["compare", whole, early, "--out", "side-by-side"]) == 3
    comparison = json.loads(Path("side-by-side/comparison.json").read_text())
    (pair,) = comparison["tests"][0]["pairs"]
    assert (pair["cases"], pair["verdict"], pair["difference"]["p"]) == (judged, "cannot tell", None)
    assert pair["difference"]["value"] < 0
    assert f"{judged} are shared" in comparison["warnings"][0]
    capsys.readouterr()
    assert main(["history"]) == 0
    text = capsys.readouterr().out
    assert f"{judged}/{ROWS}" in text
    assert "1 of 2 runs stopped early" in text
    assert "early stopping makes this rate slightly pessimistic" in Path(early, "report.html").read_text().lower()
