"""A run of a deployment on a worker: it judges what is deployed, and its state says what came of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prefect_house import House, house

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def prefect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("house")) as built:
        built.contrapose("deploy", "--suite", "quickstart", "--model", "mock")
        yield built


@pytest.mark.parametrize("name", ["nightly", "on-demand"])
def test_a_part_judges_the_deployed_model_and_its_gate_fails_the_run_on_request(prefect: House, name: str) -> None:
    gate = {"tests": {"factuality": {"order_bias": {"min_pass_rate": 1.0}}}}
    run = prefect.run_of(name, config={"limit": 12, "only": ["order_bias"], "advanced": gate}, fail_flow="on_gate")
    ended = prefect.ended(run)
    kept = prefect.call("GET", f"/flow_runs/{run}")
    assert kept["name"] == "quickstart on mock"
    assert (kept["parameters"]["config"]["model"], kept["parameters"]["config"]["limit"]) == ("mock", 12)
    assert (ended["type"], ended["name"]) == ("FAILED", "Failed gate"), ended["message"]
    assert "verdict:fail" in kept["tags"]
    assert " < " in ended["message"]
