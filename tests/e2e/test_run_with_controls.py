"""The suite `full` with its controls, whole, on the mock model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "in_tmp", "own_store")


def run(out: str, *arguments: str) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    """The summary, cases and results of a run on the mock model."""
    main(["run", "--suite", "full", "--model", "mock", "--limit", "12", "--exit-zero", "--out", out, *arguments])
    folder = next(Path(out).glob("[!.]*"))
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return summary, pd.read_parquet(folder / "cases.parquet"), pd.read_parquet(folder / "results.parquet")


JUDGED = ("control", "effects", "gates", "verdict", "reason", "reached", "missed")
"""What controls are for: besides the noise, the contrast rate, which decides with the pass rate."""


@pytest.mark.slow
def test_controls_are_asked_and_change_no_rate(capsys: pytest.CaptureFixture[str]) -> None:
    summary, cases, results = run("with")
    printed = " ".join(capsys.readouterr().out.split())
    plain, plain_cases, plain_results = run("without", "--set", "tests.defaults.control=false")

    for outcome, alone in zip(summary["tests"], plain["tests"], strict=True):
        assert alone["control"] is None
        assert {**outcome, **{name: alone[name] for name in JUDGED}} == alone
        assert outcome["gates"][0] == alone["gates"][0]
        own = results[results["test_type"] == outcome["test_type"]]
        tested, twins = own[~own["control"]], own[own["control"]]
        assert len(tested) == outcome["cases"] - outcome["skipped"]
        assert outcome["passed"] == (tested["pass"] == True).sum()  # noqa: E712
        noise = outcome["control"]
        assert noise["cases"] == len(twins) == tested["sample_id"].nunique()
        assert noise["cases"] == noise["scored"] + noise["unscored"] + noise["errors"]
        assert noise["changed"] == (twins["pass"] == False).sum()  # noqa: E712
        assert noise["noise"] == noise["changed"] / noise["scored"]
        assert f"Noise: {noise['changed']} of {noise['scored']} answers" in printed

    columns = list(plain_results.columns)
    pd.testing.assert_frame_equal(results.loc[~results["control"], columns].reset_index(drop=True), plain_results)
    assert not plain_results["control"].any()
    assert list(cases.loc[~cases["control"], "id"]) == list(plain_cases["id"])
    assert summary["usage"]["calls"] > plain["usage"]["from_store"] > plain["usage"]["calls"] == 0
