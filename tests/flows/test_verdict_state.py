"""How a flow run ends on a server that keeps it: its state says what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State

from contrapose.flows.deploy.automations import specifications
from contrapose.flows.deploy.deployment_options import read_shipped
from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration import verdict_state
from contrapose.flows.orchestration.verdict_state import NAMED, NAMES, headline
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.outcome import Summary

CONFIG = {"suite": "quickstart", "model": "mock", "limit": 40, "only": ["order_bias"]}
FAILING = {**CONFIG, "tests": {"factuality": {"order_bias": {"min_pass_rate": 1.0, "control": False}}}}


@pytest.fixture
def kept(prefect_server: None, own_store: str, in_tmp: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that is not the run's own."""
    monkeypatch.setattr(verdict_state, "is_kept", lambda: True)
    monkeypatch.setenv(NAMED, "verdict")
    return None


def run(**parameters: Any) -> tuple[State[Any], FlowRun]:
    state = evaluate_model(**parameters, return_state=True)
    with get_client(sync_client=True) as client:
        return state, client.read_flow_run(state.state_details.flow_run_id)


@pytest.mark.usefixtures("kept")
def test_a_missed_gate_is_named_and_completed() -> None:
    state, kept = run(config=FAILING)
    assert (state.type.value, state.name) == ("COMPLETED", "Failed gate")
    assert str(state.message).startswith("order_bias ")
    assert str(state.message).endswith("< 100.0%")
    assert (kept.state_name, kept.tags, kept.labels[verdict_state.LABEL]) == (
        "Failed gate",
        ["verdict:fail", "suite:quickstart", "model:mock"],
        "fail",
    )
    assert state.result()["summary"]["verdict"] == "fail"
    assert evaluate_model(FAILING)["summary"]["verdict"] == "fail"


@pytest.mark.usefixtures("kept")
def test_a_missed_gate_fails_the_flow_run_on_request_and_is_not_tried_again() -> None:
    retried = evaluate_model.with_options(retries=1, retry_delay_seconds=600)
    state = retried(FAILING, fail_flow="on_gate", return_state=True)
    assert (state.type.value, state.name) == ("FAILED", "Failed gate")
    with pytest.raises(ContraposeError, match=r"order_bias .* < 100\.0%; expected a run that passes"):
        state.result()


@pytest.mark.usefixtures("kept")
def test_without_the_variable_the_state_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAMED)
    state, _ = run(config=FAILING)
    assert state.name == "Completed"
    assert "order_bias" in str(state.message)


def test_every_automation_that_waits_for_the_end_knows_the_names() -> None:
    waiting = [spec for spec in specifications() if "prefect.flow-run.Completed" in spec["trigger"]["expect"]]
    assert {spec["name"] for spec in waiting} == {"contrapose-crashed", "contrapose-lost", "contrapose-stuck"}
    for spec in waiting:
        assert {f"prefect.flow-run.{name}" for name in NAMES.values()} <= set(spec["trigger"]["expect"])
    for deployment in read_shipped()["deployments"]:
        assert deployment["work_pool"]["job_variables"]["env"][NAMED] == "verdict"


@pytest.mark.parametrize(
    ("verdict", "rate", "message"),
    [
        ("fail", 0.3, "order_bias 30.0% < 70.0%"),
        ("pass", 0.9, "order_bias 90.0% ≥ 70.0%"),
        ("inconclusive", 0.72, "order_bias 72.0% ≥ 70.0%, not sure"),
        ("incomplete", 0.9, "order_bias: 3 of 4 cases got no answer."),
    ],
)
def test_the_message_sets_rates_beside_gates(verdict: str, rate: float, message: str) -> None:
    gate = {"name": "pass_rate", "rate": rate, "wanted": 0.7}
    reason = "3 of 4 cases got no answer."
    test = {"test_type": "order_bias", "verdict": verdict, "gates": [gate], "reason": reason}
    assert headline(cast(Summary, {"verdict": verdict, "tests": [test], "reason": ""})) == message


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("fail_flow", ["on_error", "on_gate"])
def test_a_second_attempt_ends_by_its_own_verdict(fail_flow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corridor = evaluate_model.fn.__globals__
    errors, room = [ContraposeError("a wall", expected="none", remedy="Mend it.")], corridor["evaluate"]
    monkeypatch.setitem(corridor, "evaluate", lambda *args: _raise(errors.pop()) if errors else room(*args))
    retried = evaluate_model.with_options(retries=1)
    if fail_flow == "on_gate":
        with pytest.raises(ContraposeError, match="expected a run that passes"):
            retried(FAILING, fail_flow="on_gate")
    else:
        assert retried(FAILING)["summary"]["verdict"] == "fail"


def _raise(error: Exception) -> None:
    raise error
