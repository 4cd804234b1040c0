"""A model that is replaced while its check goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from contrapose.flows.retraining.decision import RetrainedCheck, judge
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.mock import Mock
from contrapose.tasks.promotion.candidate import Candidate
from contrapose.tasks.promotion.settings import Promotion
from contrapose.tasks.store import Store

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

BASELINE, CANDIDATE = "the baseline's", "the candidate's"


def check() -> RetrainedCheck:
    Path("prompts.jsonl").write_text("".join(json.dumps({"text": f"Number {row} is odd."}) + "\n" for row in range(3)))
    values = {"model": "mock", "data": "prompts.jsonl", "tests": {"sensitivity": {"add_toxic_words": {}}}}
    return RetrainedCheck(
        key="k",
        candidate=Candidate(model="mock", revision="r2", args={}),
        baseline="",
        config=RunConfig.model_validate({**values, "output": "out"}),
        margin=0.05,
        promotion=Promotion(),
        checks=Store().checks(flow_run=""),
    )


def weights(monkeypatch: pytest.MonkeyPatch, looks: Mapping[bool, list[str]]) -> None:
    """Let each look at the candidate (True) or the baseline find the next weights of a list."""
    real = Mock.identity

    def identity(self: Mock, spec: ModelSpec) -> Mapping[str, str]:
        return {**real(self, spec), "weights": looks["revision" in spec.args].pop(0)}

    monkeypatch.setattr(Mock, "identity", identity)


@pytest.mark.slow
def test_a_candidate_replaced_by_the_baseline_while_that_ran_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    weights(monkeypatch, {False: [BASELINE, BASELINE], True: [CANDIDATE, BASELINE]})
    with pytest.raises(ModelError, match="replaced meanwhile: its weights was"):
        judge(check())
    assert not list(Path("out").glob("*-retrained"))


def test_a_replaced_baseline_is_told_before_the_candidate_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    weights(monkeypatch, {False: [BASELINE, "others"], True: [CANDIDATE]})
    with pytest.raises(ModelError, match="replaced meanwhile: its weights was"):
        judge(check())
    assert len(list(Path("out").glob("*-mock"))) == 1
