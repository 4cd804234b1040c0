"""The form, and a run of a deployment that is given a part: what is not said is the suite's, or as deployed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.client.schemas.objects import FlowRun
from prefect.flow_engine import run_flow
from prefect.states import Scheduled, State
from prefect.utilities.callables import parameter_schema

from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration.deployed_config import FLOW_RUN, fill_from
from contrapose.flows.orchestration.form import read_form
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError

EMPTY = {
    "data": {},
    "advanced": {"data": {}, "gen_kwargs": {}, "tests": {"factuality": {"order_bias": {}, "option_order": {}}}},
}
"""What the Prefect UI sends for fields that nobody touched."""


def fields() -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = parameter_schema(evaluate_model).properties["config"]["properties"]
    return found


@pytest.mark.parametrize(
    "values", [EMPTY, {"advanced": None}, {"advanced": {"only": []}}, {"advanced": {"only": None}}]
)
def test_an_untouched_form_is_the_suite(values: dict[str, object]) -> None:
    assert read_form({"suite": "quickstart", **values}) == load_config("quickstart")[0]


def test_a_configuration_stays_as_it_is() -> None:
    config = RunConfig(model="mock", limit=None)
    assert read_form(config) is config
    assert read_form(config.model_dump()) == config


def test_a_changed_value_counts_and_the_rest_is_the_suites() -> None:
    advanced = {"seed": 7, "tests": {"factuality": {"order_bias": {"min_pass_rate": 0.9}}}}
    config = read_form({"suite": "quickstart", "model": "mock", "only": ["order_bias"], "advanced": advanced})
    assert (config.model, config.seed, config.limit) == ("mock", 7, 40)
    chosen = config.tests.model_dump(exclude_unset=True)
    assert chosen["factuality"]["order_bias"]["min_pass_rate"] == 0.9
    assert "sensitivity" not in chosen


def test_data_is_a_source_and_its_other_settings_are_advanced() -> None:
    config = read_form({"suite": "quickstart", "data": "own.csv", "advanced": {"data": {"columns": {"text": "q"}}}})
    assert config.data is not None
    assert (config.data.source, config.data.columns) == ("own.csv", {"text": "q"})


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"suite": "quickstart", "limit": 0}, "form: limit: 0; expected greater than or equal to 1"),
        ({"suite": "quickstart", "limt": 3}, "Did you mean 'limit'?"),
        ({"suite": "quickstart", "only": ["nope"]}, "unknown probe 'nope'"),
        ({"advanced": {"gen_kwargs": {"temperature": 9}}}, "form: gen_kwargs.temperature: 9; expected less than"),
    ],
)
def test_a_wrong_value_is_one_line(values: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match="expected") as refused:
        evaluate_model.validate_parameters({"config": values})
    assert told in str(refused.value)


def settings() -> dict[str, dict[str, object]]:
    """What lies under `advanced`."""
    _, opened_settings = fields()["advanced"]["anyOf"]  # type: ignore[misc]
    return opened_settings["properties"]  # type: ignore[index]


def test_the_form_is_short_and_opens_the_rest_on_request() -> None:
    shown = fields()
    assert list(shown) == ["model", "suite", "limit", "data", "advanced"]
    assert all(field["title"] and field["description"] for field in shown.values())
    # Of alternatives the UI draws the chosen one, which is the first: nothing.
    assert shown["advanced"]["anyOf"][0] == {"title": "None", "type": "null"}  # type: ignore[index]
    assert list(settings())[:5] == ["only", "model_args", "max_calls", "max_tokens", "max_cost"]
    assert {*shown, *settings()} - {"only", "advanced"} == set(RunConfig.model_fields)


def test_the_form_offers_choices_and_no_defaults() -> None:
    shown = fields()
    assert "quickstart" in shown["suite"]["enum"]  # type: ignore[operator]
    assert {"order_bias", "relation"} <= {*settings()["only"]["items"]["enum"]}  # type: ignore[index]
    assert "default" not in str(sorted(_keys(shown)))
    assert "$ref" not in _keys(shown)


def _keys(schema: object, *, names: bool = False) -> set[str]:
    """Keywords of a schema, without the names of its fields."""
    if isinstance(schema, list):
        return set().union(*(_keys(each) for each in schema))
    if not isinstance(schema, dict):
        return set()
    own = set() if names else set(schema)
    return own.union(*(_keys(value, names=key == "properties") for key, value in schema.items()))


def kinds(schema: object) -> Iterator[Mapping[str, object]]:
    """Every schema within a schema."""
    if isinstance(schema, Mapping):
        yield schema
    for each in schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ():
        yield from kinds(each)


def test_nothing_is_a_switch_since_one_that_nobody_touched_is_sent_as_off() -> None:
    assert not [each for each in kinds(fields()) if each.get("type") == "boolean"]
    config = read_form(
        {"suite": "quickstart", "advanced": {"refresh": "yes", "tests": {"defaults": {"control": "no"}}}}
    )
    assert config.refresh is True
    assert config.tests.defaults.control is False
    assert read_form({"suite": "quickstart", "refresh": True}).refresh is True


def test_no_description_holds_what_the_form_would_read_as_markup() -> None:
    texts = [str(each["description"]) for each in kinds(fields()) if isinstance(each.get("description"), str)]
    assert len(texts) > 50
    assert not [text for text in texts if re.search("<", re.sub("`[^`]*`", "", text))]


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
    config = read_form(fill_from(deployed, values))
    assert (config.model, config.model_args["base_url"]) == ("openai/x", "http://ours/v1")


def test_what_is_said_counts_wherever_it_stands() -> None:
    for deployed in (DEPLOYED, WHOLE):
        for values in ({"seed": 7}, {"advanced": {"seed": 7}}):
            assert read_form(fill_from(deployed, values)).seed == 7
        assert read_form(fill_from(deployed, {"limit": 5})).limit_from == "given"


def test_tests_that_were_deployed_stay_until_others_are_chosen() -> None:
    deployed = {**DEPLOYED, "advanced": {"only": ["order_bias"]}}
    for values, chosen in (
        ({}, "factuality"),
        ({"only": []}, "factuality"),
        ({"only": ["add_negation"]}, "sensitivity"),
    ):
        config = read_form(fill_from(deployed, {"advanced": values}))
        assert set(config.tests.model_dump(exclude_unset=True)) - {"defaults"} == {chosen}


def test_another_suite_decides_what_suites_decide() -> None:
    config = read_form(fill_from(WHOLE, {"suite": "quickstart"}))
    assert config == read_form({"suite": "quickstart", "model": "openai/x", "model_args": OURS})


def test_another_model_keeps_arguments_of_its_provider_alone() -> None:
    assert read_form(fill_from(DEPLOYED, {"model": "openai/y"})).model_args == OURS
    assert read_form(fill_from(DEPLOYED, {"model": "mock"})).model_args == {}


def test_a_limit_that_was_deployed_stays() -> None:
    assert read_form(fill_from(WHOLE, {"seed": 4})).limit == 9
    assert read_form(fill_from(DEPLOYED, {"seed": 4})).limit == 40


def test_another_source_keeps_no_columns() -> None:
    deployed = {**DEPLOYED, "data": {"source": "a.csv", "columns": {"text": "q"}}}
    assert fill_from(deployed, {"data": "b.csv"})["data"] == {"source": "b.csv"}
    assert fill_from(deployed, {"data": "a.csv"}) == deployed


def test_a_whole_configuration_stays_as_it_is() -> None:
    whole = RunConfig(model="mock").model_dump(mode="json")
    assert fill_from(DEPLOYED, whole) is whole


@pytest.mark.parametrize("values", [5, "openai/x", ["limit"], True])
def test_what_is_no_configuration_is_refused(values: Any) -> None:
    with pytest.raises(ConfigError, match=r"config: .*expected a configuration.* Write it like this"):
        fill_from(DEPLOYED, values)


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


def test_a_run_given_a_part_is_named_and_kept_whole_and_sees_the_same_when_it_starts_again(
    deployment: Deployment,
) -> None:
    run = deployment.run(config={"limit": 1})
    assert state(run).is_completed(), run.state
    assert run.name == "quickstart on mock"
    assert run.parameters["config"] == {**QUICK, "limit": 1}
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
