"""A run of a deployment judges the deployed model, whatever part of a configuration it is given."""

from __future__ import annotations

from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.client.schemas.objects import FlowRun
from prefect.flow_engine import run_flow
from prefect.states import Scheduled, State

from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration.deployed_config import FLOW_RUN, laid_over
from contrapose.flows.orchestration.form import read_form
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError

OURS = {"base_url": "http://ours/v1"}
DEPLOYED = {"suite": "quickstart", "model": "openai/x", "model_args": OURS, "advanced": {"seed": 3}}
WHOLE = RunConfig(suite="own", model="openai/x", model_args=OURS, limit=9, seed=3).model_dump(mode="json")


@pytest.mark.parametrize("deployed", [DEPLOYED, WHOLE])
@pytest.mark.parametrize(
    "values",
    [
        None,
        {},
        {"limit": 10},
        {"model": None, "limit": 10},
        {"model": "", "model_args": {}},
        {"model_args": {"base_url": None}},
        {"model_args": "temperature=0"},
        {"suite": "full"},
        {"advanced": {"data": {}, "gen_kwargs": {}}},
        {"advanced": {"model": None, "seed": 5}},
        {"advanced": None},
        {"advanced": {"model_args": {}, "only": []}},
        {"advanced": {"model_args": "temperature=0"}},
    ],
)
def test_what_is_not_said_is_as_deployed(deployed: dict[str, Any], values: Any) -> None:
    config = read_form(laid_over(deployed, values))
    assert (config.model, config.model_args["base_url"]) == ("openai/x", "http://ours/v1")


def test_what_is_said_counts_wherever_it_stands() -> None:
    for deployed in (DEPLOYED, WHOLE):
        for values in ({"seed": 7}, {"advanced": {"seed": 7}}):
            assert read_form(laid_over(deployed, values)).seed == 7
        assert read_form(laid_over(deployed, {"limit": 5})).limit_from == "given"


def test_tests_that_were_deployed_stay_until_others_are_chosen() -> None:
    deployed = {**DEPLOYED, "advanced": {"only": ["order_bias"]}}
    for values, chosen in (
        ({}, "factuality"),
        ({"only": []}, "factuality"),
        ({"only": ["add_negation"]}, "sensitivity"),
    ):
        config = read_form(laid_over(deployed, {"advanced": values}))
        assert set(config.tests.model_dump(exclude_unset=True)) - {"defaults"} == {chosen}


def test_another_suite_decides_what_suites_decide() -> None:
    config = read_form(laid_over(WHOLE, {"suite": "quickstart"}))
    assert config == read_form({"suite": "quickstart", "model": "openai/x", "model_args": OURS})


def test_another_model_keeps_arguments_of_its_provider_alone() -> None:
    assert read_form(laid_over(DEPLOYED, {"model": "openai/y"})).model_args == OURS
    assert read_form(laid_over(DEPLOYED, {"model": "mock"})).model_args == {}


def test_a_limit_that_was_deployed_stays() -> None:
    assert read_form(laid_over(WHOLE, {"seed": 4})).limit == 9
    assert read_form(laid_over(DEPLOYED, {"seed": 4})).limit == 40


def test_another_source_keeps_no_columns() -> None:
    deployed = {**DEPLOYED, "data": {"source": "a.csv", "columns": {"text": "q"}}}
    assert laid_over(deployed, {"data": "b.csv"})["data"] == {"source": "b.csv"}
    assert laid_over(deployed, {"data": "a.csv"}) == deployed


def test_a_whole_configuration_stays_as_it_is() -> None:
    whole = RunConfig(model="mock").model_dump(mode="json")
    assert laid_over(DEPLOYED, whole) is whole


@pytest.mark.parametrize("values", [5, "openai/x", ["limit"], True])
def test_what_is_no_configuration_is_refused(values: Any) -> None:
    with pytest.raises(ConfigError, match=r"config: .*expected a configuration.* Write it like this"):
        laid_over(DEPLOYED, values)


QUICK = {"suite": "quickstart", "model": "mock", "limit": 2, "only": ["order_bias"]}


class Deployment:
    """A deployment on a server, and its runs, each started as a worker starts it, in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        with get_client(sync_client=True) as client:
            self.id = client.create_deployment(
                client.create_flow(evaluate_model), name="d", parameters={"config": QUICK}
            )

    def deploy(self, **config: Any) -> None:
        with get_client(sync_client=True) as client:
            client.update_deployment(self.id, DeploymentUpdate(parameters={"config": config}))

    def run(self, **parameters: Any) -> FlowRun:
        with get_client(sync_client=True) as client:
            return self.started(client.create_flow_run_from_deployment(self.id, parameters=parameters))

    def started(self, run: FlowRun) -> FlowRun:
        self.monkeypatch.setenv(FLOW_RUN, str(run.id))
        with get_client(sync_client=True) as client:
            run = client.read_flow_run(run.id)
            run_flow(evaluate_model, flow_run=run, parameters=run.parameters, return_type="state")
            return client.read_flow_run(run.id)


def state(run: FlowRun) -> State[Any]:
    assert run.state is not None
    return run.state


@pytest.fixture
def deployment(prefect_server: None, own_store: str, in_tmp: Any, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    return Deployment(monkeypatch)


def test_a_run_given_a_part_is_named_and_kept_whole(deployment: Deployment) -> None:
    run = deployment.run(config={"limit": 1})
    assert state(run).is_completed(), run.state
    assert run.name == "quickstart on mock"
    assert run.parameters["config"] == {**QUICK, "limit": 1}


def test_a_run_that_is_started_again_sees_what_it_saw(deployment: Deployment) -> None:
    run = deployment.run(config={"limit": 1})
    deployment.deploy(suite="quickstart", model="nobody/knows", limit=3, skip_bad_rows=True)
    with get_client(sync_client=True) as client:
        client.set_flow_run_state(run.id, Scheduled(), force=True)
    again = deployment.started(run)
    assert again.run_count == 2
    assert state(again).is_completed(), again.state
    assert again.parameters == run.parameters


@pytest.mark.parametrize(
    ("config", "words"),
    [({"limt": 3}, "Did you mean 'limit'?"), ({"limit": "few"}, "form: limit"), (7, "config: 7; expected")],
)
def test_a_run_given_what_is_wrong_judges_nothing(deployment: Deployment, config: Any, words: str) -> None:
    run = deployment.run(config=config)
    assert state(run).is_failed()
    assert words in str(state(run).message)
