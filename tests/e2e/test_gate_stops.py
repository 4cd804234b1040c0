"""A violation at a gate stops the run: nothing is published, the evidence is kept, and the exit code says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

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
