"""A violation found after the model stops the run: nothing is published, and the exit code says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from contrapose.flows.cli import main
from contrapose.tasks.probes.order_bias import OrderBias
from contrapose.tasks.records import Score, Trial


@pytest.mark.usefixtures("prefect_server", "in_tmp")
def test_nothing_is_published_when_the_results_break_their_schema(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(self: OrderBias, trials: Sequence[Trial], settings: Any, *, embed: Any) -> list[Score]:
        return [Score(value=7.0, passed=True, reason="a faulty scorer") for _ in trials]

    monkeypatch.setattr(OrderBias, "score", faulty)
    code = main(["run", "--model", "mock", "--test", "order_bias", "--limit", "5", "--set", "seed=99", "--out", "out"])
    err = capsys.readouterr().err
    assert code == 4
    assert "eval_score" in err
    assert "order_bias/summary-" in err
    assert "Traceback" not in err
    assert not Path("out").exists()
