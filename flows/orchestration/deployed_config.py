"""Runs of a deployment: merge the parameters of a run into the deployed configuration.

Prefect replaces a complete parameter with what a run is sent, so that `{"limit": 10}` would be a configuration of its
own, with the default model in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from contrapose.flows.orchestration.error_display import FLOW_RUN
from contrapose.tasks.config.data_settings import merge_settings
from contrapose.tasks.config.run_config import RunConfig, parse_arguments
from contrapose.tasks.core.errors import ConfigError

ARGUMENTS = ("model_args", "reader_args")
"""Keys whose value may be written `a=1,b=x`."""
OF_SUITE = {
    *("tests", "only", "data", "limit", "limit_from", "skip_bad_rows", "repeats", "wordings", "seed"),
    *("system_instruction", "few_shot", "gen_kwargs", "embedding_model", "max_error_share", "expectations"),
    "show_langtest",
}
"""Keys that a suite decides."""


def complete_from_deployment(values: Any) -> Any:
    """Merge the parameters of this flow run into the `config` of its deployment; without one, return them unchanged.

    A flow run that has started before was sent all of it then, and keeps it: the deployment may have changed since.

    Raises:
        ConfigError: what it was sent is no configuration, or its deployment is gone.
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
                "the deployment of this run no longer exists",
                expected="the deployment whose model it is to judge",
                remedy="Deploy again (contrapose deploy), and start another run.",
                where=flow_run.name,
            ) from None
        whole = fill_from(deployed, values)
        if whole != values:
            client.update_flow_run(flow_run.id, parameters={**flow_run.parameters, "config": whole})
        return whole


def drop_empty(settings: Any) -> Any:
    """Return settings without empty values."""
    if not isinstance(settings, Mapping):
        return settings
    kept = {key: drop_empty(value) for key, value in settings.items()}
    # No test is no choice of tests; other lists may be empty on purpose.
    return {key: value for key, value in kept.items() if value not in (None, {}) and (key, value) != ("only", [])}


def fill_from(deployed: Any, values: Any) -> Any:
    """Complete a configuration with the deployed values of everything that it does not set.

    What is empty says nothing. Of another suite than the deployed one, only the suite itself decides what a suite
    does; of another model, the deployed price says nothing, nor do the arguments of another provider. A configuration
    that names every key stays as it is. Raises ConfigError where the values are no mapping.
    """
    if not isinstance(values, Mapping | None):
        raise ConfigError(
            f"{values!r}"[:120],
            expected="a configuration: keys and values, such as {'limit': 10}",
            remedy="Write it like this, or leave it out to use the deployed value.",
            where="config",
        )
    if not isinstance(deployed, Mapping) or (values and RunConfig.model_fields.keys() <= values.keys()):
        return values
    filled = {
        key: drop_empty(value) if key in ("advanced", *ARGUMENTS) else value for key, value in (values or {}).items()
    }
    base = _parse(deployed)
    own = _parse({key: value for key, value in filled.items() if value not in (None, "", {}, [])})
    base = _drop_unfit(base, own)
    # What is under `advanced` wins over the same key next to it.
    advanced = base.get("advanced") or {}
    deeper = {key: own.pop(key) for key in advanced if key in own}
    return merge_settings(
        base, {**own, "advanced": merge_settings(deeper, own.get("advanced") or {})} if deeper else own
    )


def _parse(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with `model_args` and data as mappings, also if they are written as text."""
    read = {key: parse_arguments(value) if key in ARGUMENTS else value for key, value in values.items()}
    if isinstance(advanced := read.get("advanced"), Mapping):
        read["advanced"] = _parse(advanced)
    return {**read, "data": {"source": read["data"]}} if isinstance(read.get("data"), str) else read


def _drop_unfit(deployed: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the deployed keys that still apply to the suite, model or data that a run names."""
    opened = [advanced if isinstance(advanced := one.get("advanced"), Mapping) else {} for one in (deployed, values)]
    base, own = {**deployed, **opened[0]}, {**values, **opened[1]}
    unfit = set(OF_SUITE) if "suite" in own and own["suite"] != base.get("suite") else set()
    if "model" in own and own["model"] != base.get("model"):
        unfit.add("price")
        if str(own["model"]).partition("/")[0] != str(base.get("model")).partition("/")[0]:
            unfit.add("model_args")
    before, source = (
        one["data"].get("source") if isinstance(one.get("data"), Mapping) else None for one in (base, own)
    )
    if source not in (None, before):
        # It has columns of its own.
        unfit.add("data")
    if "limit" in own:
        # A limit that is sent is nobody else's.
        unfit.add("limit_from")
    kept = {key: value for key, value in deployed.items() if key not in unfit}
    if opened[0] and "advanced" in kept:
        kept["advanced"] = {key: value for key, value in opened[0].items() if key not in unfit}
    return kept
