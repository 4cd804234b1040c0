"""The form: what is left empty is the suite's, and a wrong value is refused as on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest
from prefect.utilities.callables import parameter_schema

from contrapose.flows.evaluate_model import evaluate_model
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
    assert "order_bias" in settings()["only"]["items"]["enum"]  # type: ignore[index]
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
