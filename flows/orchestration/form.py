"""The form that the Prefect UI draws for a run, and how what is filled in becomes a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, GetJsonSchemaHandler

from contrapose.flows.orchestration.deployed_config import as_deployed, filled
from contrapose.flows.orchestration.options import select
from contrapose.tasks.config.data_settings import merged
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import bundled_suites, load_config, validate
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ConfigError

OPENED_FIRST = ("model_args", "max_calls", "max_tokens", "max_cost")
"""Settings that come first under `advanced`, after the tests."""
OWN = "custom"
"""The suite that holds nothing: a run of one's own settings."""


def opened(values: Any) -> Any:
    """What was filled in, as a configuration; a configuration, or anything else, as it is.

    What the form leaves empty is the deployment's, and then the suite's. What is under `advanced` is merged with the
    suite; any other key is taken as it is, so that a whole configuration, too, may be given.

    Raises:
        ConfigError: a key or value is wrong.
    """
    return _read(as_deployed(values))


def as_parameter(config: RunConfig) -> Any:
    """A configuration as a flow is given it: Prefect keeps it, and shows it to everybody who sees the run.

    Lists that a test has by default are left out, since they may hold toxic words; whoever reads it has them, too.
    """
    whole = config.model_dump(mode="json")
    chosen = config.tests.model_dump(mode="json", exclude_defaults=True)
    short = {**whole, "tests": _without_default_lists(whole["tests"], chosen)}
    # What a suite says in place of such a list would come back.
    return short if _read(short) == config else whole


def _without_default_lists(settings: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_default_lists(value, chosen.get(key) or {}) if isinstance(value, Mapping) else value
        for key, value in settings.items()
        if key in chosen or not (isinstance(value, list) and value)
    }


def _read(values: Any) -> Any:
    if not isinstance(values, Mapping):
        return values
    own = {key: value for key, value in values.items() if key not in ("only", "advanced") and value != {}}
    if isinstance(own.get("data"), str):
        own["data"] = {"source": own["data"]}
    suite = own.get("suite")
    base = load_config(suite)[0].model_dump(exclude_unset=True) if suite in bundled_suites() else {}
    further = filled(values.get("advanced") or {})
    if not isinstance(further, Mapping):
        raise ConfigError(
            f"{further!r}"[:120],
            expected="keys and values",
            remedy="Write it so, or leave it out.",
            where="form: advanced",
        )
    only = further.get("only", values.get("only"))
    further = {key: value for key, value in further.items() if key != "only"}
    # A limit that is filled in is the suite's no longer.
    origin = {"limit_from": "given"} if {"limit"} & {*own, *further} else {}
    whole = merged({**base, **origin, **own}, further)
    return select(validate(whole, where="form"), only)


class FormSchema:
    """The JSON schema of the form, from that of the configuration: less at first sight, and no defaults."""

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Called by pydantic; a schema without references."""
        whole = RunConfig.model_json_schema()
        fields = _plain(whole, whole["$defs"])["properties"]
        shown = {
            "model": _as_suite(fields.pop("model")),
            "suite": _suite(),
            "limit": _as_suite(fields.pop("limit")),
            "data": {**fields["data"]["properties"].pop("source"), "title": "Data"},
            "advanced": _advanced(fields),
        }
        return {"type": "object", "title": "Run", "properties": shown}


def _suite() -> dict[str, Any]:
    return {
        "title": "Suite",
        "type": "string",
        "enum": [*bundled_suites(), OWN],
        "description": f"Decides whatever is left empty here and was not deployed; {OWN}: the default settings.",
    }


def _only() -> dict[str, Any]:
    return {
        "title": "Tests",
        "type": "array",
        "items": {"type": "string", "enum": list(registry.names("probes"))},
        "description": "Only these; empty: the tests of the suite.",
    }


def _as_suite(field: Mapping[str, Any]) -> dict[str, Any]:
    """A field without the words on what an empty one means in a configuration: here, it is the suite's."""
    said = field["description"].partition("; empty:")[0].rstrip(".")
    return {**field, "description": f"{said}."}


def _advanced(fields: Mapping[str, Any]) -> dict[str, Any]:
    """All other settings, closed: the UI draws every field of an object, but of alternatives the chosen one alone."""
    first = {"only": _only(), **{name: _as_suite(fields[name]) for name in OPENED_FIRST}}
    settings = {**first, **{name: field for name, field in fields.items() if name not in (*first, "suite")}}
    return {
        "title": "Advanced",
        "anyOf": [
            {"title": "None", "type": "null"},
            {"title": "All settings", "type": "object", "properties": settings},
        ],
        "description": "Tests, arguments of the model, budget and all other settings. Anything left empty is as "
        "deployed, or else the suite's.",
    }


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema with its references resolved, and without defaults and null: the form leaves such a field empty."""
    if isinstance(schema, list):
        return [_plain(member, definitions) for member in schema if member not in (None, {"type": "null"})]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **schema}
    kept = {
        key: {name: _plain(field, definitions) for name, field in value.items()}
        if key == "properties"
        else _plain(value, definitions)
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


Form = Annotated[RunConfig, BeforeValidator(opened), FormSchema()]
"""A run's configuration, filled in as a form."""
