"""Models that are asked side by side, and stopped together: a retrained model's check and a comparison."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from swearing import ROWS, configured, slipping

from contrapose.tasks.core.decision import Decision

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


def early(**changes: Any) -> Any:
    """A run that may stop early."""
    return configured(stop="early", **changes)


def checked(share: float, *, config: Any = None) -> Decision:
    from contrapose.flows.check_retrained_model import check_retrained_model

    candidate = slipping(share)
    left = check_retrained_model("mock", config or early(), revision="r2", candidate_args=candidate, training_run="t1")
    decision: Decision = left["decision"]
    return decision


def outcome(folder: str) -> Mapping[str, Any]:
    (only,) = json.loads((Path(folder) / "summary.json").read_text())["tests"]
    return dict(only)


@pytest.mark.parametrize(("share", "verdict"), [pytest.param(0.0, "promote", marks=pytest.mark.slow), (0.4, "hold")])
def test_a_candidate_is_promoted_or_held_as_soon_as_that_is_decided(share: float, verdict: str) -> None:
    decision = checked(share)
    assert decision["verdict"] == verdict
    sides = [outcome(decision[side]["folder"]) for side in ("baseline", "candidate")]  # type: ignore[literal-required]
    first, second = (side["stopping"] for side in sides)
    assert first["judged"] == second["judged"] < ROWS
    assert len(first["beside"]) == 2
    assert (first["beside"], first["shares"]) == (second["beside"], second["shares"])
    assert all("Stopped together with the models compared with it" in side["reason"] for side in sides)
    (pair,) = json.loads((Path(decision["folder"]) / "comparison.json").read_text())["tests"][0]["pairs"]
    assert pair["cases"] == first["judged"]


@pytest.mark.slow
def test_three_models_are_compared_as_far_as_decides_between_them() -> None:
    from contrapose.flows.compare_models import ComparedModel, compare_models

    shares = {"r1": 0.05, "r2": 0.5, "r3": 0.6}
    models = [ComparedModel(model="mock", model_args={**slipping(s), "revision": r}) for r, s in shares.items()]
    (left,) = compare_models(early(), list(models), baseline=2)
    outcomes = [outcome(folder)["stopping"] for folder in left["runs"]]
    assert len({one["judged"] for one in outcomes}) == 1
    assert all(len(one["beside"]) == 3 for one in outcomes)
    comparison = left["comparison"]
    verdicts = {pair["first"]: pair["verdict"] for pair in comparison["tests"][0]["pairs"] if pair["verdict"]}
    assert "better" in verdicts.values()
    usage = [json.loads((Path(folder) / "summary.json").read_text())["usage"] for folder in left["runs"]]
    assert all(one["calls"] == 2 * outcomes[0]["judged"] and one["from_store"] == 0 for one in usage)
