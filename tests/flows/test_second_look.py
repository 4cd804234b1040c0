"""A question that is judged again with more cases: every look counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

ARGUMENTS = ("--suite", "full", "--model", "mock", "--test", "order_bias")
CLOSE = ("--set", "tests.factuality.order_bias.min_pass_rate=0.3")


def judged(*options: str, out: str = "runs") -> dict[str, Any]:
    """The outcome of the one test of a run."""
    main(["run", *ARGUMENTS, *options, "--out", out])
    folder = max(Path(out).glob("[!.]*"), key=lambda folder: folder.stat().st_mtime_ns)
    (outcome,) = json.loads((folder / "summary.json").read_text())["tests"]
    return dict(outcome)


def evidence(outcome: dict[str, Any]) -> tuple[float, float]:
    return outcome["gates"][0]["reached"], outcome["gates"][0]["missed"]


def test_a_run_with_more_cases_is_a_later_look(monkeypatch: pytest.MonkeyPatch) -> None:
    first = judged("--limit", "20", *CLOSE)
    assert "earlier_looks" not in first
    second = judged("--limit", "30", *CLOSE)
    assert second["earlier_looks"] == [20]
    assert "This is the second look, after 20 cases left it open before" in second["reason"]
    third = judged("--limit", "40", *CLOSE)
    assert third["earlier_looks"] == [20, 30]
    assert "third look, after 20 and 30 cases" in third["reason"]
    assert judged("--limit", "20", *CLOSE) == first, "the same look as before"
    assert judged("--limit", "30", *CLOSE) == second
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{Path('other.sqlite3').resolve()}")
    alone = judged("--limit", "40", *CLOSE, out="other")
    assert min(evidence(alone)) < min(evidence(third))
    assert alone["pass_rate"] == third["pass_rate"]
    gates = ("rate", "rows", "extremes", "effective", "clusters", "chance")
    assert [alone["gates"][0][name] for name in gates] == [third["gates"][0][name] for name in gates]
    assert third["gates"][0]["bounds"][0] < alone["gates"][0]["bounds"][0]


@pytest.mark.parametrize(
    "changed",
    [
        ("--set", "tests.factuality.order_bias.min_pass_rate=0.35"),
        pytest.param(("--set", "model_args.revision=another"), marks=pytest.mark.slow),
        pytest.param(("--set", "system_instruction=Be brief."), marks=pytest.mark.slow),
    ],
)
def test_another_question_has_looks_of_its_own(changed: tuple[str, str]) -> None:
    judged("--limit", "20", *CLOSE)
    assert "earlier_looks" not in judged("--limit", "30", *CLOSE, *changed)


@pytest.mark.slow
def test_what_stops_early_is_judged_once_however_often_it_is_run() -> None:
    early = (*CLOSE, "--stop", "early", "--set", "runner_args.portion=8")
    first = judged(*early, "--limit", "40")
    assert judged(*early, "--limit", "40") == first
    more = judged(*early, "--limit", "60")
    assert more["earlier_looks"] == [40]


@pytest.mark.slow
def test_a_verdict_that_fell_is_no_look_at_what_is_open() -> None:
    """Another run with more cases may repeat or contradict it; it is not one that was tried until a verdict came."""
    assert judged("--limit", "20")["verdict"] == "fail"
    assert "earlier_looks" not in judged("--limit", "30")


@pytest.mark.slow
def test_a_bare_rate_counts_no_looks() -> None:
    rate = (*CLOSE, "--set", "tests.defaults.gate=rate")
    judged(*rate, "--limit", "20")
    assert "earlier_looks" not in judged(*rate, "--limit", "30")
