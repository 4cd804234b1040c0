"""A violation at a gate stops the run: nothing is published, the evidence is kept, and the exit code says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from contrapose.flows.cli import main
from contrapose.tasks.core.records import Completion, Score, Trial
from contrapose.tasks.infer.mock import MockModel
from contrapose.tasks.probes.order_bias import OrderBias

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

ASKED = ["run", "--model", "mock", "--test", "order_bias", "--limit", "5", "--out", "out"]


def refused(*options: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, Path]:
    """What a run said that was stopped at a gate, and the only folder that it left."""
    code = main([*ASKED, *options])
    err = capsys.readouterr().err
    assert code == 4
    assert "Traceback" not in err
    (folder,) = Path("out").iterdir()
    assert folder.name.endswith("-refused")
    assert folder.name in "".join(err.split())
    return " ".join(err.split()), folder


def test_nothing_is_published_when_the_results_break_their_schema(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(self: OrderBias, trials: Sequence[Trial], settings: Any, *, embed: Any) -> list[Score]:
        return [Score(value=7.0, passed=True, reason="a faulty scorer") for _ in trials]

    monkeypatch.setattr(OrderBias, "score", faulty)
    err, folder = refused("--set", "seed=99", capsys=capsys)
    assert "eval_score" in err
    assert "order_bias/summary-" in err
    names = ["order_bias-results.csv", "order_bias-results.parquet", "validation.html", "validation.json"]
    assert sorted(path.name for path in folder.iterdir()) == names
    kept = pq.read_table(folder / "order_bias-results.parquet").to_pylist()
    assert [(row["row"], row["eval_score"]) for row in kept] == [(number, 7.0) for number in range(1, 6)]


def test_nothing_is_scored_when_the_model_answers_with_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent(self: MockModel, *_: Any) -> Completion:
        return Completion()

    monkeypatch.setattr(MockModel, "completion", silent)
    err, folder = refused("--set", "seed=98", capsys=capsys)
    assert "order_bias completions: Every completion is an answer or an error (silent): broken by order_bias/" in err
    assert pq.read_table(folder / "order_bias-completions.parquet").num_rows == 10


@pytest.mark.slow
def test_a_users_suite_stops_a_run_that_was_published_before(capsys: pytest.CaptureFixture[str]) -> None:
    expectation = {"type": "expect_column_mean_to_be_between", "kwargs": {"column": "eval_score", "min_value": 0.99}}
    Path("mine.yaml").write_text(yaml.safe_dump({"table": "results", "expectations": [expectation]}))
    for severity in ("warning", "critical"):
        Path("mine.yaml").write_text(
            yaml.safe_dump({"table": "results", "expectations": [{**expectation, "severity": severity}]})
        )
        if severity == "warning":
            assert main([*ASKED, "--expectations", "mine.yaml", "--exit-zero", "--out", "sound"]) == 0
    (folder,) = (each for each in Path("sound").iterdir() if (each / "summary.json").exists())
    told = json.loads((folder / "validation.json").read_text())
    assert told["sound"]
    assert {"samples.yaml", "cases.yaml", "completions.yaml", "results.yaml", "mine.yaml"} == {
        suite["file"] for suite in told["suites"]
    }
    assert "mine.yaml" in (folder / "validation.html").read_text()
    err, _ = refused("--expectations", "mine.yaml", capsys=capsys)
    assert "expected results that meet mine.yaml" in err


def test_a_wrong_suite_is_told_before_anything_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("results.yaml").write_text("expectations: [{type: expect_nothing, kwargs: {}}]")
    assert main([*ASKED, "--expectations", "results.yaml"]) == 2
    assert "results.yaml, expectation 1, type" in " ".join(capsys.readouterr().err.split())
    assert not Path("out").exists()
