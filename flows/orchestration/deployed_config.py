"""A run of a deployment keeps the deployed configuration: what a run is given is laid over it.

Prefect replaces a whole parameter with what a run is given, so that `{"limit": 10}` would be a configuration of its
own, with the default model in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from contrapose.flows.orchestration.error_display import FLOW_RUN
from contrapose.tasks.config.data_settings import merged
from contrapose.tasks.config.run_config import RunConfig, as_mapping
from contrapose.tasks.core.errors import ConfigError

ARGUMENTS = ("model_args", "reader_args")
"""Keys whose value may be written `a=1,b=x`."""
OF_SUITE = (
    "tests",
    "only",
    "data",
    "limit",
    "limit_from",
    "skip_bad_rows",
    "repeats",
    "seed",
    "system_instruction",
    "few_shot",
    "gen_kwargs",
    "embedding_model",
    "max_error_share",
    "expectations",
    "show_langtest",
)
"""Keys that a suite decides."""


def as_deployed(values: Any) -> Any:
    """What the flow run that begins here was given, laid over the `config` of its deployment; else as it is.

    A flow run that has started before was given the whole then, and keeps it: the deployment may have changed since.

    Raises:
        ConfigError: what it was given is no configuration, or its deployment is gone.
    """
    # Parameters are checked before the context of their flow run is there; one that is there is that of a parent.
    from prefect.context import FlowRunContext

    number = os.environ.get(FLOW_RUN)
    if not number or FlowRunContext.get() is not None or isinstance(values, RunConfig):
        return values
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    with get_client(sync_client=True) as client:
        flow_run = client.read_flow_run(UUID(number))
        if flow_run.deployment_id is None or flow_run.run_count:
            return values
        try:
            deployed = client.read_deployment(flow_run.deployment_id).parameters.get("config")
        except ObjectNotFound:
            raise ConfigError(
                "the deployment of this run is gone",
                expected="the deployment whose model it is to judge",
                remedy="Deploy again (contrapose deploy), and start another run.",
                where=flow_run.name,
            ) from None
        whole = laid_over(deployed, values)
        if whole != values:
            client.update_flow_run(flow_run.id, parameters={**flow_run.parameters, "config": whole})
        return whole


def filled(settings: Any) -> Any:
    """Settings without what was left empty."""
    if not isinstance(settings, Mapping):
        return settings
    kept = {key: filled(value) for key, value in settings.items()}
    # No test is no choice of tests; other lists may be empty on purpose.
    return {key: value for key, value in kept.items() if value not in (None, {}) and (key, value) != ("only", [])}


def laid_over(deployed: Any, values: Any) -> Any:
    """A configuration with everything that it does not say as it was deployed.

    What is empty says nothing. Of another suite than the deployed one, only the suite itself decides what a suite
    does; of another model, the deployed price says nothing, nor do the arguments of another provider. What names
    every key is whole, and stays as it is.

    Args:
        deployed: as a form or as a whole configuration.
        values: what a run was given.

    Raises:
        ConfigError: they are no mapping.
    """
    if not isinstance(values, Mapping | None):
        raise ConfigError(
            f"{values!r}"[:120],
            expected="a configuration: keys and values, such as {'limit': 10}",
            remedy="Write it so, or leave it out to run what was deployed.",
            where="config",
        )
    if not isinstance(deployed, Mapping) or (values and RunConfig.model_fields.keys() <= values.keys()):
        return values
    base, own = _readable(deployed), _readable(_said(values or {}))
    base = _without(base, _unfit(_flat(base), _flat(own)))
    # What is under `advanced` wins over the same key beside it.
    advanced = base.get("advanced") or {}
    deeper = {key: own.pop(key) for key in advanced if key in own}
    return merged(base, {**own, "advanced": merged(deeper, own.get("advanced") or {})} if deeper else own)


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    """What is not empty."""
    kept = {key: filled(value) if key in ("advanced", *ARGUMENTS) else value for key, value in values.items()}
    return {key: value for key, value in kept.items() if value not in (None, "", {}, [])}


def _readable(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same with arguments and data as mappings, also where they are written as a text."""
    read = {key: as_mapping(value) if key in ARGUMENTS else value for key, value in values.items()}
    if isinstance(advanced := read.get("advanced"), Mapping):
        read["advanced"] = _readable(advanced)
    return {**read, "data": {"source": read["data"]}} if isinstance(read.get("data"), str) else read


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a form, with those under `advanced` beside the others."""
    advanced = values.get("advanced")
    return {**values, **advanced} if isinstance(advanced, Mapping) else dict(values)


def _unfit(deployed: Mapping[str, Any], own: Mapping[str, Any]) -> set[str]:
    """Deployed keys that say nothing of the suite, model or data that a run was given."""
    unfit: set[str] = set()
    if "suite" in own and own["suite"] != deployed.get("suite"):
        unfit |= set(OF_SUITE)
    if "model" in own and own["model"] != deployed.get("model"):
        unfit |= {"price"}
        if _provider(own["model"]) != _provider(deployed.get("model")):
            unfit |= {"model_args"}
    if (source := _source(own)) is not None and source != _source(deployed):
        # It has columns of its own.
        unfit |= {"data"}
    # A limit that is given is nobody else's.
    return unfit | ({"limit_from"} if "limit" in own else set())


def _source(values: Mapping[str, Any]) -> object:
    data = values.get("data")
    return data.get("source") if isinstance(data, Mapping) else None


def _provider(model: object) -> str:
    return str(model).partition("/")[0]


def _without(values: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    """A configuration without some keys, which a form has under `advanced`, too."""
    kept = {key: value for key, value in values.items() if key not in keys}
    if isinstance(advanced := kept.get("advanced"), Mapping):
        kept["advanced"] = {key: value for key, value in advanced.items() if key not in keys}
    return kept
