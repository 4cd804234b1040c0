"""Form of a run in the Prefect UI, and its conversion into a configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated, Any

from pydantic import BeforeValidator, GetJsonSchemaHandler

from contrapose.flows.orchestration.deployed_config import complete_from_deployment, drop_empty
from contrapose.flows.orchestration.error_display import FLOW_RUN
from contrapose.flows.orchestration.options import select_tests
from contrapose.tasks.config.data_settings import merge_settings
from contrapose.tasks.config.permissions import OUTPUT, allow
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import bundled_suites, load_config, validate
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.home import home_folder
from contrapose.tasks.history.dataset import FOLDER

OPENED_FIRST = ("model_args", "max_calls", "max_tokens", "max_cost")
"""Settings that come first under `advanced`, after the tests."""
OWN = "custom"
"""The suite that holds nothing: a run of one's own settings."""


def read_form(values: Any) -> Any:
    """Convert a filled-in form into a configuration; return anything else unchanged.

    What the form leaves empty is the deployment's, and then the suite's. What is under `advanced` is merged with the
    suite; any other key is taken as it is, so that a complete configuration, too, may be sent.

    Raises:
        ConfigError: a key or value is wrong.
    """
    config = _read(complete_from_deployment(values))
    return keep_reports(config, Path.cwd()) if isinstance(config, RunConfig) else config


def keep_reports(config: RunConfig, folder: Path) -> RunConfig:
    """Return the configuration with a permanent output folder if the run works in a temporary one.

    A worker without a working folder runs each flow in a temporary one, and deletes it afterwards.
    """
    temporary = folder.name.endswith("prefect") and folder.parent == Path(gettempdir()).resolve()
    if not temporary or not os.environ.get(FLOW_RUN) or "://" in config.output or Path(config.output).is_absolute():
        return config
    output = str(home_folder().absolute() / config.output)
    allow({OUTPUT: [output, f"{output}/{FOLDER}"]})
    return config.model_copy(update={"output": output})


def to_parameter(config: RunConfig) -> Any:
    """Return a configuration as a flow parameter; Prefect stores it, and shows it to everybody who sees the run.

    Lists that a test has by default are left out, since they may hold toxic words; whoever reads it has them, too.
    """

    def drop_default_lists(settings: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
        return {
            key: drop_default_lists(value, chosen.get(key) or {}) if isinstance(value, Mapping) else value
            for key, value in settings.items()
            if key in chosen or not (isinstance(value, list) and value)
        }

    whole = config.model_dump(mode="json")
    chosen = config.tests.model_dump(mode="json", exclude_defaults=True)
    short = {**whole, "tests": drop_default_lists(whole["tests"], chosen)}
    # What a suite says in place of such a list would come back.
    return short if _read(short) == config else whole


def _read(values: Any) -> Any:
    if not isinstance(values, Mapping):
        return values
    own = {key: value for key, value in values.items() if key not in ("only", "advanced") and value != {}}
    if isinstance(own.get("data"), str):
        own["data"] = {"source": own["data"]}
    suite = own.get("suite")
    base = load_config(suite)[0].model_dump(exclude_unset=True) if suite in bundled_suites() else {}
    further = drop_empty(values.get("advanced") or {})
    if not isinstance(further, Mapping):
        raise ConfigError(
            f"{further!r}"[:120],
            expected="keys and values, such as {'seed': 7}",
            remedy="Write it like this, or leave it out.",
            where="form: advanced",
        )
    only = further.get("only", values.get("only"))
    further = {key: value for key, value in further.items() if key != "only"}
    # A limit that is filled in is the suite's no longer.
    origin = {"limit_from": "given"} if {"limit"} & {*own, *further} else {}
    whole = merge_settings({**base, **origin, **own}, further)
    return select_tests(validate(whole, where="form"), only)


class FormSchema:
    """JSON schema of the form, made from the configuration's: few fields at first sight, and no defaults."""

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return a schema without references, for pydantic."""

        def field_of_suite(name: str) -> dict[str, Any]:
            # Without the words on an empty field: here, it is the suite's.
            text = fields[name]["description"].partition("; empty:")[0].rstrip(".")
            return {**fields[name], "description": f"{text}."}

        whole = RunConfig.model_json_schema()
        fields = _simplify(whole, whole["$defs"])["properties"]
        suite = {
            "title": "Suite",
            "type": "string",
            "enum": [*bundled_suites(), OWN],
            "description": f"Fills every field that is empty here and in the deployment; {OWN}: the default settings.",
        }
        only = {
            "title": "Tests",
            "type": "array",
            "items": {"type": "string", "enum": [*registry.names("probes"), *registry.NAMED_PROBES]},
            "description": "Only these; empty: the tests of the suite.",
        }
        data = {**fields["data"]["properties"].pop("source"), "title": "Data"}
        first = {"only": only, **{name: field_of_suite(name) for name in OPENED_FIRST}}
        others = {name: field for name, field in fields.items() if name not in (*first, "suite", "model", "limit")}
        # Closed: the UI draws every field of an object, but of alternatives the chosen one alone.
        advanced = {
            "title": "Advanced",
            "anyOf": [
                {"title": "None", "type": "null"},
                {"title": "All settings", "type": "object", "properties": {**first, **others}},
            ],
            "description": "Tests, arguments of the model, budget and all other settings. Anything left empty is as "
            "deployed, or else the suite's.",
        }
        shown = {"model": field_of_suite("model"), "suite": suite, "limit": field_of_suite("limit"), "data": data}
        return {"type": "object", "title": "Run", "properties": {**shown, "advanced": advanced}}


def _simplify(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema with references resolved, without defaults and null, so the form leaves such fields empty."""
    if isinstance(schema, list):
        return [_simplify(member, definitions) for member in schema if member not in (None, {"type": "null"})]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **schema}
    kept = {
        key: {name: _simplify(field, definitions) for name, field in value.items()}
        if key == "properties"
        else _simplify(value, definitions)
        for key, value in schema.items()
        if key not in ("$ref", "$defs", "default", "required", "additionalProperties")
    }
    if kept.get("type") == "boolean":
        # The UI draws a switch for it, and sends false for each that nobody touched; a choice can stay empty.
        kept |= {"type": "string", "enum": ["yes", "no"]}
    choices = kept.pop("anyOf", [])
    if len(choices) == 1:
        return {**choices[0], **kept}
    return {**kept, "anyOf": choices} if choices else kept


Form = Annotated[RunConfig, BeforeValidator(read_form), FormSchema()]
"""A run's configuration, filled in as a form."""
